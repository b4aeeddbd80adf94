/** Addresses of others that are told with a run. */
const ADDRESSES_MAX = 8;

/** Where answers are counted. */
interface BesideParts {
  /** Samples of the run that the node has answered. */
  readonly answered: () => number;
  /** Samples of no run that it has answered since its start. */
  readonly unledgered: () => number;
}

/**
 * Samples that a node answers for others while a run has a stream open. Counted when runs begin and
 * end, not for each sample.
 */
export class WorkBeside {
  readonly #parts: BesideParts;
  /** All runs that have a stream open, shared by them. */
  readonly #open: Set<WorkBeside>;
  /** Of the run's peer; empty: not known. */
  #address = '';
  /**
   * Those that have been open beside this run and still are, and what they had answered when that
   * began.
   */
  readonly #beside = new Map<WorkBeside, number>();
  #unledgeredAtBegin = 0;
  /** Answers of runs, or of times, that are over. */
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

  /** The run has a stream, and had none. @param address Of the peer; empty: not known. */
  begin(address: string): void {
    this.#address ||= address;
    for (const other of this.#open) {
      this.#beside.set(other, other.#parts.answered());
      other.#beside.set(this, this.#parts.answered());
    }
    this.#open.add(this);
    this.#unledgeredAtBegin = this.#parts.unledgered();
  }

  /** The run has no stream any more. */
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
