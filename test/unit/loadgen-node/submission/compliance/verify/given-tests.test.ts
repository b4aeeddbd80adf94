import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  AccuracyLog,
  LogFile,
} from '../../../../../../loadgen-node/loadgen/logs/write/log-file.ts';
import {
  COMPLIANCE_SETTINGS,
  type ComplianceValues,
} from '../../../../../../loadgen-node/submission/compliance/compliance-settings.ts';
import { complianceTest } from '../../../../../../loadgen-node/submission/compliance/compliance-test.ts';
import type { TestVerdict } from '../../../../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { verifyTest07 } from '../../../../../../loadgen-node/submission/compliance/verify/verify-test07.ts';
import { verifyTest08 } from '../../../../../../loadgen-node/submission/compliance/verify/verify-test08.ts';
import { verifyTest09 } from '../../../../../../loadgen-node/submission/compliance/verify/verify-test09.ts';
import { resolveSettings } from '../../../../../../shared/config/resolve-settings.ts';
import type { TestId } from '../../../../../../shared/rules/rows/model-row.ts';
import { suiteFolder, tempFolder } from '../../../../../scenes/host/folders.ts';
import { ComplianceScene } from '../../../../../scenes/submission-tree/compliance-scene.ts';

interface Judged {
  /** What the official script wrote; null where it broke off. */
  readonly text: string | null;
}

const golden: {
  readonly TEST07: Readonly<Record<string, Judged & { readonly output: string }>>;
  readonly TEST08: Readonly<
    Record<
      string,
      Judged & {
        readonly accuracy: readonly (readonly number[])[];
        readonly test: readonly (readonly (number | 'NaN')[])[];
      }
    >
  >;
  readonly TEST09: Readonly<
    Record<string, Judged & { readonly model: string; readonly lengths: readonly number[] }>
  >;
} = JSON.parse(readFileSync('test/golden/benchmarks/test07-09/verdicts.json', 'utf8'));

const scene = new ComplianceScene(suiteFolder(), 'v6.1', 'Offline');
let test = '';

/** Puts responses into the accuracy log of a run. */
function respond(
  run: string,
  responses: readonly Uint8Array[],
  count: (bytes: Uint8Array) => number = ({ length }) => Math.floor(length / 4),
): void {
  const file = new LogFile(join(run, 'mlperf_log_accuracy.json'));
  const log = new AccuracyLog(file);
  for (const [i, bytes] of responses.entries()) {
    const tokens = { count: count(bytes), firstToken: null };
    log.write({ responseId: i, sampleIndex: i, bytes, tokens });
  }
  log.end();
  file.close();
}

function floats(rows: readonly (readonly (number | 'NaN')[])[]): Uint8Array[] {
  return rows.map((row) => new Uint8Array(Float32Array.from(row.map(Number)).buffer));
}

function answers(count: number, tokens: number): Uint8Array[] {
  return Array.from({ length: count }, () => new Uint8Array(4 * tokens));
}

function unmet({ checks }: TestVerdict): string[] {
  return checks.filter(({ isMet }) => !isMet).map(({ name }) => name);
}

/** NumPy adds 32-bit floats: the last of eight digits of a difference is another now and then. */
function withoutLastDigits(text: string): string {
  return text.replace(/(diff=\d+\.\d\d)\d\d%/g, '$1');
}

/** Ours are as the script's; where it has no verdict, ours fails. */
function expectOfficial(verdict: TestVerdict, file: string, { text }: Judged): void {
  const own = verdict.texts.get(file) ?? '';
  if (text === null) expect(own).toMatch(/^TEST FAIL: /m);
  else expect(withoutLastDigits(own)).toBe(withoutLastDigits(text));
  expect(verdict.isOfficialPass).toBe(text?.includes('TEST PASS') === true);
}

function accuracyOutput(text: string): string {
  const path = join(tempFolder(), 'output.txt');
  writeFileSync(path, text);
  return path;
}

beforeAll(async () => {
  await scene.submit();
  // These tests sample with the seed of TEST06.
  test = await scene.test('TEST06');
});

const gpt = (): { model: string; test: string } => ({ model: 'gpt-oss-120b', test });

// Goal: verdicts and texts of the official scripts, and that a log which shows less than it has to
// does not pass. Method: runs of the simulated engine, their accuracy logs rewritten; what the
// scripts said of the same ones.
describe('TEST07', () => {
  it.each(Object.entries(golden.TEST07))(
    'says of %s what the official script does',
    async (_, one) => {
      respond(test, answers(1, 1));
      const output = accuracyOutput(one.output);
      const verdict = await verifyTest07({ ...scene, ...gpt(), accuracyOutput: output });
      expectOfficial(verdict, 'verify_accuracy.txt', one);
    },
  );

  it('passes a score over all 990 samples only', async () => {
    const asked = { ...scene, ...gpt(), accuracyOutput: accuracyOutput("'exact_match': 61\n") };
    respond(test, answers(990, 2));
    const whole = await verifyTest07(asked);
    expect([whole.hasPassed, unmet(whole)]).toEqual([true, []]);
    expect([...whole.copies.keys()]).toEqual([
      'accuracy/mlperf_log_accuracy.json',
      'performance/run_1/mlperf_log_summary.txt',
      'performance/run_1/mlperf_log_detail.txt',
    ]);
    respond(test, answers(989, 2));
    const less = await verifyTest07(asked);
    expect([less.isOfficialPass, unmet(less)]).toEqual([true, ['coverage']]);
  });

  it('refuses an output that has a verdict in it', async () => {
    const output = accuracyOutput("'exact_match': 1\nTEST PASS\n");
    await expect(verifyTest07({ ...scene, ...gpt(), accuracyOutput: output })).rejects.toThrow(
      /^--accuracy-output .*has a verdict in it/,
    );
  });
});

