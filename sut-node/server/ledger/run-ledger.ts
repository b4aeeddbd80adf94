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
 * A run that has ended is remembered for so long at least: its LoadGen node asks for the ledger within
 * seconds, and runs that others open meanwhile must not push it out.
 */
const REMEMBERED_MS_MIN = 60_000;

/** Runs of the last {@link REMEMBERED_MS_MIN}, some 20 KiB each: a peer that opens more is refused. */
const RECENT_RUNS_MAX = 1_024;

/** Ids and query numbers of which a repeated one is noticed: more than a queue holds. */
const REMEMBERED_MIN = 262_144;

/**
 * Queries that are here in part and of which more may come. A query that is spread over nodes stays so for ever, and one that
 * has left this list gets no second look: parts of a query follow one another.
 */
const PARTIAL_QUERIES_MAX = 4_096;

/** Streams of a run of which a repeated number is noticed: more than a run has. */
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
  /** Failed samples, each in the place of its FailureCode. */
  readonly failedByCode: readonly number[];
}

const NO_FAILURES: readonly number[] = Object.values(FAILURE_CODES).map(() => 0);

/** Totals with something more in them. */
export function plus(totals: Partial<NodeTotals>, more: Partial<NodeTotals>): NodeTotals {
  const sums = COUNTERS.map((key) => [key, (totals[key] ?? 0) + (more[key] ?? 0)]);
  const failedByCode = NO_FAILURES.map(
    (_, code) => (totals.failedByCode?.[code] ?? 0) + (more.failedByCode?.[code] ?? 0),
  );
  return { ...Object.fromEntries(sums), failedByCode };
}

/** The node, as a ledger uses it. */
export interface RunLedgerParts {
  /** Makes the payload digests of all runs. */
  readonly digester: PayloadDigester;
  /** A clock that never goes back, in ms. */
  readonly nowMs: () => number;
  /** Workers that the node replaced since its start. */
  readonly replacedWorkers: () => number;
  /** Samples that the node answered since its start, and that are in no ledger. */
  readonly unledgeredAnswers: () => number;
}

/** A part as its ledger counts it. */
interface CountedPart {
  readonly query: number;
  /** Of the whole query, by its own account. */
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
  /** Failed samples, each in the place of its FailureCode. */
  readonly failedByCode: number[] = [...NO_FAILURES];
  responseBytes = 0;
  streamCount = 0;
  /** Of them those with the number of an earlier one. */
  repeatedStreamCount = 0;
  readonly #streamIndices = new Set<number>();
  /** Samples that got no answer because their stream was gone. Not on the wire. */
  droppedCount = 0;
  #openStreams = 0;
  #closedAtMs = 0;
  #queries = new RecentIds(REMEMBERED_MIN);
  readonly #partial = new Map<number, { readonly sampleCount: number; seen: number }>();
  /** A query has left `#partial` before all its samples came. */
  #hasForgotten = false;
  #sampleIds = new RecentIds(REMEMBERED_MIN);
  /** Encodings that samples had, each in the place of its number. */
  readonly #encodings: (Encoding | undefined)[] = [];
  readonly #digester: PayloadDigester;
  readonly #nowMs: () => number;
  readonly #replacedWorkers: () => number;
  readonly #replacedAtBegin: number;
  #replacedAtEnd: number;
  readonly #beside: WorkBeside;
  #digest: PayloadDigestSum | undefined;
  /** Digests that are being made. */
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

  /** Workers that were replaced from the run's first stream to the end of its last. */
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

  /** True when the run had its streams, and the last of them ended before the time given, in ms. */
  endedBefore(timeMs: number): boolean {
    return this.streamCount > 0 && this.#openStreams === 0 && this.#closedAtMs < timeMs;
  }

  /** Share of the samples to digest, in millionths; undefined before the first stream. */
  get digestPerMillion(): number | undefined {
    return this.#digest?.perMillion;
  }

  /**
   * @param digestPerMillion The same on all streams of the run: see {@link RunLedgers.check}.
   * @param streamIndex Number of the stream; the numbers of the first {@link STREAM_INDICES_MAX} are remembered.
   * @param address Of the peer; empty: not known.
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
    // The run is over, or all but: the counters stay, the ids need not.
    this.#queries = new RecentIds(REMEMBERED_MIN);
    this.#sampleIds = new RecentIds(REMEMBERED_MIN);
    this.#partial.clear();
    this.#replacedAtEnd = this.#replacedWorkers();
  }

  /**
   * Counts a part. A node cannot know whether a query has fewer samples than declared: the others may have gone
   * to other nodes.
   * @param part Its query, the samples that this has by its own account, and those that begin in the part.
   * @throws StreamRefusal when a query has more samples than it says, or says another number than before.
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
    this.#partial.delete(oldest as number); // There is one: the map is not empty.
    this.#hasForgotten = true;
  }

  /** Remembers the id of a sample; false when the run had it before. */
  addSampleId(id: number): boolean {
    return this.#sampleIds.add(id);
  }

  /**
   * Digests a payload that has arrived whole, if its id is one that is digested.
   * @param id The sample's; of the payload of a whole query: that of the first sample in its part.
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
   * Notes how a sample came.
   * @param form The node's number of the encoding, the same on all streams.
   */
  addEncoding(form: number, encoding: Encoding | undefined): void {
    this.#encodings[form] = encoding;
  }

  /**
   * The ledger once all digests are in it.
   * @throws Error when digests were lost with their thread: a sum without them would look like a fault.
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

/** The ledgers of the last runs. */
export class RunLedgers {
  readonly #runs = new Map<string, RunLedger>();
  readonly #parts: RunLedgerParts;
  readonly #open = new Set<WorkBeside>();
  /** Of the runs that are forgotten: counters of the node never go back. */
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
   * Checks whether there is room for the run of a stream, and what it wants to have digested, before
   * anything is made for it.
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

  /** The ledger of a run, made when it is new. */
  open(runId: string): RunLedger {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const ledger = new RunLedger(runId, this.#parts, this.#open);
    this.#runs.set(runId, ledger);
    return ledger;
  }

  /** A ledger that is not kept, and whose samples take nothing of the model: of a warm-up. */
  apart(runId: string): RunLedger {
    return new RunLedger(runId, this.#parts, new Set());
  }

  /** @throws Error as {@link RunLedger.toWire}. */
  async toWire(runId: string): Promise<LedgerResponse> {
    return (await this.#runs.get(runId)?.toWire()) ?? { runId, known: false };
  }

  /** Of all runs since the node's start, those that are forgotten included. */
  totals(): NodeTotals {
    return [...this.#runs.values()].reduce(plus, plus(this.#forgotten, {}));
  }

  /** A run that has a stream, or had one a moment ago, is never forgotten. */
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
