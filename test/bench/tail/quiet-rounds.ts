import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/*
 * Whether the machine did nothing else. The load average is of no use: it still counts the round
 * before. What is looked at: how late a process that does nothing else is woken and how long it is
 * held up, and the CPU time that is neither ours nor our children's.
 */

/** Rounds that may be given up, in all cells together. */
const GIVEN_UP_MAX = 5;

const PROBE_MS = 300;
/** The probe sleeps and then spins, each time so long. */
const STEP_MS = 1.5;
/** Rest after the first round that is given up; longer with each further one. */
const REST_MS = 1000;

/**
 * A quiet machine of 2 virtual cores wakes a sleeper 0.1 to 0.2 ms late; one outlier is passed
 * over.
 */
const LATE_US_MAX = 1000;
const OTHERS_CORES_MAX = 0.25;
const STEAL_SHARE_MAX = 0.02;

const US_PER_TICK = 10_000;

/** CPU time of others in a stretch of time. */
interface Disturbance {
  /** Cores that processes that are not ours kept busy. */
  readonly othersCores: number;
  /** Share of the machine's time that its host gave to others. */
  readonly stealShare: number;
}

/**
 * Begins each round when the machine is quiet, and gives up those in which it was not, as often as
 * is allowed.
 */
export class QuietRounds {
  readonly #extraMax: number;
  #isQuiet = true;
  #begin = new MachineTimes();
  #givenUp = 0;
  /** Of each round that counts: whether the machine was quiet. */
  readonly #kept: boolean[] = [];
  #worst = { lateUs: 0, othersCores: 0, stealShare: 0 };

  /**
   * @param rounds Of a cell: never more than so many are given up, so that a short benchmark
   *   stays short.
   */
  constructor(rounds: number) {
    this.#extraMax = Math.min(GIVEN_UP_MAX, rounds);
  }

  /** Probes the machine; where it is not quiet, gives the round up and begins it again. */
  async begin(): Promise<void> {
    for (;;) {
      const before = new MachineTimes();
      const lateUs = probeLateUs();
      this.#begin = new MachineTimes();
      this.#isQuiet = lateUs <= LATE_US_MAX && isCalm(this.#begin.since(before));
      this.#note({ lateUs, ...this.#begin.since(before) });
      if (this.#isQuiet || !this.#giveUp()) return;
      await sleep(this.#givenUp * REST_MS);
    }
  }

  /**
   * Once all processes of the round have ended. @returns False: it is given up, and its figures do
   * not count.
   */
  end(): boolean {
    const seen = new MachineTimes().since(this.#begin);
    this.#note({ lateUs: 0, ...seen });
    const wasQuiet = this.#isQuiet && isCalm(seen);
    if (this.#isQuiet && !wasQuiet && this.#giveUp()) return false;
    this.#kept.push(wasQuiet);
    return true;
  }

  /** For a file; of each round that counts, in order, whether the machine was quiet. */
  get summary() {
    return { givenUp: this.#givenUp, wasQuiet: this.#kept, worst: this.#worst };
  }

  /** The same in words. */
  get text(): string {
    const { lateUs, othersCores, stealShare } = this.#worst;
    const notQuiet = this.#kept.filter((wasQuiet) => !wasQuiet).length;
    return (
      `Rounds given up because the machine was not quiet: ${this.#givenUp} (at most ${this.#extraMax}). ` +
      `Not quiet and kept: ${notQuiet} of ${this.#kept.length}. ` +
      `Worst: woken ${(lateUs / 1e3).toFixed(1)} ms late, ${othersCores.toFixed(2)} cores busy for others, ` +
      `${(100 * stealShare).toFixed(1)} % of the time stolen.`
    );
  }

  #giveUp(): boolean {
    if (this.#givenUp === this.#extraMax) return false;
    this.#givenUp += 1;
    return true;
  }

  #note({ lateUs, othersCores, stealShare }: Disturbance & { readonly lateUs: number }): void {
    const worst = this.#worst;
    worst.lateUs = Math.max(worst.lateUs, lateUs);
    worst.othersCores = Math.max(worst.othersCores, othersCores);
    worst.stealShare = Math.max(worst.stealShare, stealShare);
  }
}

function isCalm({ othersCores, stealShare }: Disturbance): boolean {
  return othersCores <= OTHERS_CORES_MAX && stealShare <= STEAL_SHARE_MAX;
}

/**
 * Sleeps and spins by turns. @returns The second longest delay of a wake, or time in which the spin
 * stood still, in µs.
 */
function probeLateUs(): number {
  const words = new Int32Array(new SharedArrayBuffer(4));
  const delaysMs: number[] = [];
  const endMs = performance.now() + PROBE_MS;
  while (performance.now() < endMs) {
    const sleptMs = performance.now();
    Atomics.wait(words, 0, 0, STEP_MS);
    let atMs = performance.now();
    delaysMs.push(atMs - sleptMs - STEP_MS);
    let longestMs = 0;
    for (const untilMs = atMs + STEP_MS; atMs < untilMs; ) {
      const nowMs = performance.now();
      longestMs = Math.max(longestMs, nowMs - atMs);
      atMs = nowMs;
    }
    delaysMs.push(longestMs);
  }
  return (delaysMs.toSorted((a, b) => b - a)[1] ?? 0) * 1e3;
}

/** CPU times of the machine and of this process with its children that have ended, now. Linux. */
class MachineTimes {
  readonly #atMs = performance.now();
  readonly #busyTicks: number;
  readonly #stolenTicks: number;
  readonly #allTicks: number;
  readonly #ownTicks: number;

  constructor() {
    const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] as string;
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    const [user = 0, nice = 0, system = 0] = ticks;
    // Interrupts are left out: they belong to no process.
    this.#busyTicks = user + nice + system;
    this.#stolenTicks = ticks[7] ?? 0;
    this.#allTicks = ticks.reduce((sum, value) => sum + value, 0);
    const text = readFileSync('/proc/self/stat', 'utf8');
    // Behind the name: state is field 3; utime, stime, and those of children that have ended are 14
    // to 17.
    const own = text.slice(text.lastIndexOf(')') + 2).split(' ');
    this.#ownTicks = own.slice(11, 15).reduce((sum, value) => sum + Number(value), 0);
  }

  since(begin: MachineTimes): Disturbance {
    const us = (this.#atMs - begin.#atMs) * 1e3;
    const others = this.#busyTicks - begin.#busyTicks - (this.#ownTicks - begin.#ownTicks);
    const all = this.#allTicks - begin.#allTicks;
    return {
      othersCores: Math.max(0, (others * US_PER_TICK) / us),
      stealShare: all === 0 ? 0 : (this.#stolenTicks - begin.#stolenTicks) / all,
    };
  }
}