describe('TEST08', () => {
  const verify = (one: (typeof golden.TEST08)[string]): Promise<TestVerdict> => {
    respond(scene.accuracy, floats(one.accuracy));
    respond(test, floats(one.test));
    return verifyTest08({ ...scene, test });
  };

  it.each(Object.entries(golden.TEST08))(
    'says of %s what the official script does',
    async (_, one) => {
      expectOfficial(await verify(one), 'verify_accuracy.txt', one);
    },
  );

  it.each([
    ['the same', []],
    ['more than 0.1 % away', ['normalized entropy']],
    ['another query', ['coverage']],
    ['no response', ['coverage']],
    ['one prediction for all', ['normalized entropy', 'whole responses']],
    ['an accuracy response without labels', ['normalized entropy']],
    // The official script takes it.
    ['no number', ['whole responses']],
  ])('%s: not met are %j', async (name, names) => {
    const one = golden.TEST08[name];
    if (one === undefined) throw new Error(name);
    const own = ['normalized entropy', 'coverage', 'whole responses'];
    expect(unmet(await verify(one)).filter((check) => own.includes(check))).toEqual(names);
  });
});

describe('TEST09', () => {
  it.each(Object.entries(golden.TEST09))(
    'says of %s what the official script does',
    async (_, one) => {
      respond(
        test,
        one.lengths.map((length) => new Uint8Array(4 * length)),
      );
      const verdict = await verifyTest09({ ...scene, test, model: one.model });
      expectOfficial(verdict, 'verify_output_len.txt', one);
    },
  );

  it('passes responses to all samples, with the tokens that were counted', async () => {
    const asked = { ...scene, test, model: 'e2e-rag-qna' };
    respond(test, answers(824, 250));
    expect(unmet(await verifyTest09(asked))).toEqual([]);
    respond(test, answers(823, 250));
    const less = await verifyTest09(asked);
    expect([less.isOfficialPass, unmet(less)]).toEqual([true, ['coverage']]);
    respond(test, answers(824, 250), () => 300);
    const more = await verifyTest09(asked);
    expect([more.isOfficialPass, unmet(more)]).toEqual([true, ['tokens']]);
    const partial = answers(824, 250);
    partial[3] = new Uint8Array(1002);
    respond(test, partial);
    expect(unmet(await verifyTest09(asked))).toEqual(['tokens']);
  });
});

describe('complianceTest of a run that is given', () => {
  const ask = (
    name: TestId,
    flags: Readonly<Record<string, string>>,
    run: Readonly<Record<string, string>>,
  ): ReturnType<typeof complianceTest> => {
    const all = { run: scene.performance, ...flags };
    const values: ComplianceValues = resolveSettings(COMPLIANCE_SETTINGS, {
      section: undefined,
      file: undefined,
      flags: all,
    }).values;
    return complianceTest(name, values, { flags: run, tell: (text) => expect.fail(text) });
  };

  it('writes the folder of a test', async () => {
    respond(test, answers(824, 250));
    const output = tempFolder();
    const ended = await ask('TEST09', { testRun: test, output }, { benchmark: 'e2e-rag-qna' });
    expect(ended.exitCode, ended.text).toBe(0);
    const folder = join(output, 'TEST09');
    expect(readFileSync(join(folder, 'verify_output_len.txt'), 'utf8')).toContain('TEST PASS\n');
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toMatch(/^# TEST09: passed\n/);
    const rehearsal = { testRun: test, output, rehearse: 'true' };
    expect((await ask('TEST09', rehearsal, { benchmark: 'e2e-rag-qna' })).exitCode).toBe(3);
    expect(readFileSync(join(folder, 'verify_output_len.txt'), 'utf8')).not.toMatch(/PASS|True/);
  });

  it.each<[TestId, Readonly<Record<string, string>>, string, RegExp]>([
    ['TEST07', {}, 'gpt-oss-120b', /^--test-run <folder> is needed: .*\(gpt-oss-120b\)/],
    ['TEST09', {}, 'e2e-rag-qna', /\(gpt-oss-120b or e2e-rag-qna\)/],
    ['TEST07', { testRun: 'run' }, 'gpt-oss-120b', /^--accuracy-output <file> is needed/],
    [
      'TEST09',
      { testRun: 'run' },
      'dlrm-v3',
      /^round v6.1 has no TEST09 for dlrm-v3; it has TEST08/,
    ],
    [
      'TEST08',
      { testRun: 'run' },
      'digits',
      /^no round has the benchmark digits; TEST08 is for dlrm-v3/,
    ],
    ['TEST08', { testRun: 'run' }, 'dlrm-v3', /^--accuracy-run <folder> is needed: TEST08/],
  ])('%s with %j of %s is refused', async (name, flags, benchmark, message) => {
    await expect(ask(name, flags, { benchmark })).rejects.toThrow(message);
  });

  it('refuses a run without the settings of the test', async () => {
    const flags = { testRun: scene.performance };
    await expect(ask('TEST09', flags, { benchmark: 'gpt-oss-120b' })).rejects.toThrow(
      /is no run of TEST09 of round v6.1: effective_accuracy_log_rng_seed is 0/,
    );
  });
});
