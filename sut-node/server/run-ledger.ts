import type { Encoding } from '../../proto/gen/mlperf/network/v1/Encoding.ts';
import type { LedgerResponse } from '../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import { RecentIds } from './recent-ids.ts';

/** Runs that the node remembers. */
const RUNS_MAX = 16;

/** Ids and query numbers of which a repeated one is noticed: more than a queue holds. */
const REMEMBERED_MIN = 262_144;

/** What the node counted in one run, over all its streams. Hot path: numbers only. */
export class RunLedger {
  readonly runId: string;
  queryCount = 0;
  partCount = 0;
  sampleCount = 0;
  payloadBytes = 0;
  completedCount = 0;
  failedCount = 0;
  responseBytes = 0;
  streamCount = 0;
  /** Samples that got no answer because their stream was gone. Not on the wire. */
  droppedCount = 0;
  #openStreams = 0;
  #lastQuery = -1;
  #queries = new RecentIds(REMEMBERED_MIN);
  #sampleIds = new RecentIds(REMEMBERED_MIN);
  readonly #encodings = new Map<string, Encoding>();

  constructor(runId: string) {
    this.runId = runId;
  }

  get isOpen(): boolean {
    return this.#openStreams > 0;
  }

  openStream(): void {
    this.streamCount += 1;
    this.#openStreams += 1;
  }

  closeStream(): void {
    this.#openStreams -= 1;
    if (this.#openStreams > 0) return;
    // The run is over, or all but: the counters stay, the ids need not.
    this.#queries = new RecentIds(REMEMBERED_MIN);
    this.#sampleIds = new RecentIds(REMEMBERED_MIN);
    this.#lastQuery = -1;
  }

  countPart(query: number, bytes: number): void {
    this.partCount += 1;
    this.payloadBytes += bytes;
    if (query === this.#lastQuery) return;
    this.#lastQuery = query;
    if (this.#queries.add(query)) this.queryCount += 1;
  }

  /** Remembers the id of a sample; false when the run had it before. */
  addSampleId(id: number): boolean {
    return this.#sampleIds.add(id);
  }

  addEncodings(encodings: readonly Encoding[]): void {
    for (const encoding of encodings) {
      this.#encodings.set(`${encoding.form} ${encoding.compression}`, encoding);
    }
  }

  toWire(): LedgerResponse {
    return {
      runId: this.runId,
      known: true,
      queryCount: this.queryCount,
      partCount: this.partCount,
      sampleCount: this.sampleCount,
      payloadBytes: this.payloadBytes,
      completedCount: this.completedCount,
      failedCount: this.failedCount,
      responseBytes: this.responseBytes,
      payloadDigest: Buffer.alloc(0),
      digestedSampleCount: 0,
      encodings: [...this.#encodings.values()],
      streamCount: this.streamCount,
    };
  }
}

/** The ledgers of the last runs. */
export class RunLedgers {
  readonly #runs = new Map<string, RunLedger>();

  /** The ledger of a run, made when it is new. */
  open(runId: string): RunLedger {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const ledger = new RunLedger(runId);
    this.#runs.set(runId, ledger);
    this.#forgetOldest();
    return ledger;
  }

  toWire(runId: string): LedgerResponse {
    return this.#runs.get(runId)?.toWire() ?? { runId, known: false };
  }

  /** A run that still has a stream is never forgotten: there are fewer streams than would do harm. */
  #forgetOldest(): void {
    for (const [runId, ledger] of this.#runs) {
      if (this.#runs.size <= RUNS_MAX) return;
      if (!ledger.isOpen && ledger.streamCount > 0) this.#runs.delete(runId);
    }
  }
}
