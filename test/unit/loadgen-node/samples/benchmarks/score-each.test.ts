import { describe, expect, it } from 'vitest';
import { scoreEach } from '../../../../../loadgen-node/samples/benchmarks/score-each.ts';

// Goal: all benchmarks count responses in one way. Method: logs by hand; a response of 1 is right.
type Entry = readonly [sampleIndex: number, response: number];

function score(...entries: readonly Entry[]) {
  const seen: number[] = [];
  const log = entries.map(([sampleIndex, byte]) => ({
    sampleIndex,
    response: Uint8Array.of(byte),
  }));
  const counts = scoreEach(log, 3, ({ response }) => {
    seen.push(response[0] as number);
    return response[0] === 1;
  });
  return { ...counts, seen };
}

describe('scoreEach', () => {
  it('counts the first response of a sample and looks at all of them', () => {
    expect(score([2, 0], [0, 1], [2, 1], [0, 7])).toEqual({
      ...{ value: 0.5, correctCount: 1, sampleCount: 2 },
      seen: [0, 1, 1, 7],
    });
  });

  it('says 0 of no responses', () => {
    expect(score()).toMatchObject({ value: 0, correctCount: 0, sampleCount: 0 });
  });

  it.each([3, -1, 0.5, Number.NaN])('refuses a response for sample %s', (sampleIndex) => {
    expect(() => score([0, 1], [sampleIndex, 1])).toThrow(
      expect.objectContaining({
        code: 'ERR_DATA_SET',
        message: `a response for sample ${sampleIndex}; the data set has the samples 0 to 2`,
      }),
    );
  });
});
