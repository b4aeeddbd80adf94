import assert from 'node:assert';
import type { QueryBound } from './query-bounds.ts';

/** A class of the queries of a run: those whose samples are in a range of the library. */
export interface Lane {
  readonly name: string;
  /** Sample indices, from `first` to before `end`. */
  readonly samples: { readonly first: number; readonly end: number };
  /** Share of the arrivals, 0 to 1; the shares of all lanes add up to 1. */
  readonly share: number;
  /** Bounds that its queries have to keep together; only Server has some. */
  readonly bounds: readonly QueryBound[];
}

/** A lane as it is asked for. */
export interface LaneRequest extends Pick<Lane, 'name' | 'share'> {
  /** Default: the whole library. */
  readonly samples?: Lane['samples'];
  /** Default: those of LoadGen's settings. */
  readonly bounds?: Lane['bounds'];
}

/** The lane of a run whose queries are all of one class. */
export const ONE_LANE: readonly LaneRequest[] = [{ name: 'all', share: 1 }];

/** The lane of a sample index. */
export function laneOf(lanes: readonly Lane[], sampleIndex: number): Lane {
  const lane = lanes.find(
    ({ samples }) => sampleIndex >= samples.first && sampleIndex < samples.end,
  );
  assert(lane !== undefined);
  return lane;
}

/** The bounds of all lanes. */
export function boundsOfLanes(lanes: readonly Lane[]): QueryBound[] {
  return lanes.flatMap(({ bounds }) => bounds);
}
