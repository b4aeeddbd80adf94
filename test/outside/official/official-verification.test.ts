import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { SubmissionRound } from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { RunnableTestId } from '../../../shared/rules/rows/model-row.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { type Ended, longhaul } from '../../scenes/host/processes.ts';
import { labelOf, type SimulatedRun } from '../../scenes/simulated-run/simulated-run.ts';
import { ComplianceScene, float32 } from '../../scenes/submission-tree/compliance-scene.ts';
import { describeOfficial, OfficialTools } from './official-tools.ts';

// Goal: `longhaul compliance` says of a run what the official script of the round says, and leaves
// the same files; an honest system passes both. Method: simulated runs of a system that keeps the
// rules and of systems that each break one; the command and the script verify them.

/** A system of which the tests run. */
interface System {
  readonly what: string;
  readonly how: Partial<Omit<SimulatedRun, 'folder'>>;
  readonly isHonest?: boolean;
}

const SYSTEMS: readonly System[] = [
  { what: 'an honest one', how: {}, isHonest: true },
  {
    what: 'one that answers otherwise',
    how: { responseOf: (index) => float32((labelOf(index) + 1) % 1000) },
  },
  { what: 'one that is faster on repeats', how: { serviceNs: () => 1e6 } },
  { what: 'one that is slower', how: { serviceNs: () => 9e6 } },
];

const ROUNDS: readonly {
  readonly round: SubmissionRound;
  readonly scenario: Scenario;
  readonly tag: string;
  readonly folder: string;
  readonly tests: readonly RunnableTestId[];
}[] = [
  {
    ...{ round: 'v4.1', scenario: 'Offline', tag: 'v4.1', folder: 'compliance/nvidia' },
    tests: ['TEST01', 'TEST04', 'TEST05'],
  },
  {
    ...{ round: 'v4.1', scenario: 'Server', tag: 'v4.1', folder: 'compliance/nvidia' },
    tests: ['TEST01', 'TEST04', 'TEST05'],
  },
  {
    ...{ round: 'v5.0', scenario: 'Offline', tag: 'v5.0', folder: 'compliance/nvidia' },
    tests: ['TEST01', 'TEST04'],
  },
  {
    ...{ round: 'v6.1', scenario: 'Offline', tag: 'HEAD', folder: 'compliance' },
    tests: ['TEST01', 'TEST04'],
  },
];

/** Files that both write for the same verdict, the second for TEST01; README.md is ours alone. */
const TEXTS = ['verify_performance.txt', 'verify_accuracy.txt'];

describeOfficial.each(ROUNDS)('the scripts of $tag, $scenario', (one) => {
  const { round, scenario, tag, folder, tests } = one;
  let tools: OfficialTools;
  let scene: ComplianceScene;
  let results: string;

  beforeAll(async () => {
    const suite = suiteFolder();
    const files = [folder, 'tools/submission/log_parser.py'];
    tools = new OfficialTools(tag, join(suite, 'tools'), files);
    scene = new ComplianceScene(join(suite, 'runs'), round, scenario);
    await scene.submit();
    results = join(suite, 'results');
    cpSync(scene.performance, join(results, 'performance', 'run_1'), { recursive: true });
    cpSync(scene.accuracy, join(results, 'accuracy'), { recursive: true });
  });

  const cases = tests.flatMap((test) =>
    SYSTEMS.map((system) => [test, system.what, system] as const),
  );
  it.each(cases)('%s of %s', async (test, _, { how, isHonest }) => {
    const run = await scene.test(test, how);
    const output = suiteFolder();
    const [theirs, ours] = [join(output, 'theirs'), join(output, 'ours')];
    verifyOfficially(test, { run, results, output: theirs });
    const { code, stdout, stderr } = await verify(test, scene, run, ours);
    expect([0, 3], stderr).toContain(code);

    for (const name of test === 'TEST01' ? TEXTS : TEXTS.slice(0, 1)) {
      const their = textOf(join(theirs, test, name));
      const our = textOf(join(ours, test, name));
      const passes = expectSameVerdict(our, their);
      if (!passes) expect(code).toBe(3);
      // The newest script mixes lines of its log reader in.
      if (passes && tag !== 'HEAD') expect(our).toBe(their);
      if (isHonest === true) expect([name, passes, code], stdout).toEqual([name, true, 0]);
    }
  });

  function verifyOfficially(
    test: RunnableTestId,
    at: Record<'run' | 'results' | 'output', string>,
  ) {
    const type = test === 'TEST01' ? ['--dtype', 'float32'] : [];
    const args = ['-r', at.results, '-c', at.run, '-o', at.output, ...type];
    const script = `${folder}/${test}/run_verification.py`;
    const { code, output } = tools.run(script, args, `${at.output}-cwd`);
    // It ends with 0 whatever it finds; another code would be a script that broke off.
    expect(code, output).toBe(0);
    expect(output).toContain(`${test} verification complete`);
  }
});

/**
 * A failure's reason goes to stderr in some rounds, so that only the verdicts are compared.
 * @returns The verdict.
 */
function expectSameVerdict(our: string, their: string): boolean {
  const passes = their.includes('TEST PASS');
  expect(our.includes('TEST PASS'), our).toBe(passes);
  return passes;
}

/** Empty where the script left no file, as where it breaks off. */
function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** The command, of runs that are there. */
function verify(
  test: RunnableTestId,
  { performance, accuracy }: ComplianceScene,
  run: string,
  output: string,
): Promise<Ended> {
  const runs = ['--run', performance, '--test-run', run, '--output', output];
  const more = test === 'TEST01' ? ['--accuracy-run', accuracy, '--response-type', 'float32'] : [];
  return longhaul(['compliance', test, '--benchmark', 'resnet50', ...runs, ...more]);
}
