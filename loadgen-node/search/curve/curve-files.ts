import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readJsonFile } from '../../../shared/base/files/read-file.ts';
import { formatNs } from '../../../shared/base/text.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import { curveFindings } from '../../present/curve/curve-findings.ts';
import { LOAD_POINT, type LoadPoint, type MeasuredCurve } from '../../present/curve/load-point.ts';
import { type CurveReport, writeCurve } from '../../present/curve/write-curve.ts';
import { instantText } from '../../present/text/figure-text.ts';
import { RunProblems } from '../../run/keep/run-problems.ts';
import { CLOSED_LOOP_PACE } from '../../run/plan/departures.ts';
import { addressesOf } from '../../run/plan/target.ts';
import {
  aboutSearch,
  type Question,
  requireKept,
  SEARCH_ABOUT,
  type SearchAbout,
  writeKept,
} from '../kept-file.ts';
import type { CurvePlan } from './curve-plan.ts';

/** File of a curve in its folder; `--resume` continues from it. */
const NAME = 'longhaul_curve.json';
const FORMAT = 'longhaul-curve-3';

const schema = z.looseObject({
  format: z.literal(FORMAT),
  about: SEARCH_ABOUT,
  identity: z.record(z.string(), z.string()),
  unit: z.enum(['queries/s', 'queries at a time', 'streams']),
  boundNs: z.number(),
  tpotNs: z.number().optional(),
  percentile: z.number().gt(0).lt(1),
  /** Null: the curve is complete. */
  ended: z.string().nullable(),
  /** Mean latency of queries sent one at a time, in ns; null if not needed. */
  unloadedNs: z.number().nullable(),
  points: z.array(LOAD_POINT),
});

/** A stored curve. */
export type CurveFile = z.infer<typeof schema>;

/** True when the folder holds a curve. */
export function hasCurveFile(folder: string): boolean {
  return existsSync(join(folder, NAME));
}

/**
 * The stored points of a curve. @throws MlperfError as {@link requireKept} and {@link readJsonFile}
 */
export function readCurveFile(folder: string): CurveFile {
  const path = join(folder, NAME);
  requireKept(path, 'curve');
  return readJsonFile(path, schema, FILE_BYTES_MAX.document, ' is no curve of this longhaul');
}

export const CLOSED_LOOP_NOTE = `closed loop: ${CLOSED_LOOP_PACE}, not a scenario of MLPerf`;

/** The files of a curve, possibly incomplete. */
export class CurveFiles {
  readonly points: LoadPoint[];
  /** Files that could not be written. */
  readonly problems: RunProblems = new RunProblems();
  #unloadedNs: number | null;
  readonly #plan: CurvePlan;
  readonly #identity: Question;
  readonly #about: SearchAbout;

  constructor(plan: CurvePlan, identity: Question, kept: CurveFile | null) {
    this.#plan = plan;
    this.#identity = identity;
    this.#about = kept?.about ?? aboutSearch(plan.run);
    this.points = [...(kept?.points ?? [])];
    this.#unloadedNs = kept?.unloadedNs ?? null;
  }

  /** Mean latency of queries sent one at a time, in ns; null if not measured. */
  get unloadedNs(): number | null {
    return this.#unloadedNs;
  }

  /** Stores that latency. */
  keepLook(unloadedNs: number): void {
    this.#unloadedNs = unloadedNs;
    this.#keep(null);
  }

  /** Stores a point before the next one is measured. */
  add(point: LoadPoint): void {
    this.points.push(point);
    this.#keep(null);
  }

  /**
   * Writes all files.
   * @param ended Error that ended the curve early; null: it is complete.
   */
  write(ended: MlperfError | null): CurveReport {
    const { run } = this.#plan;
    const curve = this.#curve();
    const isClosedLoop = curve.unit === 'queries at a time';
    const report: CurveReport = {
      ...curve,
      madeBy: 'curve',
      findings: curveFindings(curve),
      title: `${confNameOf(run.rules)}: latency over throughput${isClosedLoop ? ', closed loop' : ''}`,
      facts: this.#facts(),
      notes: [
        ...(ended === null ? [] : [`INCOMPLETE: ${ended.message}. The points so far are shown.`]),
        ...(isClosedLoop ? [CLOSED_LOOP_NOTE] : []),
        'Each point is a short run for its latencies: none is a result of MLPerf.',
      ],
    };
    this.#keep(ended);
    this.problems.attempt(() => writeCurve(run.output, report));
    return report;
  }

  /** The curve as JSON. */
  document(ended: MlperfError | null): object {
    const { points, ...about } = this.#curve();
    return {
      ...about,
      isComplete: ended === null,
      ended: ended?.message ?? null,
      ...curveFindings({ ...about, points }),
      points,
    };
  }

  #curve(): MeasuredCurve {
    const { unit, boundNs, tpotNs, percentile } = this.#plan;
    return { unit, boundNs, tpotNs, percentile, points: this.points };
  }

  #keep(ended: MlperfError | null): void {
    const { unloadedNs } = this;
    const head = { format: FORMAT, about: this.#about, identity: this.#identity, unloadedNs };
    const path = join(this.#plan.run.output, NAME);
    this.problems.attempt(() => writeKept(path, { ...head, ...this.document(ended) }, 1));
  }

  #facts(): CurveReport['facts'] {
    const { run, unit, durationNs } = this.#plan;
    return [
      ['Benchmark', `${confNameOf(run.rules)} (${run.rules.title})`],
      ['SUT nodes', `${this.#identity['names of the nodes']} at ${addressesOf(run).join(', ')}`],
      ['Models', this.#identity['models of the nodes'] ?? '-'],
      [
        'Load',
        unit === 'queries/s' ? 'Poisson arrivals, latency from the schedule' : 'closed loop',
      ],
      ['Time of a point', formatNs(durationNs)],
      ['Measured', instantText(new Date().toISOString())],
    ];
  }
}
