/** Most addresses of other peers reported with a run. */
const ADDRESSES_MAX = 8;

/** Counts of answered samples. */
interface BesideParts {
  /** Samples of the run that the node has answered. */
  readonly answered: () => number;
  /** Samples of no run that the node has answered since its start. */
  readonly unledgered: () => number;
}

/**
 * Samples that a node answers for other runs, or for no run, while a run has a stream open. The
 * samples are counted when runs begin and end, not one by one.
 */
export class WorkBeside {
  readonly #parts: BesideParts;
  /** All runs that have a stream open; the same set for all of them. */
  readonly #open: Set<WorkBeside>;
  /** Address of the run's peer; empty: not known. */
  #address = '';
  /**
   * Runs that are open beside this run, each with the number of samples that it had answered when
   * both became open.
   */
  readonly #beside = new Map<WorkBeside, number>();
  #unledgeredAtBegin = 0;
  /** Samples counted so far: for runs that no longer overlap with this one, and for no run. */
  #sampleCount = 0;
  readonly #addresses = new Set<string>();

  constructor(open: Set<WorkBeside>, parts: BesideParts) {
    this.#open = open;
    this.#parts = parts;
  }

  get sampleCount(): number {
    let count = this.#sampleCount;
    for (const [other, before] of this.#beside) count += other.#parts.answered() - before;
    return this.#open.has(this) ? count + this.#unledgeredSinceBegin() : count;
  }

  get addresses(): string[] {
    return [...this.#addresses];
  }

  /**
   * The run opens a stream and has no other.
   * @param address Address of the peer; empty: not known.
   */
  begin(address: string): void {
    this.#address ||= address;
    for (const other of this.#open) {
      this.#beside.set(other, other.#parts.answered());
      other.#beside.set(this, this.#parts.answered());
    }
    this.#open.add(this);
    this.#unledgeredAtBegin = this.#parts.unledgered();
  }

  /** The last stream of the run has ended. */
  end(): void {
    this.#open.delete(this);
    for (const other of [...this.#beside.keys()]) {
      this.#add(other);
      other.#add(this);
    }
    this.#sampleCount += this.#unledgeredSinceBegin();
  }

  #add(other: WorkBeside): void {
    const samples = other.#parts.answered() - (this.#beside.get(other) ?? 0);
    this.#beside.delete(other);
    if (samples === 0) return;
    this.#sampleCount += samples;
    const { size } = this.#addresses;
    if (other.#address !== '' && size < ADDRESSES_MAX) this.#addresses.add(other.#address);
  }

  #unledgeredSinceBegin(): number {
    return this.#parts.unledgered() - this.#unledgeredAtBegin;
  }
}
