import { searchLeftNs } from '../peak/pace.ts';
import type { LoadSearch, PeakProbe } from '../peak/peak-search.ts';
import { leftText } from '../time-left.ts';

/** A task as its settings have it. */
interface TimedTask {
  /** Null: there is none. */
  readonly search: LoadSearch | null;
  readonly repeats: number;
  /** Shortest run, in ns. */
  readonly runNs: number;
  readonly loadsOf: (peaks: readonly number[]) => readonly number[];
}

/** Estimates how long a comparison still takes: by its settings and what its probes told of answers, less what is done. Searches that end early shorten it. */
export class TaskClock {
  readonly #search: LoadSearch | null;
  /** By side; undefined: its search has ended. */
  readonly #probes: (PeakProbe[] | undefined)[];
  readonly #runS: number[] = [];
  #runNs: number;
  #runsLeft: number;

  /** @param sides How many are measured. */
  constructor({ search, repeats, runNs, loadsOf }: TimedTask, sides: number) {
    this.#search = search;
    this.#probes = Array.from({ length: sides }, () => []);
    this.#runNs = runNs;
    // Peaks that are not known yet: as many loads as any peaks give.
    const peaks = Array.from({ length: sides }, () => Number.POSITIVE_INFINITY);
    const loads = search === null ? 1 : loadsOf(peaks).length;
    this.#runsLeft = loads * repeats * sides;
  }

  /** A side has made a probe. */
  probe(side: number, probe: PeakProbe): void {
    this.#probes[side]?.push(probe);
  }

  /** The search of a side has ended. */
  searched(side: number): void {
    this.#probes[side] = undefined;
  }

  /** All searches have ended. @param runs How many runs are to be made, each of `runNs` or more. */
  beginRuns(runs: number, runNs: number): void {
    this.#runsLeft = runs;
    this.#runNs = runNs;
  }

  /** A run has ended. */
  run(seconds: number): void {
    this.#runS.push(seconds);
    this.#runsLeft = Math.max(0, this.#runsLeft - 1);
  }

  /** In words. */
  get left(): string {
    const searchS = this.#probes.reduce((sum, probes) => sum + this.#leftNs(probes), 0) / 1e9;
    const ran = this.#runS.length;
    const sumS = this.#runS.reduce((sum, seconds) => sum + seconds, 0);
    const runS = ran === 0 ? this.#runNs / 1e9 : sumS / ran;
    return leftText(searchS + runS * this.#runsLeft);
  }

  #leftNs(probes: readonly PeakProbe[] | undefined): number {
    return this.#search === null || probes === undefined ? 0 : searchLeftNs(this.#search, probes);
  }
}
