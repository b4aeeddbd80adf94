import { describe, expect, it } from 'vitest';
import { curveFindings } from '../../../../../loadgen-node/present/curve/curve-findings.ts';
import {
  keepsBound,
  type LoadPoint,
} from '../../../../../loadgen-node/present/curve/load-point.ts';
import {
  type CurveQuest,
  hasFewAnswers,
  longestAnswerNs,
  nextLoad,
  pointNs,
  pointOf,
  pointSpec,
} from '../../../../../loadgen-node/search/curve/measure-curve.ts';
import {
  ASKED,
  delaySearch,
  queueProbes,
  type ServiceLaw,
  theoreticalPeak,
} from '../../../../scenes/simulated-run/queue.ts';
import { steady } from '../../../../scenes/simulated-run/steady-probe.ts';
import {
  meanTokenTime,
  type TokenQueue,
  tokenProbes,
} from '../../../../scenes/simulated-run/token-queue.ts';

const BOUND_S = 0.2;

function questOf(other: Partial<CurveQuest> = {}): CurveQuest {
  return {
    ...{ unit: 'queries/s', loads: null, boundNs: BOUND_S * 1e9, percentile: 0.99 },
    ...{ durationNs: 200e9, minQueries: 100, rateMax: 1e5, lagShareMax: 0.1 },
    ...other,
  };
}

/** All points of a curve of a queue with one server of 20 ms, which completes 50/s. */
async function measure(law: ServiceLaw, quest: CurveQuest): Promise<LoadPoint[]> {
  const search = delaySearch(ASKED[0], BOUND_S);
  const probes = queueProbes({ law, serviceNs: 20e6, seed: 5 }, search);
  const points: LoadPoint[] = [];
  for (;;) {
    const load = nextLoad(quest, points, 20e6);
    if (load === null) return points;
    const { spec, watch } = pointSpec(quest, load, points.length + 1);
    const outcome = await probes(spec);
    points.push(pointOf(quest, spec, outcome, watch.isHopeless));
  }
}

const PATIENCE = { timeout: 60_000 };

// Goal: knee and peak of a curve are where theory says.
// Method: queues by Lindley's recursion, points of 200 s of their time.
describe('curve of a queue', PATIENCE, () => {
  it('finds its rates, and stops where the queue grows', async () => {
    const points = await measure('M/D/1', questOf());
    const loads = points.map(({ load }) => load);
    // A quarter of what one query at a time comes to, then doubling.
    expect(loads.slice(0, 2)).toEqual([13, 26]);
    expect(Math.max(...loads)).toBeLessThanOrEqual(104);
    expect(points.some(({ isOverloaded }) => isOverloaded)).toBe(true);
    expect(points.length).toBeLessThan(12);
    for (const { load, samplesPerSecond, isOverloaded } of points) {
      expect(samplesPerSecond).toBeLessThan(51);
      if (!isOverloaded) expect(Math.abs(samplesPerSecond / load - 1)).toBeLessThan(0.08);
    }
  });

  it.each<[ServiceLaw, number]>([
    // Most throughput per latency: half of the capacity, and 2 - sqrt(2) of it.
    ['M/M/1', 25],
    ['M/D/1', 29.3],
  ])('has the knee of %s at %d/s', async (law, knee) => {
    const loads = Array.from({ length: 16 }, (_, i) => 3 * (i + 1));
    const points = await measure(law, questOf({ loads, durationNs: 2000e9 }));
    const found = curveFindings({ ...questOf(), points }).knee;
    expect(Math.abs((found?.load ?? 0) - knee)).toBeLessThanOrEqual(3);
  });

  it('has the peak below the limit of theory, and its next load above', async () => {
    const limit = theoreticalPeak('M/D/1', 0.02, BOUND_S, 0.01);
    const loads = Array.from({ length: 9 }, (_, i) => limit * (0.8 + 0.05 * i));
    const points = await measure('M/D/1', questOf({ loads, durationNs: 4000e9 }));
    const { peak, peakText } = curveFindings({ ...questOf(), points });
    expect((peak?.load ?? 0) / limit).toBeGreaterThan(0.94);
    expect((peak?.load ?? 0) / limit).toBeLessThan(1.06);
    expect(peakText).toContain('keeps the bound of 200 ms at p99');
  });
});

