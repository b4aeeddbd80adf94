import assert from 'node:assert';
import type { Encoding } from '../../../proto/gen/mlperf/network/v1/Encoding.ts';
import type { LedgerResponse } from '../../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import type { Open__Output } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import {
  PAYLOAD_DIGESTS_FEATURE,
  PayloadDigestSum,
  PER_MILLION,
} from '../../../shared/evidence/payload-digest.ts';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import { inlineDigester, type PayloadDigester } from '../digest/digest-thread.ts';
import { invalidArgument, resourceExhausted, type StreamRefusal } from '../limits/call-end.ts';
import { RecentIds } from './recent-ids.ts';
import { WorkBeside } from './work-beside.ts';

/** Runs that the node remembers. */
const RUNS_MAX = 16;

/**
 * Shortest time that an ended run is remembered: its LoadGen node requests the ledger within
 * seconds, and runs of others must not displace it.
 */
const REMEMBERED_MS_MIN = 60_000;

/**
 * Most runs within {@link REMEMBERED_MS_MIN}, about 20 KiB each: a peer that opens more is refused.
 */
const RECENT_RUNS_MAX = 1_024;

/** Ids and query numbers checked for repetition: more than a queue holds. */
const REMEMBERED_MIN = 262_144;

/**
 * Partly received queries that may continue. A query spread over nodes stays partial for ever; one
 * dropped from this list is not checked again, since parts of a query are consecutive.
 */
const PARTIAL_QUERIES_MAX = 4_096;

/** Stream numbers checked for repetition: more than a run has. */
const STREAM_INDICES_MAX = 1_024;

/** Counters of a node's runs. */
const COUNTERS = [
  'runCount',
  'streamCount',
  'queryCount',
  'partCount',
  'sampleCount',
  'payloadBytes',
  'completedCount',
  'droppedCount',
  'responseBytes',
] as const;

/** The node's counts since its start, over all runs. */
export interface NodeTotals extends Readonly<Record<(typeof COUNTERS)[number], number>> {
  /** Failed samples by FailureCode. */
  readonly failedByCode: readonly number[];
}

const NO_FAILURES: readonly number[] = Object.values(FAILURE_CODES).map(() => 0);

/** Totals with additions. */
export function plus(totals: Partial<NodeTotals>, more: Partial<NodeTotals>): NodeTotals {
  const sums = COUNTERS.map((key) => [key, (totals[key] ?? 0) + (more[key] ?? 0)]);
  const failedByCode = NO_FAILURES.map(
    (_, code) => (totals.failedByCode?.[code] ?? 0) + (more.failedByCode?.[code] ?? 0),
  );
  return { ...Object.fromEntries(sums), failedByCode };
}

/** The node as a ledger uses it. */
export interface RunLedgerParts {
  /** Computes the payload digests of all runs. */
  readonly digester: PayloadDigester;
  /** A monotonic clock, ms. */
  readonly nowMs: () => number;
  /** Workers replaced since the node's start. */
  readonly replacedWorkers: () => number;
  /** Samples answered since the node's start that are in no ledger. */
  readonly unledgeredAnswers: () => number;
}

/** A part as its ledger counts it. */
interface CountedPart {
  readonly query: number;
  /** Samples of the whole query, as the part declares. */
  readonly querySampleCount: number;
  /** Samples that begin in this part. */
  readonly newSamples: number;
}

function tooManySamples({ query, querySampleCount }: CountedPart): StreamRefusal {
  return invalidArgument(
    `query ${query} has more samples than the ${querySampleCount} of its own account`,
  );
}

/** The node's counts of one run, over all its streams. Hot path: numbers only. */
export class RunLedger implements NodeTotals {
  readonly runId: string;
  readonly runCount = 1;
  queryCount = 0;
  partCount = 0;
  sampleCount = 0;
  payloadBytes = 0;
  completedCount = 0;
  /** Failed samples by FailureCode. */
  readonly failedByCode: number[] = [...NO_FAILURES];
  responseBytes = 0;
  streamCount = 0;
  /** Streams with the number of an earlier stream. */
  repeatedStreamCount = 0;
  readonly #streamIndices = new Set<number>();
  /** Samples without an answer because their stream was lost. Not on the wire. */
  droppedCount = 0;
  #openStreams = 0;
  #closedAtMs = 0;
  #queries = new RecentIds(REMEMBERED_MIN);
  readonly #partial = new Map<number, { readonly sampleCount: number; seen: number }>();
  /** A query left `#partial` before all its samples came. */
  #hasForgotten = false;
  #sampleIds = new RecentIds(REMEMBERED_MIN);
  /** Encodings of samples, by number. */
  readonly #encodings: (Encoding | undefined)[] = [];
  readonly #digester: PayloadDigester;
  readonly #nowMs: () => number;
  readonly #replacedWorkers: () => number;
  readonly #replacedAtBegin: number;
  #replacedAtEnd: number;
  readonly #beside: WorkBeside;
  #digest: PayloadDigestSum | undefined;
  /** Digests in progress. */
  #digestsUnderWay = 0;
  #isDigestLost = false;
  #whenDigested: (() => void)[] = [];

