import { describe, expect, it } from 'vitest';
import {
  type AnsweringParts,
  lateSamplesOf,
} from '../../../../../loadgen-node/loadgen/results/standstill.ts';

// Goal: late samples that come of a stretch without answers are told from those of a load, of
// batches, and of answers that take long by themselves. Method: times by hand, 100 queries a
// second.

const EVERY_NS = 10e6;

/**
 * Looks at a run whose query `i` is answered at `doneNs(i, issued)`. @param boundNs Above it a
 * query is late.
 */
function lookAt(
  queries: number,
  boundNs: number,
  doneNs: (query: number, issuedNs: number) => number,
  lagNs = (_query: number) => 0,
  parts?: AnsweringParts,
) {
  const issuedNs = Float64Array.from({ length: queries }, (_, i) => i * EVERY_NS + lagNs(i));
  const latenciesNs = issuedNs.map((ns, i) => doneNs(i, ns) - ns);
  const times = {
    ...{ issuedNs, latenciesNs },
    lateIn: (query: number) =>
      (latenciesNs[query] as number) + lagNs(query) > boundNs ? 'all' : null,
    lagsNs: issuedNs.map((_, i) => lagNs(i)),
  };
  return lateSamplesOf(times, parts);
}

/** A SUT that needs 1 ms, and answers nothing from each of these seconds on, for 2 s. */
const stopped =
  (...seconds: readonly number[]) =>
  (_query: number, issuedNs: number): number => {
    const begin = seconds.find(
      (second) => issuedNs >= second * 1e9 && issuedNs < (second + 2) * 1e9,
    );
    return begin === undefined ? issuedNs + 1e6 : (begin + 2) * 1e9;
  };

describe('late samples', () => {
  it('of one stretch without answers are told with when and how long', () => {
    const { standstill } = lookAt(1_000, 500e6, stopped(3));
    expect(standstill).toMatchObject({ count: 1, completedSamples: 0, lateSamples: 150 });
    // With the first query that waited, 9 ms behind the answer before.
    expect(standstill?.fromNs).toBe(3e9);
    expect(standstill?.longestNs).toBe(2e9);
  });

  it('waited for answers, not for queries: a pause of the load is in no standstill', () => {
    // The load pauses for 5 s before the SUT stands still for 2 s.
    const pauseNs = (query: number): number => (query < 300 ? 0 : 5e9);
    const issuedNs = Float64Array.from({ length: 1_000 }, (_, i) => i * EVERY_NS + pauseNs(i));
    const latenciesNs = issuedNs.map((ns, i) => stopped(8)(i, ns) - ns);
    const lateIn = (query: number) => ((latenciesNs[query] as number) > 500e6 ? 'all' : null);
    const times = { issuedNs, latenciesNs, lateIn, lagsNs: new Float64Array(1_000) };
    expect(lateSamplesOf(times).standstill).toMatchObject({
      ...{ count: 1, fromNs: 8e9, longestNs: 2e9, waitingSamples: 200, lateSamples: 150 },
    });
  });

  it('began with the answer before where a query waited already', () => {
    // Query 250 waits all the time; the last of the others is answered at 2.991 s.
    const still = stopped(3);
    const doneNs = (query: number, ns: number): number => (query === 250 ? 5e9 : still(query, ns));
    expect(lookAt(1_000, 500e6, doneNs).standstill?.fromNs).toBe(2.991e9);
  });

  it('of several stretches are counted together', () => {
    const { standstill } = lookAt(1_000, 500e6, stopped(1, 6));
    expect(standstill).toMatchObject({ count: 2, lateSamples: 300 });
    expect(standstill?.totalNs).toBeCloseTo(4e9, -8);
  });

  it('of one queue are behind others, and of no standstill', () => {
    let freeNs = 0;
    const oneByOne = (query: number, issuedNs: number): number => {
      freeNs = Math.max(freeNs, issuedNs) + (query % 100 < 20 ? 12e6 : 9e6);
      return freeNs;
    };
    expect(lookAt(1_000, 40e6, oneByOne)).toEqual({ standstill: null, areBehindOthers: true });
  });

  it('of a SUT that takes long for some of them are behind no others', () => {
    const each100th = (query: number, issuedNs: number): number =>
      issuedNs + (query % 50 === 0 ? 100e6 : 1e6);
    expect(lookAt(1_000, 30e6, each100th)).toEqual({ standstill: null, areBehindOthers: false });
  });

  it('of batches are of no standstill', () => {
    // 32 at a time, all answered 200 ms after the last of them came.
    const batches = (query: number): number => Math.ceil((query + 1) / 32) * 32 * EVERY_NS + 200e6;
    expect(lookAt(1_000, 300e6, batches).standstill).toBeNull();
  });

  it('are of LoadGen where it stood still itself', () => {
    const lag = (query: number): number =>
      query >= 300 && query < 500 ? (500 - query) * EVERY_NS : 0;
    expect(lookAt(1_000, 500e6, (_query, issuedNs) => issuedNs + 1e6, lag).standstill).toBeNull();
  });

  it('of one part that answers nothing are told with its name, where the others go on', () => {
    // Every second query goes to node b, until three of them wait there.
    const partOf = (query: number): number =>
      query % 2 === 1 && (query < 306 || query >= 500) ? 1 : 0;
    const doneNs = (query: number, issuedNs: number): number =>
      partOf(query) === 1 && query >= 300 && query < 306 ? 5e9 : issuedNs + 1e6;
    const parts = { names: ['node a', 'node b'], partOf };
    const { standstill } = lookAt(1_000, 500e6, doneNs, undefined, parts);
    expect(standstill).toMatchObject({ part: 'node b', completedSamples: 0, lateSamples: 3 });
    expect(standstill?.longestNs).toBeCloseTo(2e9, -8);
    expect(lookAt(1_000, 500e6, doneNs).standstill).toBeNull();
  });

  it('of the whole SUT are of no part, and each query is looked up once', () => {
    let looks = 0;
    const partOf = (query: number): number => {
      looks += 1;
      return query % 2;
    };
    const parts = { names: ['node a', 'node b'], partOf };
    const { standstill } = lookAt(1_000, 500e6, stopped(3), undefined, parts);
    expect(standstill).toMatchObject({ part: null, waitingSamples: 200, lateSamples: 150 });
    expect(looks).toBe(1_000);
  });

  it('of a part that takes long for one at a time are of no standstill', () => {
    // Node b answers few, and one of them long.
    const partOf = (query: number): number => (query % 25 === 0 ? 1 : 0);
    const doneNs = (query: number, issuedNs: number): number =>
      issuedNs + (query === 500 ? 2e9 : 1e6);
    const parts = { names: ['node a', 'node b'], partOf };
    expect(lookAt(1_000, 500e6, doneNs, undefined, parts).standstill).toBeNull();
  });

  it('are of no standstill while a SUT fills', () => {
    const pipeline = (_query: number, issuedNs: number): number => issuedNs + 4e9;
    expect(lookAt(1_000, 3e9, pipeline).standstill).toBeNull();
  });
});
