import { join } from 'node:path';
import { scoreResponses } from '../../../loadgen-node/samples/benchmarks/imagenet/imagenet-data-set.ts';
import type { ResponseScorer } from '../../../loadgen-node/submission/compliance/responses/answers-by-sight.ts';
import { auditConfigText } from '../../../loadgen-node/submission/compliance/verify/audit-settings.ts';
import type { SubmissionRound } from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { RunnableTestId } from '../../../shared/rules/rows/model-row.ts';
import { labelOf, type SimulatedRun, simulateRun } from '../simulated-run/simulated-run.ts';

const SAMPLES = 3000;

/**
 * Scores by labels of a data set of so many samples; by default the simulated model is always
 * right.
 */
export function scorerOf(
  sampleCount: number,
  label: (sample: number) => number = labelOf,
): ResponseScorer {
  const labels = Uint16Array.from({ length: sampleCount }, (_, sample) => label(sample));
  return {
    score: async (entries) => scoreResponses(entries, labels, 'top-1'),
    marks: () => [],
  };
}

/** For the runs of {@link ComplianceScene}. */
export const labelScorer = scorerOf(SAMPLES);

/** A response of the simulated model. */
export function float32(value: number): Uint8Array {
  return new Uint8Array(new Float32Array([value]).buffer);
}

type How = Partial<Omit<SimulatedRun, 'folder'>>;

/** Submission runs of a simulated system, and runs of its compliance tests. */
export class ComplianceScene {
  readonly round: SubmissionRound;
  readonly scenario: Scenario;
  readonly performance: string;
  readonly accuracy: string;
  readonly #folder: string;
  #count = 0;

  constructor(folder: string, round: SubmissionRound, scenario: Scenario) {
    this.#folder = folder;
    this.round = round;
    this.scenario = scenario;
    this.performance = join(folder, 'performance');
    this.accuracy = join(folder, 'accuracy');
  }

  /** Makes the two submission runs. */
  async submit(): Promise<void> {
    await this.#run(this.performance, { flags: { minDuration: '60s' } });
    await this.#run(this.accuracy, { flags: { mode: 'accuracy' } });
  }

  /** Makes another performance run; returns its folder. */
  submitAgain(how: How): Promise<string> {
    return this.#another('performance', how);
  }

  /** Makes a run of a test; returns its folder. */
  test(test: RunnableTestId, how: How = {}): Promise<string> {
    const auditConfig = auditConfigText(test, 'resnet50', this.scenario);
    return this.#another(test, { auditConfig, ...how });
  }

  #another(kind: string, how: How): Promise<string> {
    this.#count += 1;
    const folder = join(this.#folder, `${kind}-${this.#count}`);
    return this.#run(folder, { ...how, flags: { minDuration: '60s', ...how.flags } });
  }

  async #run(folder: string, how: How): Promise<string> {
    const { round, scenario } = this;
    const targetQps = scenario === 'Server' ? '50' : '200';
    const flags = { round, scenario, targetQps, division: 'open', ...how.flags };
    await simulateRun({
      totalSamples: SAMPLES,
      serviceNs: () => 5e6,
      ...how,
      folder,
      flags,
    });
    return folder;
  }
}
