import type { Clock, PlannedCall } from '../../../../shared/base/clock.ts';
import type { SampleRecorder } from '../../recorder/sample-recorder.ts';

/** After a sleep or a blocked event loop, responses may be waiting to be read: look twice. */
const STALL_RECHECK_NS = 100_000_000;

interface Watched {
  readonly clock: Clock;
  readonly recorder: SampleRecorder;
  readonly stallTimeoutNs: number;
}

/**
 * Number of stall timeouts that tokens of incomplete samples can prolong a run by: a response that
 * never completes must not make a run that never ends.
 */
const TOKEN_TIMEOUTS_MAX = 10;

/**
 * Detects a stall: samples are outstanding, and none completes and no token arrives for the stall
 * timeout.
 */
export class StallWatch {
  /** Clock at the start of the set, by which the recorder counts. */
  startNs = 0;
  /** Clock when samples became outstanding after a time with none. */
  busySinceNs = 0;
  readonly #watched: Watched;
  readonly #onStall: () => void;
  #isSuspected = false;
  #completedSamples = 0;
  #tokenSigns = 0;
  #aliveNs = 0;
  #tokenNs = 0;
  #planned: PlannedCall | null = null;

  constructor(watched: Watched, onStall: () => void) {
    this.#watched = watched;
    this.#onStall = onStall;
  }

  begin(startNs: number): void {
    this.startNs = startNs;
    this.busySinceNs = startNs;
    const { clock, stallTimeoutNs } = this.#watched;
    this.#planned = clock.callAt(startNs + stallTimeoutNs, this.#look);
  }

  end(): void {
    this.#planned?.cancel();
  }

  readonly #look = (): void => {
    const { clock, recorder, stallTimeoutNs } = this.#watched;
    const nowNs = clock.nowNs();
    const aliveNs = this.#lastSignOfLifeNs(nowNs);
    const isIdle = recorder.outstandingSamples === 0;
    const isOverdue = !isIdle && nowNs >= aliveNs + stallTimeoutNs;
    if (isOverdue && this.#isSuspected) {
      this.#onStall();
      return;
    }
    this.#isSuspected = isOverdue;
    const nextNs = (isIdle ? nowNs : aliveNs) + stallTimeoutNs;
    this.#planned = clock.callAt(isOverdue ? nowNs + STALL_RECHECK_NS : nextNs, this.#look);
  };

  /**
   * Valid after a stall was detected: the clock at the latest completion, or since when samples
   * were outstanding, whichever is later.
   */
  get silentSinceNs(): number {
    return Math.max(this.#aliveNs, this.busySinceNs);
  }

  /**
   * Clock at the latest completion or token, or since when samples are outstanding, whichever is
   * later.
   */
  #lastSignOfLifeNs(nowNs: number): number {
    const { recorder, stallTimeoutNs } = this.#watched;
    if (recorder.completedSamples !== this.#completedSamples) {
      this.#completedSamples = recorder.completedSamples;
      // The SUT supplies this time: one in the future must not keep the run alive.
      this.#aliveNs = Math.min(nowNs, this.startNs + recorder.lastCompletionNs);
    }
    const aliveNs = Math.max(this.#aliveNs, this.busySinceNs);
    const { count, lastNs } = recorder.tokenSigns;
    if (count !== this.#tokenSigns) {
      this.#tokenSigns = count;
      this.#tokenNs = Math.min(nowNs, this.startNs + lastNs);
    }
    const latestNs = aliveNs + (TOKEN_TIMEOUTS_MAX - 1) * stallTimeoutNs;
    return Math.max(aliveNs, Math.min(this.#tokenNs, latestNs));
  }
}
