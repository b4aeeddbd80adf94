import { type Clock, timerClock } from '../../../shared/base/clock/clock.ts';
import { softwareComponents } from '../../../shared/host/component-versions.ts';
import { gatherSystemFacts } from '../../../shared/host/gather-system-facts.ts';
import {
  interruptible,
  type MachineSource,
  thisMachine,
} from '../../../shared/host/machine-source.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import {
  ownRuntimeFlags,
  readTuningFacts,
  type TuningFacts,
} from '../../../shared/host/tuning-facts.ts';

/** How long facts are taken as those of now: whoever calls often does not make the node read often. */
const KEPT_NS = 60e9;

/** Facts of the node's machine and when they were read. */
export interface KeptFacts {
  readonly facts: SystemFacts;
  readonly tuning: TuningFacts;
  /** ISO 8601, UTC. */
  readonly gatheredAt: string;
}

/** What tests exchange. @internal */
interface MachineParts {
  readonly machine: () => MachineSource;
  readonly clock: Clock;
}

/**
 * What the node tells of its machine. Reading costs the I/O thread some ten to some hundred milliseconds of small
 * reads, and may start a program; so it is done on demand, once for all who ask, never while a stream is open, and it
 * ends when one is opened. During a run only what was read before is told.
 */
export class MachineFacts {
  readonly #isRunning: () => boolean;
  readonly #parts: MachineParts;
  #kept: KeptFacts | undefined;
  #keptAtNs = Number.NEGATIVE_INFINITY;
  #reading: Promise<KeptFacts | undefined> | undefined;

  /** @param isRunning Whether a stream is open now. */
  constructor(isRunning: () => boolean, parts: Partial<MachineParts> = {}) {
    this.#isRunning = isRunning;
    this.#parts = { machine: thisMachine, clock: timerClock, ...parts };
  }

  /** Undefined where they would have to be read while a run is going on. */
  async told(): Promise<KeptFacts | undefined> {
    const isFresh = this.#parts.clock.nowNs() - this.#keptAtNs < KEPT_NS;
    if (this.#kept !== undefined && (isFresh || this.#isRunning())) return this.#kept;
    if (this.#isRunning()) return undefined;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return (await this.#reading) ?? this.#kept;
  }

  async #read(): Promise<KeptFacts | undefined> {
    const source = interruptible(this.#parts.machine(), this.#isRunning);
    const facts = await gatherSystemFacts(source, softwareComponents());
    const tuning = await readTuningFacts(source, ownRuntimeFlags());
    // What was left out for the run must not pass for what could not be read.
    if (source.isInterrupted) return undefined;
    this.#kept = { facts, tuning, gatheredAt: new Date().toISOString() };
    this.#keptAtNs = this.#parts.clock.nowNs();
    return this.#kept;
  }
}
