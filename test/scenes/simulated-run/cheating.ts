import { join } from 'node:path';
import { Mt19937 } from '../../../loadgen-node/loadgen/random/mt19937.ts';
import { auditConfigText } from '../../../loadgen-node/submission/compliance/verify/audit-settings.ts';
import {
  verifyTest04,
  verifyTest05,
} from '../../../loadgen-node/submission/compliance/verify/verify-speed-tests.ts';
import type { TestVerdict } from '../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { verifyTest01 } from '../../../loadgen-node/submission/compliance/verify/verify-test01.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import { scorerOf } from '../submission-tree/compliance-scene.ts';
import {
  acrossRuns,
  type Conduct,
  caches,
  conducted,
  honest,
  slacksOnRepeats,
  tiresOfRepeats,
  wavers,
} from './conduct.ts';
import { simulateRun } from './simulated-run.ts';

/** Samples of the data set; a performance run draws from 1,024 of them. */
export const CHEATING_SAMPLES = 1_500;

/** Tests of round v4.1. */
export const SPEED_AND_ANSWERS = ['TEST01', 'TEST04', 'TEST05'] as const;

/** One of {@link SPEED_AND_ANSWERS}. */
export type CheatingTest = (typeof SPEED_AND_ANSWERS)[number];

/**
 * Expectation of one test: the official tools' verdict, and the names of the checks that are not
 * met.
 */
type ExpectedVerdict = ReturnType<typeof pass> | ReturnType<typeof fail>;

const pass = (...unmet: readonly string[]) => ({ official: 'pass', unmet }) as const;
const fail = (...unmet: readonly string[]) => ({ official: 'FAIL', unmet }) as const;

/** A system and what the tests say of it. */
interface CheatingRow {
  readonly what: string;
  /** Made anew for each scenario: some remember what they saw. */
  readonly make: () => Conduct;
  /**
   * A system that is quick on repeats needs a higher rate in Offline, else its runs are too short.
   */
  readonly isQuick?: boolean;
  readonly Offline: Readonly<Record<CheatingTest, ExpectedVerdict>>;
  readonly Server: Readonly<Record<CheatingTest, ExpectedVerdict>>;
}

const PASS = pass();
const ALL_PASS = { TEST01: PASS, TEST04: PASS, TEST05: PASS };

/** The official script looks at rates, and the run was too short or too quick. */
const TOO_QUICK = fail('performance', 'valid run', 'valid by longhaul');
const BEYOND_CHANCE = pass('right answers');
const ONLY_WE_SEE = pass('whole responses', 'right answers');
const BOTH_SEE = fail('responses', 'whole responses', 'right answers');
const FIRST_QUERIES = pass('first queries');

/** Time of a sample that is answered wrongly at once, in ns. */
const QUICK_NS = 0.2e6;

/** Numbers from 0 to 1, always the same ones. */
function repeatable(seed: bigint): () => number {
  const generator = new Mt19937(seed);
  return () => generator.nextUint32() / 2 ** 32;
}

/**
 * Honest systems and ones that cheat on samples that they have seen before: a fresh node, and one
 * that remembers the accuracy run. Where a row of a cheating system passes, no test of these three
 * can see it, and docs/submit.md says so.
 */
