import { join } from 'node:path';
import { scoreResponses } from '../../../loadgen-node/samples/benchmarks/imagenet/imagenet-data-set.ts';
import type { ResponseScorer } from '../../../loadgen-node/submission/compliance/responses/answers-by-sight.ts';
import { auditConfigText } from '../../../loadgen-node/submission/compliance/verify/audit-settings.ts';
import type {
  RunnableTestId,
  SubmissionRound,
} from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import { labelOf, type SimulatedRun, simulateRun } from '../runs/simulated-run.ts';

const SAMPLES = 3000;

/** Scores as if {@link labelOf} was always right for a data set of so many samples. */
export function labelScorerOf(sampleCount: number): ResponseScorer {
  const labels = Uint16Array.from({ length: sampleCount }, (_, sample) => labelOf(sample));
  return {
    score: async (entries) => scoreResponses(entries, labels, 'top-1'),
    marks: () => [],
  };
}

/** For the runs of {@link ComplianceScene}. */
export const labelScorer: ResponseScorer = labelScorerOf(SAMPLES);

/** A response of the simulated model. */
export function float32(value: number): Uint8Array {
  return new Uint8Array(new Float32Array([value]).buffer);
}

/** Submission runs of a simulated system, and runs of its compliance tests. */
export class ComplianceScene {
  readonly round: SubmissionRound;
  readonly scenario: Scenario;
  readonly performance: string;
  readonly accuracy: string;
  readonly #folder: string;
  readonly #flags: Readonly<Record<string, string>>;
  #count = 0;

  constructor(folder: string, round: SubmissionRound, scenario: Scenario) {
    this.#folder = folder;
    this.round = round;
    this.scenario = scenario;
    this.performance = join(folder, 'performance');
    this.accuracy = join(folder, 'accuracy');
    this.#flags = {
      round,
      scenario,
      targetQps: scenario === 'Server' ? '50' : '200',
      division: 'open',
    };
  }

  /** Makes the two submission runs. */
  async submit(): Promise<void> {
    await this.#run(this.performance, { minDuration: '60s' });
    await this.#run(this.accuracy, { mode: 'accuracy' });
  }

  /** Makes another performance run; returns its folder. */
  async submitAgain(how: Partial<Omit<SimulatedRun, 'folder'>>): Promise<string> {
    this.#count += 1;
    const folder = join(this.#folder, `performance-${this.#count}`);
    await this.#run(folder, { minDuration: '60s', ...how.flags }, how);
    return folder;
  }

  /** Makes a run of a test; returns its folder. */
  async test(
    test: RunnableTestId,
    how: Partial<Omit<SimulatedRun, 'folder'>> = {},
  ): Promise<string> {
    this.#count += 1;
    const folder = join(this.#folder, `${test}-${this.#count}`);
    const auditConfig = auditConfigText(test, 'resnet50', this.scenario);
    await this.#run(folder, { minDuration: '60s', ...how.flags }, { auditConfig, ...how });
    return folder;
  }

  async #run(
    folder: string,
    flags: Readonly<Record<string, string>>,
    how: Partial<SimulatedRun> = {},
  ): Promise<void> {
    await simulateRun({
      totalSamples: SAMPLES,
      serviceNs: () => 5e6,
      ...how,
      folder,
      flags: { ...this.#flags, ...flags },
    });
  }
}
