import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { scoreResponses } from '../../../../../loadgen-node/samples/benchmarks/imagenet/score-responses.ts';
import { auditConfigText } from '../../../../../loadgen-node/submission/compliance/verify/audit-settings.ts';
import { verifyTest04 } from '../../../../../loadgen-node/submission/compliance/verify/verify-speed-tests.ts';
import type { TestVerdict } from '../../../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { verifyTest01 } from '../../../../../loadgen-node/submission/compliance/verify/verify-test01.ts';
import type { Scenario } from '../../../../../shared/domain/scenario.ts';
import { conducted } from '../../../../support/nodes/simulated-conduct.ts';
import {
  type Conduct,
  caches,
  honest,
  tiresOfRepeats,
} from '../../../../support/nodes/sut-conduct.ts';
import { suiteFolder } from '../../../../support/process/suite-folder.ts';
import { labelOf, simulateRun } from '../../../../support/runs/simulated-run.ts';

// Goal: TEST04 fails a SUT that keeps answers, TEST01 one that answers otherwise in performance mode, and an honest
// one passes both. Method: whole runs of round v4.1, 120 s each, under simulated time.
const TOTAL = 5_000;

const LABELS = Uint16Array.from({ length: TOTAL }, (_, index) => labelOf(index));

const SCORER = {
  score: async (entries: Parameters<typeof scoreResponses>[0]) =>
    scoreResponses(entries, LABELS, 'top-1'),
  marks: () => [],
};

/** Folders of the submission's runs and of both tests. */
interface Runs {
  readonly performance: string;
  readonly accuracy: string;
  readonly TEST01: string;
  readonly TEST04: string;
}

/** Makes runs of one system; their flags are those of the submission. */
function runner(conduct: Conduct, scenario: Scenario, minDuration = '120s') {
  const root = suiteFolder();
  const targetQps = scenario === 'Server' ? '20' : '200';
  const flags = { scenario, round: 'v4.1', targetQps, minDuration };
  return async (name: keyof Runs): Promise<string> => {
    const folder = join(root, name);
    const audit = name === 'TEST01' || name === 'TEST04' ? name : undefined;
    await simulateRun({
      ...{ folder, totalSamples: TOTAL, facts: () => null, ...conducted(conduct) },
      flags: name === 'accuracy' ? { ...flags, mode: name } : flags,
      ...(audit === undefined ? {} : { auditConfig: auditConfigText(audit, 'resnet50', scenario) }),
    });
    return folder;
  };
}

async function runAll(conduct: Conduct, scenario: Scenario): Promise<Runs> {
  const run = runner(conduct, scenario);
  return {
    performance: await run('performance'),
    accuracy: await run('accuracy'),
    TEST01: await run('TEST01'),
    TEST04: await run('TEST04'),
  };
}

function test01({ performance, accuracy, TEST01 }: Runs): Promise<TestVerdict> {
  return verifyTest01({
    ...{ round: 'v4.1', performance, accuracy, test: TEST01, scorer: SCORER },
    ...{ responseType: 'float32', accuracyTolerancePercent: 1 },
  });
}

function test04({
  performance,
  TEST04,
}: Pick<Runs, 'performance' | 'TEST04'>): Promise<TestVerdict> {
  return verifyTest04({ round: 'v4.1', performance, test: TEST04 });
}

const failedChecks = ({ checks }: TestVerdict): string[] =>
  checks.filter(({ isMet }) => !isMet).map(({ name }) => name);

describe.each(['Offline', 'Server'] as const)('an honest SUT in %s', (scenario) => {
  let runs: Runs;
  beforeAll(async () => {
    runs = await runAll(honest(), scenario);
  });

  it('passes TEST01', async () => {
    expect(failedChecks(await test01(runs))).toEqual([]);
  });

  it('passes TEST04', async () => {
    expect(failedChecks(await test04(runs))).toEqual([]);
  });
});

describe('a SUT that keeps answers', () => {
  let runs: Runs;
  beforeAll(async () => {
    runs = await runAll(caches(), 'Offline');
  });

  it('fails TEST04, by the official comparison', async () => {
    const verdict = await test04(runs);
    expect(verdict).toMatchObject({ hasPassed: false, isOfficialPass: false });
    expect(verdict.texts.get('verify_performance.txt')).toContain('TEST FAIL');
  });

  it.each(['120s', '600s'])(
    'fails TEST04 in Server by the first query for each sample, after a submission run of %s in which most came from the cache',
    async (minDuration) => {
      const run = runner(caches(), 'Server', minDuration);
      const runs = { performance: await run('performance'), TEST04: await run('TEST04') };
      const verdict = await test04(runs);
      expect(failedChecks(verdict)).toEqual(['first queries']);
    },
  );

  it('is found by no comparison of answers, which are right', async () => {
    const { checks } = await test01(runs);
    expect(checks.find(({ name }) => name === 'responses')?.isMet).toBe(true);
  });
});

describe.each(['Offline', 'Server'] as const)(
  'a SUT that answers anything in performance mode, in %s',
  (scenario) => {
    let runs: Runs;
    beforeAll(async () => {
      runs = await runAll(tiresOfRepeats(), scenario);
    });

    it('fails TEST01, and the fallback to accuracies does not save it', async () => {
      const verdict = await test01(runs);
      expect(verdict).toMatchObject({ hasPassed: false, isOfficialPass: false });
      expect(failedChecks(verdict)).toEqual(['responses', 'whole responses', 'right answers']);
      expect(verdict.texts.get('verify_accuracy.txt')).toContain('TEST FAIL');
    });

    it('passes TEST04, which looks at speed alone', async () => {
      expect((await test04(runs)).hasPassed).toBe(true);
    });
  },
);
