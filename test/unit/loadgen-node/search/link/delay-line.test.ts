import { describe, expect, it } from 'vitest';
import { DelayLine, SEGMENT_BYTES } from '../../../../../loadgen-node/search/link/delay-line.ts';
import { LinkRate } from '../../../../../loadgen-node/search/link/link-rate.ts';
import { LossModel } from '../../../../../loadgen-node/search/link/loss-model.ts';
import { SeededRandom } from '../../../../../shared/benchmarks/digits/seeded-random.ts';

// Goal: bytes come out when a link with that delay, rate and loss would have brought them, all of them and in order.
// Method: simulated time: the line is asked at instants of the test's choice.
const MS = 1e6;

function lossless(): LossModel {
  return new LossModel(0, 0, new SeededRandom(1, 1));
}

/** Takes everything that is there at an instant. */
function takeAll(line: DelayLine, nowNs: number): number[] {
  const lengths: number[] = [];
  for (;;) {
    const bytes = line.take(nowNs);
    if (bytes === undefined) return lengths;
    lengths.push(bytes.length);
  }
}

describe('a delay line', () => {
  it('hands bytes on after the delay, not before', () => {
    const line = new DelayLine(5 * MS, new LinkRate(null), lossless());
    line.push(new Uint8Array(100), 1 * MS);
    expect(line.nextNs).toBe(6 * MS);
    expect(line.take(6 * MS - 1)).toBeUndefined();
    expect(line.take(6 * MS)).toHaveLength(100);
    expect(line.nextNs).toBe(Number.POSITIVE_INFINITY);
    expect(line.heldBytes).toBe(0);
  });

  it('sends at its rate: bytes follow one another, segment by segment', () => {
    // 8 Mbit/s: a byte per µs.
    const line = new DelayLine(2 * MS, new LinkRate(8e6), lossless());
    line.push(new Uint8Array(10_000), 0);
    line.push(new Uint8Array(500), 0);
    expect(line.nextNs).toBe(2 * MS + SEGMENT_BYTES * 1e3);
    expect(takeAll(line, 2 * MS + 3 * SEGMENT_BYTES * 1e3 + 10)).toEqual([3 * SEGMENT_BYTES]);
    expect(takeAll(line, 12 * MS)).toEqual([10_000 - 3 * SEGMENT_BYTES]);
    expect(takeAll(line, 12.499 * MS)).toEqual([]);
    expect(takeAll(line, 12.5 * MS)).toEqual([500]);
  });

  it('shares its rate with the other connections of the link', () => {
    const rate = new LinkRate(8e6);
    const one = new DelayLine(0, rate, lossless());
    const other = new DelayLine(0, rate, lossless());
    one.push(new Uint8Array(1_000), 0);
    other.push(new Uint8Array(1_000), 0);
    expect(rate.waitingBytes(0)).toBeCloseTo(2_000);
    expect(one.nextNs).toBe(1 * MS);
    expect(other.nextNs).toBe(2 * MS);
    expect(rate.waitingBytes(1.5 * MS)).toBeCloseTo(500);
    expect(rate.waitingBytes(3 * MS)).toBe(0);
  });

  it('saves up nothing while it is idle', () => {
    const rate = new LinkRate(8e6);
    const line = new DelayLine(0, rate, lossless());
    line.push(new Uint8Array(1_000), 1e9);
    line.push(new Uint8Array(1_000), 1e9);
    expect(takeAll(line, 1e9 + 1 * MS)).toEqual([1_000]);
    expect(takeAll(line, 1e9 + 2 * MS)).toEqual([1_000]);
  });

  it('holds up what follows a lost segment until it came again, and loses no byte', () => {
    const roundTripNs = 10 * MS;
    const loss = new LossModel(0.2, roundTripNs, new SeededRandom(7, 0));
    const line = new DelayLine(5 * MS, new LinkRate(null), loss);
    const sent = Uint8Array.from({ length: 40 * SEGMENT_BYTES }, (_, i) => i % 251);
    line.push(sent, 0);
    expect(loss.lostCount).toBeGreaterThan(0);
    const early = takeAll(line, 5 * MS).reduce((sum, length) => sum + length, 0);
    expect(early).toBeLessThan(sent.length);
    expect(early % SEGMENT_BYTES).toBe(0);
    const late: number[] = [];
    for (;;) {
      const { nextNs } = line;
      const bytes = line.take(nextNs);
      if (bytes === undefined) break;
      expect(nextNs).toBeGreaterThanOrEqual(5 * MS + roundTripNs);
      late.push(...bytes);
    }
    expect(late).toEqual([...sent.subarray(early)]);
  });
});

describe('the loss model', () => {
  it('loses the share that was asked for', () => {
    const loss = new LossModel(0.01, MS, new SeededRandom(3, 0));
    for (let i = 0; i < 2_000; i += 1) loss.losses(50);
    expect(loss.lostCount).toBeGreaterThan(900);
    expect(loss.lostCount).toBeLessThan(1_100);
  });

  it('loses the same segments again with the same seed', () => {
    const lossesOf = (): unknown => new LossModel(0.3, MS, new SeededRandom(5, 0)).losses(100);
    expect(lossesOf()).toEqual(lossesOf());
  });

  it.each([
    ['alone: a timeout', 1, [0], 10 * MS + 200 * MS],
    ['with others behind it: a fast retransmission', 1_000, [...Array(997).keys()], 10 * MS],
    ['among the last three: a probe', 1_000, [997, 998, 999], 20 * MS + 10 * MS],
  ])('delays a segment %s', (_case, count, places, lateNs) => {
    const loss = new LossModel(0.5, 10 * MS, new SeededRandom(11, 0));
    const seen = Array.from({ length: 20 }, () => loss.losses(count)).flat();
    const there = seen.filter(({ segment }) => (places as number[]).includes(segment));
    expect(there.length).toBeGreaterThan(0);
    expect(new Set(there.map((one) => one.lateNs))).toEqual(new Set([lateNs]));
  });
});
