import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  AccuracyLog,
  LogFile,
} from '../../../../../../loadgen-node/loadgen/logs/write/log-file.ts';
import type { TestVerdict } from '../../../../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import {
  type Test06,
  tokenTypeOfRound,
  verifyTest06,
} from '../../../../../../loadgen-node/submission/compliance/verify/verify-test06.ts';
import { suiteFolder } from '../../../../../scenes/host/folders.ts';
import { ComplianceScene } from '../../../../../scenes/submission-tree/compliance-scene.ts';

const folder = suiteFolder();
const server = new ComplianceScene(join(folder, 'server'), 'v4.1', 'Server');
const offline = new ComplianceScene(join(folder, 'offline'), 'v5.0', 'Offline');
const runs = new Map<ComplianceScene, string>();

interface Response {
  readonly tokens: readonly number[];
  readonly first?: readonly number[];
  readonly count?: number;
}

function bytesOf(tokens: readonly number[], type: Test06['tokenType']): Uint8Array {
  const array = type === 'int64' ? BigInt64Array.from(tokens.map(BigInt)) : Int32Array.from(tokens);
  return new Uint8Array(array.buffer);
}

/** Puts responses of tokens into the accuracy log of a real test run, and verifies it. */
function verify(
  scene: ComplianceScene,
  responses: readonly Response[],
  how: Partial<Test06> = {},
): Promise<TestVerdict> {
  const test = runs.get(scene) as string;
  const tokenType = how.tokenType ?? tokenTypeOfRound(scene.round);
  const file = new LogFile(join(test, 'mlperf_log_accuracy.json'));
  const log = new AccuracyLog(file);
  for (const [i, { tokens, first, count }] of responses.entries()) {
    log.write({
      responseId: i,
      sampleIndex: i,
      bytes: bytesOf(tokens, tokenType),
      tokens: {
        count: count ?? tokens.length,
        firstToken: first === undefined ? null : bytesOf(first, tokenType),
      },
    });
  }
  log.end();
  file.close();
  return verifyTest06({ ...scene, test, tokenType, endToken: 2, ...how });
}

function unmet({ checks }: TestVerdict): string[] {
  return checks.filter(({ isMet }) => !isMet).map(({ name }) => name);
}

// Goal: verdicts and texts of the official script, and that a log which shows nothing does not
// pass. Method: real test runs of the simulated engine, their accuracy logs rewritten with tokens.
describe('TEST06', () => {
  beforeAll(async () => {
    for (const scene of [server, offline]) {
      await scene.submit();
      runs.set(scene, await scene.test('TEST06'));
    }
  });

  it('passes responses that are what was streamed and counted', async () => {
    const verdict = await verify(server, [
      { tokens: [11, 12, 2], first: [11] },
      { tokens: [13, 14], first: [13] },
    ]);
    expect(unmet(verdict)).toEqual([]);
    expect(verdict.texts.get('verify_accuracy.txt')).toBe(
      'First token check pass: True\nEOS check pass: True\nSample length check pass: True\nTEST06 verification complete\n',
    );
    expect([...verdict.copies.keys()]).toEqual(['accuracy/mlperf_log_accuracy.json']);
  });

  it('looks at no first token in Offline, and reads int32 in newer rounds', async () => {
    const verdict = await verify(offline, [{ tokens: [11, 12, 2] }]);
    expect(unmet(verdict)).toEqual([]);
    expect(verdict.texts.get('verify_accuracy.txt')).toContain('First token check pass: Skipped\n');
    const coverage = verdict.checks.find(({ name }) => name === 'coverage');
    expect(coverage?.text).toBe('1 responses were logged');
    expect(verdict.notes).toContainEqual(expect.stringMatching(/^first token: skipped/));
    expect((await verify(server, [{ tokens: [11, 2], first: [11] }])).notes).toHaveLength(1);
  });

  it.each<[string, Response, string, string]>([
    [
      'another first token',
      { tokens: [11, 12], first: [9] },
      'first token',
      'First token check pass: False',
    ],
    ['no first token', { tokens: [11, 12] }, 'first token', 'First token check pass: False'],
    ['two end tokens', { tokens: [11, 2, 2], first: [11] }, 'end token', 'EOS check pass: False'],
    [
      'another count',
      { tokens: [11, 12], first: [11], count: 3 },
      'length',
      'Sample length check pass: False',
    ],
  ])('fails %s', async (_, response, check, line) => {
    const verdict = await verify(server, [{ tokens: [1, 2], first: [1] }, response]);
    expect(unmet(verdict)).toEqual([check]);
    const text = verdict.texts.get('verify_accuracy.txt');
    expect(text).toContain(`${line}\n`);
    expect(text).toMatch(/TEST06 verification failed\n$/);
  });

  it.each(['good', 'only-eos-eos', 'two-eos', 'first-token-differs', 'count-differs'])(
    'writes what the official script printed of %s',
    async (name) => {
      const golden = join('test/golden/benchmarks/test06', name);
      const test = runs.get(server) as string;
      copyFileSync(
        join(golden, 'mlperf_log_accuracy.json'),
        join(test, 'mlperf_log_accuracy.json'),
      );
      const verdict = await verifyTest06({ ...server, test, tokenType: 'int32', endToken: 2 });
      const expected = readFileSync(join(golden, 'expected-server.txt'), 'utf8');
      expect(verdict.texts.get('verify_accuracy.txt')?.trim()).toBe(expected.trim());
      expect(verdict.isOfficialPass).toBe(expected.includes('verification complete'));
    },
  );

  it('lets a text of two end tokens pass, as the official script does', async () => {
    expect(unmet(await verify(server, [{ tokens: [2, 2], first: [2] }]))).toEqual([]);
  });

  it('fails a log without responses or first tokens, which the official script passes', async () => {
    const empty = await verify(server, []);
    expect([empty.isOfficialPass, unmet(empty)]).toEqual([true, ['coverage']]);
    const silent = await verify(server, [{ tokens: [4, 5], first: [] }]);
    expect([silent.isOfficialPass, unmet(silent)]).toEqual([true, ['coverage']]);
  });

  it('fails tokens read with the wrong type', async () => {
    const verdict = await verify(offline, [{ tokens: [11, 12, 13] }], { tokenType: 'int32' });
    expect(unmet(verdict)).toEqual([]);
    const test = runs.get(offline) as string;
    const wrong = await verifyTest06({ ...offline, test, tokenType: 'int64', endToken: 2 });
    expect(unmet(wrong)).toEqual(['end token', 'length']);
  });
});