  constructor(runId: string, parts: RunLedgerParts, openRuns: Set<WorkBeside>) {
    this.runId = runId;
    this.#beside = new WorkBeside(openRuns, {
      answered: () => this.completedCount + this.failedCount,
      unledgered: parts.unledgeredAnswers,
    });
    this.#digester = parts.digester;
    this.#nowMs = parts.nowMs;
    this.#replacedWorkers = parts.replacedWorkers;
    this.#replacedAtBegin = parts.replacedWorkers();
    this.#replacedAtEnd = this.#replacedAtBegin;
  }

  /** Workers replaced between the run's first stream and the end of its last. */
  get replacedWorkerCount(): number {
    const now = this.#openStreams > 0 ? this.#replacedWorkers() : this.#replacedAtEnd;
    return now - this.#replacedAtBegin;
  }

  get failedCount(): number {
    return this.failedByCode.reduce((sum, count) => sum + count, 0);
  }

  /** Streams of the run that are open. */
  get openStreamCount(): number {
    return this.#openStreams;
  }

  /** @param codes FailureCode of each sample. */
  countFailures(codes: readonly number[]): void {
    for (const code of codes) this.failedByCode[code] = (this.failedByCode[code] ?? 0) + 1;
  }

  /** True if the run had streams, and the last of them ended before `timeMs`. */
  endedBefore(timeMs: number): boolean {
    return this.streamCount > 0 && this.#openStreams === 0 && this.#closedAtMs < timeMs;
  }

  /** Share of the samples to digest, in millionths; undefined before the first stream. */
  get digestPerMillion(): number | undefined {
    return this.#digest?.perMillion;
  }

  /**
   * @param digestPerMillion Equal on all streams of the run: see {@link RunLedgers.check}.
   * @param streamIndex Number of the stream; the first {@link STREAM_INDICES_MAX} are remembered.
   * @param address Address of the peer; empty: unknown.
   */
  openStream(digestPerMillion: number, streamIndex: number, address = ''): void {
    this.#digest ??= new PayloadDigestSum(digestPerMillion);
    assert.equal(this.#digest.perMillion, digestPerMillion);
    if (digestPerMillion > 0) this.#digester.prepare();
    this.streamCount += 1;
    if (this.#streamIndices.has(streamIndex)) this.repeatedStreamCount += 1;
    else if (this.#streamIndices.size < STREAM_INDICES_MAX) this.#streamIndices.add(streamIndex);
    if (this.#openStreams === 0) this.#beside.begin(address);
    this.#openStreams += 1;
  }

  closeStream(): void {
    this.#openStreams -= 1;
    if (this.#openStreams > 0) return;
    this.#beside.end();
    this.#closedAtMs = this.#nowMs();
    // The run is nearly over: counters stay, ids need not.
    this.#queries = new RecentIds(REMEMBERED_MIN);
    this.#sampleIds = new RecentIds(REMEMBERED_MIN);
    this.#partial.clear();
    this.#replacedAtEnd = this.#replacedWorkers();
  }

  /**
   * Counts a part. A node cannot know whether a query has fewer samples than declared: others may
   * have gone to other nodes.
   * @param part Its query, the query's declared samples, and those that begin in the part.
   * @throws StreamRefusal if a query has more samples than declared, or declares another number
   * than before.
   */
  countPart(part: CountedPart, bytes: number): void {
    const { query, querySampleCount, newSamples } = part;
    this.partCount += 1;
    this.payloadBytes += bytes;
    const partial = this.#partial.get(query);
    if (partial === undefined) {
      if (this.#queries.add(query)) this.#beginQuery(part);
      else if (newSamples > 0 && !this.#hasForgotten) throw tooManySamples(part);
      return;
    }
    if (partial.sampleCount !== querySampleCount) {
      throw invalidArgument(
        `query ${query} has ${querySampleCount} samples by its own account, ${partial.sampleCount} in an earlier part`,
      );
    }
    partial.seen += newSamples;
    if (partial.seen > querySampleCount) throw tooManySamples(part);
    if (partial.seen === querySampleCount) this.#partial.delete(query);
  }

  #beginQuery({ query, querySampleCount, newSamples }: CountedPart): void {
    this.queryCount += 1;
    if (newSamples >= querySampleCount) return;
    this.#partial.set(query, { sampleCount: querySampleCount, seen: newSamples });
    if (this.#partial.size <= PARTIAL_QUERIES_MAX) return;
    const [oldest] = this.#partial.keys();
    this.#partial.delete(oldest as number); // Present: the map is not empty.
    this.#hasForgotten = true;
  }

  /** Remembers the id of a sample; false if the run had it before. */
  addSampleId(id: number): boolean {
    return this.#sampleIds.add(id);
  }

  /**
   * Digests a complete payload if its id is chosen.
   * @param id Id of the sample; for the payload of a whole query: of the first sample in its part.
   */
  digestPayload(id: number, pieces: readonly Uint8Array[], bytes: number): void {
    const sum = this.#digest;
    if (sum === undefined || !sum.isChosen(id)) return;
    this.#digestsUnderWay += 1;
    this.#digester.digest(pieces, bytes, (digest) => {
      if (digest === undefined) this.#isDigestLost = true;
      else sum.add(id, digest);
      this.#digestsUnderWay -= 1;
      if (this.#digestsUnderWay > 0) return;
      for (const resolve of this.#whenDigested.splice(0)) resolve();
    });
  }

  /**
   * Records the encoding of a sample.
   * @param form The node's number of the encoding, equal on all streams.
   */
  addEncoding(form: number, encoding: Encoding | undefined): void {
    this.#encodings[form] = encoding;
  }

  /**
   * The ledger once all digests are complete.
   * @throws Error if digests were lost with their thread: a sum without them would look like a
   * fault.
   */
  async toWire(): Promise<LedgerResponse> {
    if (this.#digestsUnderWay > 0) {
      await new Promise<void>((resolve) => {
        this.#whenDigested.push(resolve);
      });
    }
    if (this.#isDigestLost) throw new Error('the thread that makes payload digests has ended');
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
      payloadDigest: this.#digest?.toBytes() ?? Buffer.alloc(0),
      digestedSampleCount: this.#digest?.count ?? 0,
      encodings: this.#encodings.filter((encoding) => encoding !== undefined),
      streamCount: this.streamCount,
      repeatedStreamCount: this.repeatedStreamCount,
      replacedWorkerCount: this.replacedWorkerCount,
      otherSampleCount: this.#beside.sampleCount,
      otherAddresses: this.#beside.addresses,
    };
  }
}

/** Ledgers of the latest runs. */
export class RunLedgers {
  readonly #runs = new Map<string, RunLedger>();
  readonly #parts: RunLedgerParts;
  readonly #open = new Set<WorkBeside>();
  /** Totals of forgotten runs: the node's counters never decrease. */
  #forgotten: Partial<NodeTotals> = {};

  constructor(parts: Partial<RunLedgerParts> = {}) {
    this.#parts = {
      digester: inlineDigester,
      nowMs: () => performance.now(),
      replacedWorkers: () => 0,
      unledgeredAnswers: () => 0,
      ...parts,
    };
  }

  /**
   * Checks that there is room for the stream's run, and its requested digests, before anything is
   * allocated.
   * @throws StreamRefusal
   */
  check({ runId, digestPerMillion, features }: Open__Output): void {
    const most = features.includes(PAYLOAD_DIGESTS_FEATURE) ? PER_MILLION : 0;
    if (digestPerMillion > most) {
      throw invalidArgument(
        `Open.digest_per_million is ${digestPerMillion}; with these Open.features it may be ${most} at most`,
      );
    }
    this.#forgetOldest();
    if (!this.#runs.has(runId) && this.#runs.size >= RECENT_RUNS_MAX) {
      throw resourceExhausted(
        `the node had ${this.#runs.size} runs within ${REMEMBERED_MS_MIN / 1e3} s and keeps their ledgers; ` +
          'it takes a new run once one of them is older',
      );
    }
    const known = this.#runs.get(runId)?.digestPerMillion ?? digestPerMillion;
    if (known !== digestPerMillion) {
      throw invalidArgument(
        `Open.digest_per_million is ${digestPerMillion}, another stream of run ${runId} said ${known}`,
      );
    }
  }

  /** The ledger of a run, made if new. */
  open(runId: string): RunLedger {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const ledger = new RunLedger(runId, this.#parts, this.#open);
    this.#runs.set(runId, ledger);
    return ledger;
  }

  /** A temporary ledger of a warm-up, whose samples do not reach the model. */
  apart(runId: string): RunLedger {
    return new RunLedger(runId, this.#parts, new Set());
  }

  /** @throws Error as {@link RunLedger.toWire}. */
  async toWire(runId: string): Promise<LedgerResponse> {
    return (await this.#runs.get(runId)?.toWire()) ?? { runId, known: false };
  }

  /** Totals of all runs since the node's start, forgotten ones included. */
  totals(): NodeTotals {
    return [...this.#runs.values()].reduce(plus, plus(this.#forgotten, {}));
  }

  /** A run with an open or recent stream is never forgotten. */
  #forgetOldest(): void {
    const timeMs = this.#parts.nowMs() - REMEMBERED_MS_MIN;
    for (const [runId, ledger] of this.#runs) {
      if (this.#runs.size < RUNS_MAX) return;
      if (!ledger.endedBefore(timeMs)) continue;
      this.#runs.delete(runId);
      this.#forgotten = plus(this.#forgotten, ledger);
    }
  }
}
