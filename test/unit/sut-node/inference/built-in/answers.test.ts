import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  serviceTimes,
  tokenAnswers,
} from '../../../../../sut-node/inference/built-in/delay-model.ts';
import type { TokenCounts } from '../../../../../sut-node/settings/delay-settings.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: the times and tokens that the delay model answers with are those that were requested, the
// same in every node; a list that cannot be used is refused by name and line. Method: sequences,
// and files good and bad.

const take = <T>(count: number, next: () => T): T[] => Array.from({ length: count }, next);

async function listFile(content: string): Promise<string> {
  const file = join(tempFolder(), 'list.txt');
  await writeFile(file, content);
  return file;
}

describe('service times', () => {
  it('of a fixed time are that', async () => {
    expect(take(3, await serviceTimes({ kind: 'fixed', ns: 7 }, 0))).toEqual([7, 7, 7]);
  });

  it('of an exponential have its mean and deviation, are whole, and are the same for the same seed', async () => {
    const meanNs = 10_000_000;
    const draw = async (seed: number) =>
      take(20_000, await serviceTimes({ kind: 'exponential', meanNs }, seed));
    const [times, again, other] = await Promise.all([draw(3), draw(3), draw(4)]);
    expect(again).toEqual(times);
    expect(other).not.toEqual(times);
    expect(times.every((ns) => Number.isInteger(ns) && ns >= 0)).toBe(true);
    const mean = times.reduce((a, b) => a + b) / times.length;
    const variance = times.reduce((sum, ns) => sum + (ns - mean) ** 2, 0) / times.length;
    // The draws are fixed, so none of this flickers: 0.05 is seven standard errors of the mean,
    // 0.005 two of the share.
    expect(mean / meanNs).toBeCloseTo(1, 1);
    expect(Math.sqrt(variance) / meanNs).toBeCloseTo(1, 1);
    const above = times.filter((ns) => ns > 2 * meanNs).length / times.length;
    expect(above).toBeCloseTo(Math.exp(-2), 2);
  });

  it('of a list come in its order and again from the start', async () => {
    const file = await listFile('10ms\n\n 250us \r\n1s');
    const next = await serviceTimes({ kind: 'list', file }, 0);
    expect(take(5, next)).toEqual([10e6, 250e3, 1e9, 10e6, 250e3]);
  });

  it.each([
    ['a line that is no time', '10ms\nfast\n', /list .*list\.txt, line 2: "fast" should be a time/],
    ['a time without a unit', '10\n', /line 1: "10" should be/],
    ['more than a day', '25h\n', /line 1: "25h" should be/],
    ['nothing', '\n\n', /is empty; it needs a line with a time such as 10ms/],
  ])('are refused for a list with %s', async (_case, content, message) => {
    const file = await listFile(content);
    await expect(serviceTimes({ kind: 'list', file }, 0)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_MODEL', message: expect.stringMatching(message) }),
    );
  });

  it('are refused for a list that is not there', async () => {
    const file = join(tempFolder(), 'list.txt');
    await expect(serviceTimes({ kind: 'list', file }, 0)).rejects.toMatchObject({
      code: 'ERR_MODEL',
    });
  });
});

describe('answers with tokens', () => {
  const answers = (counts: TokenCounts, type: 'int64' | 'int32' = 'int64', seed = 0) =>
    tokenAnswers({ counts, seed, firstTokenNs: 100, tokenNs: 10, type });

  it('come after the time of the first and of each later token', async () => {
    const next = await answers({ kind: 'fixed', count: 5 });
    expect(next()).toMatchObject({ atNs: 140, tokens: { count: 5, firstAtNs: 100 } });
  });

  it('hold the ids of all tokens, little-endian', async () => {
    const { payload } = (await answers({ kind: 'fixed', count: 3 }))();
    const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
    expect([0, 8, 16].map((at) => view.getBigInt64(at, true))).toEqual([1000n, 1001n, 1002n]);
    const short = (await answers({ kind: 'fixed', count: 2 }, 'int32'))().payload;
    expect(Buffer.from(short).toString('hex')).toBe('e8030000e9030000');
  });

  it('have as many ids as tokens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 50 }),
        fc.constantFrom('int64' as const, 'int32' as const),
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        async (min, more, type, seed) => {
          const next = await answers({ kind: 'uniform', min, max: min + more }, type, seed);
          for (const { payload, tokens } of take(5, next)) {
            const { count = 0, bytes = 0 } = tokens ?? {};
            expect(count).toBeGreaterThanOrEqual(min);
            expect(count).toBeLessThanOrEqual(min + more);
            expect(bytes).toBe(type === 'int64' ? 8 : 4);
            expect(payload.length).toBe(count * bytes);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('take their counts from a list', async () => {
    const file = await listFile('2\n30\n');
    const next = await answers({ kind: 'list', file });
    expect(take(3, next).map(({ tokens }) => tokens?.count)).toEqual([2, 30, 2]);
  });

  it.each(['0', '1.5', '-3', '1048577', 'ten'])('refuse a list with %s', async (line) => {
    const file = await listFile(`2\n${line}`);
    await expect(answers({ kind: 'list', file })).rejects.toThrow(/line 2: .* number of tokens/);
  });
});
