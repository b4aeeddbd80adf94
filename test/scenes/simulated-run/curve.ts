import { curveFindings } from '../../../loadgen-node/present/curve/curve-findings.ts';
import type { LoadPoint } from '../../../loadgen-node/present/curve/load-point.ts';
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
