import { type LoadSearch, type PeakProbe, searchNs } from '../peak/peak-search.ts';
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

/** Estimates how long a comparison still takes: by its settings, less what is done. Searches that end early shorten it. */
export class TaskClock {
  /** By side. */
  readonly #searchLeftNs: number[];
  readonly #runS: number[] = [];
  readonly #configuredRunNs: number;
  #runsLeft: number;

  /** @param sides How many are measured. */
  constructor({ search, repeats, runNs, loadsOf }: TimedTask, sides: number) {
    const eachNs = search === null ? 0 : searchNs(search);
    this.#searchLeftNs = Array.from({ length: sides }, () => eachNs);
    this.#configuredRunNs = runNs;
    // Peaks that are not known yet: as many loads as any peaks give.
    const peaks = Array.from({ length: sides }, () => Number.POSITIVE_INFINITY);
    const loads = search === null ? 1 : loadsOf(peaks).length;
    this.#runsLeft = loads * repeats * sides;
  }

  /** A side has made a probe. */
  probe(side: number, { durationNs }: PeakProbe): void {
    this.#searchLeftNs[side] = Math.max(0, (this.#searchLeftNs[side] ?? 0) - durationNs);
  }

  /** The search of a side has ended. */
  searched(side: number): void {
    this.#searchLeftNs[side] = 0;
  }

  /** All searches have ended. @param runs How many runs are to be made. */
  beginRuns(runs: number): void {
    this.#runsLeft = runs;
  }

  /** A run has ended. */
  run(seconds: number): void {
    this.#runS.push(seconds);
    this.#runsLeft = Math.max(0, this.#runsLeft - 1);
  }

  /** In words. */
  get left(): string {
    const searchS = this.#searchLeftNs.reduce((sum, leftNs) => sum + leftNs, 0) / 1e9;
    const ran = this.#runS.length;
    const sumS = this.#runS.reduce((sum, seconds) => sum + seconds, 0);
    const runS = ran === 0 ? this.#configuredRunNs / 1e9 : sumS / ran;
    return leftText(searchS + runS * this.#runsLeft);
  }
}