export const CHEATING_ROWS: readonly CheatingRow[] = [
  { what: 'honest', make: () => honest(), Offline: ALL_PASS, Server: ALL_PASS },
  {
    what: 'honest, one answer of 500 at random',
    make: () => wavers(0.002, repeatable(7n)),
    ...{ Offline: ALL_PASS, Server: ALL_PASS },
  },
  {
    what: 'caches by payload, fresh node',
    make: () => caches(),
    isQuick: true,
    Offline: { TEST01: PASS, TEST04: TOO_QUICK, TEST05: PASS },
    Server: { TEST01: PASS, TEST04: FIRST_QUERIES, TEST05: PASS },
  },
  {
    what: 'caches by payload, node kept running',
    make: () => acrossRuns(caches()),
    isQuick: true,
    Offline: { TEST01: TOO_QUICK, TEST04: TOO_QUICK, TEST05: TOO_QUICK },
    Server: ALL_PASS,
  },
  {
    what: 'wrong and fast on repeats, fresh node',
    make: () => slacksOnRepeats({ repeatNs: QUICK_NS }),
    isQuick: true,
    Offline: { TEST01: ONLY_WE_SEE, TEST04: TOO_QUICK, TEST05: PASS },
    Server: { TEST01: ONLY_WE_SEE, TEST04: FIRST_QUERIES, TEST05: PASS },
  },
  {
    what: 'wrong and fast on repeats, node kept running',
    make: () => acrossRuns(slacksOnRepeats({ repeatNs: QUICK_NS })),
    isQuick: true,
    Offline: {
      ...{ TEST04: TOO_QUICK, TEST05: TOO_QUICK },
      TEST01: fail(...BOTH_SEE.unmet, ...TOO_QUICK.unmet),
    },
    Server: { TEST01: BOTH_SEE, TEST04: PASS, TEST05: PASS },
  },
  {
    what: 'wrong on repeats at the same speed, fresh node',
    make: () => slacksOnRepeats(),
    Offline: { ...ALL_PASS, TEST01: ONLY_WE_SEE },
    Server: { ...ALL_PASS, TEST01: ONLY_WE_SEE },
  },
  {
    what: 'wrong on repeats at the same speed, node kept running',
    make: () => acrossRuns(slacksOnRepeats()),
    Offline: { ...ALL_PASS, TEST01: BOTH_SEE },
    Server: { ...ALL_PASS, TEST01: BOTH_SEE },
  },
  {
    what: '1 % of repeats wrong, fresh node',
    make: () => slacksOnRepeats({ everyNth: 100 }),
    Offline: { ...ALL_PASS, TEST01: BEYOND_CHANCE },
    Server: { ...ALL_PASS, TEST01: BEYOND_CHANCE },
  },
  {
    what: '1 % of repeats wrong, node kept running',
    make: () => acrossRuns(slacksOnRepeats({ everyNth: 100 })),
    Offline: { ...ALL_PASS, TEST01: BEYOND_CHANCE },
    // 10 of 952 first logged responses: just above the tolerance of 1 %.
    Server: { ...ALL_PASS, TEST01: BOTH_SEE },
  },
  {
    what: 'answers anything in performance mode',
    make: () => tiresOfRepeats(),
    // The first responses of so short a run are from before it tires.
    Offline: { ...ALL_PASS, TEST01: ONLY_WE_SEE },
    Server: { ...ALL_PASS, TEST01: BOTH_SEE },
  },
];

/**
 * A system of a row and the load at which it is measured: runs of 60 s in Server, as long as it
 * takes for 3,300 samples and more in Offline.
 */
export function systemOf(row: CheatingRow, scenario: 'Offline' | 'Server'): CheatingSystem {
  const system = { conduct: row.make(), scenario };
  if (scenario === 'Server') return { ...system, qps: 50, seconds: 60 };
  return row.isQuick === true
    ? { ...system, qps: 600, seconds: 5 }
    : { ...system, qps: 200, seconds: 17 };
}

/** A system, and the load at which it is measured. */
interface CheatingSystem {
  readonly conduct: Conduct;
  readonly scenario: Scenario;
  /** Queries per second that it can do. */
  readonly qps: number;
  /** Of a run, in s; so short that TEST01 logs (nearly) every response. */
  readonly seconds: number;
}

/** Makes the runs of a system below `folder`, one after the other: the accuracy run comes first. */
export async function cheatingRuns(folder: string, system: CheatingSystem) {
  const { conduct, scenario, qps, seconds } = system;

  /** @returns Folder of the run. */
  async function run(name: 'performance' | 'accuracy' | CheatingTest): Promise<string> {
    const output = join(folder, name);
    const isTest = name !== 'performance' && name !== 'accuracy';
    await simulateRun({
      ...{ folder: output, totalSamples: CHEATING_SAMPLES, facts: () => null },
      ...conducted(conduct),
      flags: {
        ...{ scenario, round: 'v4.1', division: 'open', targetQps: String(qps) },
        ...{ minDuration: `${seconds}s`, minQueryCount: '100' },
        ...(name === 'accuracy' ? { mode: name } : {}),
      },
      ...(isTest ? { auditConfig: auditConfigText(name, 'resnet50', scenario) } : {}),
    });
    return output;
  }

  /** longhaul's verdict. */
  function verify(test: CheatingTest, output: string): Promise<TestVerdict> {
    const runs = { round: 'v4.1', performance, test: output } as const;
    if (test === 'TEST04') return verifyTest04(runs);
    if (test === 'TEST05') return verifyTest05(runs);
    const of = { responseType: 'float32', accuracyTolerancePercent: 1 } as const;
    return verifyTest01({ ...runs, ...of, accuracy, scorer: scorerOf(CHEATING_SAMPLES) });
  }

  const accuracy = await run('accuracy');
  const performance = await run('performance');
  return { accuracy, performance, test: (test: CheatingTest) => run(test), verify };
}