// Goal: a point of a token model lasts until as many sequences run at once as its load makes.
// Method: event simulation; answers of 6 s alone and 15 s at 20/s, where theory says 50.25 ms per
// token (TokenQueue's meanTokenTime).
describe('point of a token model', PATIENCE, () => {
  const queue: TokenQueue = {
    ...{ sequences: 100_000, firstTokenNs: 50e6, tokenNs: 20e6, perSequenceNs: 1e5 },
    ...{ length: { law: 'geometric', mean: 300 }, seed: 1 },
  };
  const quest = questOf({ boundNs: 450e6, tpotNs: 40e6, durationNs: 10e9 });
  const measureAt = async (load: number, answerNs: number) => {
    const { spec, watch } = pointSpec(quest, load, 1, answerNs);
    const outcome = await tokenProbes(queue, { ...delaySearch(ASKED[0], 0.45), tpotNs: 40e6 })(
      spec,
    );
    return { spec, outcome, point: pointOf(quest, spec, outcome, watch.isHopeless) };
  };

  it('is too short where it has few of its own answers', async () => {
    const { spec, point } = await measureAt(20, 0);
    expect(spec.durationNsMax).toBe(10e9);
    expect(hasFewAnswers(quest, spec, point)).toBe(true);
    expect(hasFewAnswers({ ...quest, tpotNs: undefined }, spec, point)).toBe(false);
  });

  it.each([10, 20])('completes the tokens of its load: %d/s', async (load) => {
    const { spec, outcome, point } = await measureAt(load, 12e9);
    expect(hasFewAnswers(quest, spec, point)).toBe(false);
    const offered = (outcome.scheduledPerSecond ?? 0) * 301;
    expect(Math.abs((point.tokens?.perSecond ?? 0) / offered - 1)).toBeLessThan(0.06);
    const median = point.tokens?.tpot.find(({ percentile }) => percentile === 0.5)?.valueNs ?? 0;
    expect(Math.abs(median / meanTokenTime(queue, load) - 1)).toBeLessThan(0.1);
    expect(keepsBound(quest, point)).toBe(load === 10);
  });

  it('explains a point by the bound that it misses', () => {
    const spec = { load: 15, number: 1 };
    const timesNs = new Float64Array(1000).fill(10e6);
    const tokens = { firstNs: timesNs, perOutputNs: timesNs.map(() => 90e6), perSecond: 1 };
    const explanations = { ttft: 'The queue.', tpot: 'Each token.' };
    const outcome = steady(12e9, { tokens, explanation: 'The queue. Each token.', explanations });
    const { explanation } = pointOf(quest, spec, outcome, false);
    expect(explanation).toBe('Each token.');
    const all = pointOf({ ...quest, tpotNs: 1e9, boundNs: 1e9 }, spec, outcome, false).explanation;
    expect(all).toBe('The queue. Each token.');
  });

  it('has intervals by five batches of what counts, however few answers that is', () => {
    // Two answers of 12 s at 15 queries per second. Half of each of three batches of a third of an
    // answer is above the median.
    const latenciesNs = new Float64Array(360).fill(12e9);
    const isAbove = (i: number) => (i < 108 ? i % 54 < 27 : i < 126);
    const perOutputNs = latenciesNs.map((_, i) => (isAbove(i - 144) ? 1000 + i : i));
    const tokens = { firstNs: latenciesNs, perOutputNs, perSecond: 1 };
    const spec = { load: 15, number: 1 };
    const outcome = steady(0, { latenciesNs, tokens, samplesPerSecond: 15 });
    const point = pointOf(quest, spec, outcome, false);
    expect(point.queries).toBe(144);
    const median = point.tokens?.tpot.find(({ percentile }) => percentile === 0.5);
    // From the low end to the median lie 37 queries by five batches, by three only 12.
    const between = perOutputNs
      .subarray(144, 288)
      .filter((ns) => ns >= (median?.lowNs ?? 0) && ns <= (median?.valueNs ?? 0));
    expect(between.length).toBeGreaterThan(30);
  });

  it('is planned by the longest mean answer so far', () => {
    const points = [{ meanNs: 8e9 }, { meanNs: 99e9, isOverloaded: true }] as LoadPoint[];
    expect(longestAnswerNs(quest, points, 6e9)).toBe(8e9);
    expect(longestAnswerNs(questOf(), points, 6e9)).toBe(0);
    expect(pointNs(quest, 20, 8e9)).toBe(160e9);
  });
});

// Goal: a curve goes on from its points alone, and says how long it takes.
describe('order of points', () => {
  it('takes loads that are not measured yet', () => {
    const quest = questOf({ loads: [1, 2, 4] });
    const point = { load: 2 } as LoadPoint;
    expect(nextLoad(quest, [], null)).toBe(1);
    expect(nextLoad(quest, [{ ...point, load: 1 }, point], null)).toBe(4);
    expect(nextLoad({ ...quest, loads: [2] }, [point], null)).toBeNull();
  });

  it('goes on doubling after a point at which LoadGen was only disturbed', () => {
    const late = { load: 10, scheduledPerSecond: 10, isGeneratorBound: true, isOverloaded: false };
    const at = (samplesPerSecond: number) =>
      ({ ...late, samplesPerSecond, lostSamples: 0, latencies: [] }) as unknown as LoadPoint;
    expect(nextLoad(questOf(), [at(9.5)], 1e6)).toBe(20);
    expect(nextLoad(questOf(), [at(5)], 1e6)).toBe(2.5);
  });

  it('plans low rates for as long as their queries take', () => {
    const quest = questOf({ durationNs: 10e9 });
    expect(pointNs(quest, 1)).toBe(100e9);
    expect(pointNs(quest, 100)).toBe(10e9);
    expect(pointNs({ ...quest, unit: 'queries at a time' }, 1)).toBe(10e9);
  });
});
