import assert from 'node:assert';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { QueryBound } from './query-bounds.ts';

/** A class of a run's queries: those with samples in a range of the library. */
export interface Lane {
  readonly name: string;
  /** Sample indices from `first` up to but without `end`. */
  readonly samples: { readonly first: number; readonly end: number };
  /** Share of the arrivals, 0 to 1; the shares of all lanes add up to 1. */
  readonly share: number;
  /** Bounds that its queries must keep together; only Server has bounds. */
  readonly bounds: readonly QueryBound[];
}

/** A lane as requested. */
export interface LaneRequest extends Pick<Lane, 'name' | 'share'> {
  /** Default: the whole library. */
  readonly samples?: Lane['samples'];
  /** Default: the bounds of LoadGen's settings. */
  readonly bounds?: Lane['bounds'];
}

/** One lane with all samples of a library. */
export function wholeLane(bounds: Lane['bounds']): Lane {
  return { name: 'all', share: 1, samples: { first: 0, end: Number.POSITIVE_INFINITY }, bounds };
}

/** The default lane, with all queries of a run. */
export const ONE_LANE: readonly LaneRequest[] = [{ name: 'all', share: 1 }];

/** Tolerance for the rounded sum of the shares. */
const SHARE_NOISE = 1e-9;

/**
 * Checks lanes. Every sample must be in a lane, since the performance set may be any samples of the
 * library.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing every problem
 */
export function checkLanes(lanes: readonly LaneRequest[], sampleCount: number): void {
  const problems = rangeProblems(lanes, sampleCount);
  const names = lanes.map(({ name }) => name);
  const again = names.find((name, i) => names.indexOf(name) < i);
  if (again !== undefined) problems.push(`${again} is the name of several`);
  const share = lanes.reduce((sum, lane) => sum + lane.share, 0);
  if (Math.abs(share - 1) > SHARE_NOISE) {
    problems.push(`their shares add up to ${Number(share.toPrecision(6))}, and must to 1`);
  }
  if (problems.length > 0) throw configInvalid(`lanes: ${problems.join('; ')}`);
}

function rangeProblems(lanes: readonly LaneRequest[], sampleCount: number): string[] {
  const problems: string[] = [];
  const noLane = (first: number, end: number): void => {
    if (first < end) problems.push(`samples ${first} to before ${end} are in no lane`);
  };
  const ranges = lanes.map(({ name, samples }) => ({
    name,
    first: 0,
    end: sampleCount,
    ...samples,
  }));
  let before = { name: '', end: 0 };
  for (const { name, first, end } of ranges.sort((a, b) => a.first - b.first)) {
    const isRange = Number.isInteger(first) && Number.isInteger(end) && first >= 0 && first < end;
    if (!isRange || end > sampleCount) {
      problems.push(
        `${name} has samples ${first} to before ${end}, which is not within the library's ${sampleCount}`,
      );
    }
    if (first < before.end) problems.push(`${before.name} and ${name} share sample ${first}`);
    noLane(before.end, first);
    if (end > before.end) before = { name, end };
  }
  noLane(before.end, sampleCount);
  return problems;
}

/** The lane of a sample index of the library. */
export function laneOf(lanes: readonly Lane[], sampleIndex: number): Lane {
  const lane = lanes.find(
    ({ samples }) => sampleIndex >= samples.first && sampleIndex < samples.end,
  );
  assert(lane !== undefined);
  return lane;
}

/** The bounds of all lanes. */
export function boundsOfLanes<B>(lanes: readonly { readonly bounds: readonly B[] }[]): B[] {
  return lanes.flatMap(({ bounds }) => bounds);
}
