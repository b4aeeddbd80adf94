import { join } from 'node:path';
import { auditConfigText } from '../../../loadgen-node/submission/compliance/verify/audit-settings.ts';
import {
  verifyTest04,
  verifyTest05,
} from '../../../loadgen-node/submission/compliance/verify/verify-speed-tests.ts';
import type { TestVerdict } from '../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { verifyTest01 } from '../../../loadgen-node/submission/compliance/verify/verify-test01.ts';
import type { RunnableTestId } from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import { scorerOf } from '../../scenes/submission-tree/compliance-scene.ts';
import { conducted } from '../nodes/simulated-conduct.ts';
import type { Conduct } from '../nodes/sut-conduct.ts';
import { simulateRun } from './simulated-run.ts';

/** Samples of the data set; a performance run draws from 1,024 of them. */
export const CHEATING_SAMPLES = 1_500;

/** Tests of round v4.1. */
export const SPEED_AND_ANSWERS = ['TEST01', 'TEST04', 'TEST05'] as const;

/** One of {@link SPEED_AND_ANSWERS}. */
export type CheatingTest = (typeof SPEED_AND_ANSWERS)[number];

/** A system, and the load at which it is measured. */
export interface CheatingSystem {
  readonly conduct: Conduct;
  readonly scenario: Scenario;
  /** Queries per second that it can do. */
  readonly qps: number;
  /** Of a run, in s; so short that TEST01 logs (nearly) every response. */
  readonly seconds: number;
}

/** Runs of a system in a folder, made one after the other: the accuracy run comes first. */
export class CheatingRuns {
  readonly performance: string;
  readonly accuracy: string;
  readonly #folder: string;
  readonly #system: CheatingSystem;

  constructor(folder: string, system: CheatingSystem) {
    this.#folder = folder;
    this.#system = system;
    this.performance = join(folder, 'performance');
    this.accuracy = join(folder, 'accuracy');
  }

  /** Makes the submission's runs. */
  async submit(): Promise<void> {
    await this.#run('accuracy');
    await this.#run('performance');
  }

  /** Makes the run of a test. @returns Its folder. */
  test(test: CheatingTest): Promise<string> {
    return this.#run(test);
  }

  /** longhaul's verdict. */
  verify(test: CheatingTest, folder: string): Promise<TestVerdict> {
    const { performance, accuracy } = this;
    const runs = { round: 'v4.1', performance, test: folder } as const;
    if (test === 'TEST04') return verifyTest04(runs);
    if (test === 'TEST05') return verifyTest05(runs);
    const of = { responseType: 'float32', accuracyTolerancePercent: 1 } as const;
    return verifyTest01({ ...runs, ...of, accuracy, scorer: scorerOf(CHEATING_SAMPLES) });
  }

  async #run(name: 'performance' | 'accuracy' | RunnableTestId): Promise<string> {
    const folder = join(this.#folder, name);
    const { conduct, scenario, qps, seconds } = this.#system;
    const isTest = name !== 'performance' && name !== 'accuracy';
    await simulateRun({
      ...{ folder, totalSamples: CHEATING_SAMPLES, facts: () => null, ...conducted(conduct) },
      flags: {
        ...{ scenario, round: 'v4.1', division: 'open', targetQps: String(qps) },
        ...{ minDuration: `${seconds}s`, minQueryCount: '100' },
        ...(name === 'accuracy' ? { mode: name } : {}),
      },
      ...(isTest ? { auditConfig: auditConfigText(name, 'resnet50', scenario) } : {}),
    });
    return folder;
  }
}
