import { curveFindings } from '../../../loadgen-node/present/curve/curve-findings.ts';
import type { LoadPoint, MeasuredCurve } from '../../../loadgen-node/present/curve/load-point.ts';
import type { CurveReport } from '../../../loadgen-node/present/curve/write-curve.ts';

/** A load with its latencies, of which p99 is given. */
export function curvePoint(
  number: number,
  load: number,
  p99Ms: number,
  other: Partial<LoadPoint> = {},
): LoadPoint {
  const figure = (percentile: number, share: number) => ({
    percentile,
    valueNs: p99Ms * share * 1e6,
    lowNs: p99Ms * share * 0.9e6,
    highNs: p99Ms * share * 1.1e6,
  });
  return {
    ...{ number, load, scheduledPerSecond: load, samplesPerSecond: load, rateInterval: null },
    ...{ queries: load * 10, lostSamples: 0, meanNs: p99Ms * 0.4e6, lagP99Ns: 1e5 },
    latencies: [figure(0.5, 0.3), figure(0.9, 0.7), figure(0.99, 1)],
    tokens: null,
    goodput: { share: 0.995, samplesPerSecond: load * 0.995, tokensPerSecond: null },
    ...{
      isGeneratorBound: false,
      isOverloaded: false,
      why: '',
      durationNs: 10e9,
      explanation: null,
    },
    ...other,
  };
}

/** A curve with a knee, a load that grows the queue, and one that LoadGen cannot keep. */
export const CURVE_POINTS: readonly LoadPoint[] = [
  curvePoint(1, 10, 10),
  curvePoint(2, 20, 12),
  curvePoint(3, 40, 20),
  curvePoint(4, 60, 90),
  curvePoint(5, 80, 3000, {
    isOverloaded: true,
    samplesPerSecond: 63,
    why: 'not kept up with: "a, b"',
  }),
  curvePoint(6, 160, 400, { isGeneratorBound: true, why: 'LoadGen was the limit: <lag>' }),
];

/** A curve of a token model: its third load misses the bound on the time per token. */
export function tokenCurveReport(): CurveReport {
  const figures = (ms: number) =>
    [0.5, 0.9, 0.99].map((percentile) => ({
      ...{ percentile, valueNs: ms * percentile * 1e6 },
      ...{ lowNs: ms * percentile * 0.9e6, highNs: ms * percentile * 1.1e6 },
    }));
  const points = [10, 20, 40, 60].map((load, i) =>
    curvePoint(i + 1, load, 1000, {
      tokens: { perSecond: load * 250, ttft: figures(100 + load), tpot: figures(20 + load / 2) },
      goodput: {
        ...{ share: load > 30 ? 0.9 : 1, samplesPerSecond: load * 0.9 },
        tokensPerSecond: load * 225,
      },
    }),
  );
  const curve: MeasuredCurve = {
    unit: 'queries/s',
    boundNs: 450e6,
    tpotNs: 38e6,
    percentile: 0.99,
    points,
  };
  return {
    ...{ ...curve, madeBy: 'curve', findings: curveFindings(curve) },
    ...{ title: 'llama2-70b: latency over throughput', facts: [], notes: [] },
  };
}

/** A curve through these points. */
export function curveReport(points: readonly LoadPoint[] = CURVE_POINTS): CurveReport {
  const curve = { unit: 'queries/s', boundNs: 50e6, percentile: 0.99, points } as const;
  return {
    ...{ ...curve, madeBy: 'curve', findings: curveFindings(curve) },
    title: 'digits: latency over throughput',
    facts: [['SUT nodes', '<b>sut</b>']],
    notes: ['a note & more'],
  };
}
