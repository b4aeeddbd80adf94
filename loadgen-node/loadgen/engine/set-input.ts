import type { LoadableSet, Phase } from '../schedule/loadable-sets.ts';

/** Which set of a phase is run. */
export interface SetInput {
  readonly phase: Phase;
  readonly set: LoadableSet;
  readonly setIndex: number;
  readonly setCount: number;
  /** True: the caller has loaded the set already. Default: false. */
  readonly isLoaded?: boolean;
}
