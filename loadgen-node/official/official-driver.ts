import { type BorrowedBytes, readInPlace } from '../../shared/base/bytes/borrowed-bytes.ts';
import { configInvalid, internalError, messageOf } from '../../shared/base/errors/mlperf-error.ts';
import { printText } from '../../shared/base/process/terminal.ts';
import type { DrivenSet, DriverEnd, IssueDriver } from '../loadgen/engine/issue/issue-driver.ts';
import {
  type BridgeAddon,
  type BridgeOptions,
  type BridgeViews,
  HAS_MORE,
  REQUEST,
} from './addon.ts';
import { DrivenQueries } from './driven-queries.ts';

/** Entries of the rings: LoadGen waits while they are full. */
const QUERY_RING = 2 ** 18;
const SAMPLE_RING = 2 ** 20;

/** Most responses, and most bytes, passed to LoadGen in one call. */
const DONE_MAX = 2 ** 14;
const ARENA_BYTES = 2 ** 20;
const SMALL_BYTES_MAX = 16;
const DONE_FIELDS = 4;

function makeViews(): BridgeViews {
  return {
    tails: new Int32Array(2),
    stamps: new Float64Array(QUERY_RING),
    queries: new Uint32Array(2 * QUERY_RING),
    samples: new Uint32Array(SAMPLE_RING),
    done: new Int32Array(DONE_FIELDS * DONE_MAX),
    arena: new Uint8Array(ARENA_BYTES),
  };
}

/** Number of reading pairs in {@link clockOffsetNs}. */
const CLOCK_READINGS = 50;

/** The set's clock - CLOCK_MONOTONIC, from the pair of readings that took the least time. */
function clockOffsetNs(set: DrivenSet): number {
  let bestNs = Number.POSITIVE_INFINITY;
  let offsetNs = 0;
  for (let i = 0; i < CLOCK_READINGS; i += 1) {
    const before = process.hrtime.bigint();
    const nowNs = set.nowNs();
    const tookNs = Number(process.hrtime.bigint() - before);
    if (tookNs >= bestNs) continue;
    bestNs = tookNs;
    offsetNs = nowNs - (Number(before) + tookNs / 2);
  }
  return offsetNs;
}

/** A rendezvous between a request of LoadGen and the engine's answer. */
function meeting<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  // If nobody waits yet, the next caller gets the error.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

/**
 * MLPerf's C++ LoadGen as the driver of a test. Each wake handles everything in the rings.
 * Responses that arrive together are passed in one call, as LoadGen's interface allows: those of
 * one event loop turn, in SingleStream and MultiStream those of one query. No query is batched,
 * delayed or answered here.
 */
export class OfficialDriver implements IssueDriver {
  readonly #addon: BridgeAddon;
  readonly #options: BridgeOptions;
  /** Reads the logs after the test has ended. */
  readonly #readLogs: () => Promise<Omit<DriverEnd, 'otherSamples'>>;
  readonly #views = makeViews();
  #name: () => Promise<string> = () => Promise.resolve('');
  #nextSet = meeting<ArrayLike<number>>();
  readonly #ended = meeting<void>();
  #queries: DrivenQueries | null = null;
  #set: DrivenSet | null = null;
  #queryHead = 0;
  #queryTail = 0;
  #isReading = false;
  #sampleTail = 0;
  /** Issued samples that are not complete. */
  #outstanding = 0;
  #doneCount = 0;
  #arenaEnd = 0;
  #hasPlannedFlush = false;
  #otherSamples = 0;
  readonly #differences = new Set<string>();

  constructor(
    addon: BridgeAddon,
    options: BridgeOptions,
    readLogs: () => Promise<Omit<DriverEnd, 'otherSamples'>>,
  ) {
    this.#addon = addon;
    this.#options = options;
    this.#readLogs = readLogs;
  }

  begin(name: () => Promise<string>): void {
    this.#name = name;
    const exit = (code: number): void => this.#addon.hardExit(code);
    // Node.js prints uncaught errors after `exit`, where this process ends.
    const tell = (error: Error): void =>
      printText(process.stderr, `${error.stack ?? error.message}\n`);
    process.on('uncaughtExceptionMonitor', tell);
    // A normal exit would run destructors of statics that LoadGen's threads use; after a completed
    // test there are no threads.
    process.on('exit', exit);
    void this.#ended.promise.then(() => {
      process.off('exit', exit);
      process.off('uncaughtExceptionMonitor', tell);
    });
    try {
      this.#addon.start(this.#options, this.#views, this.#onEvent);
    } catch (error) {
      process.off('exit', exit);
      process.off('uncaughtExceptionMonitor', tell);
      throw configInvalid(messageOf(error));
    }
  }

  nextSet(): Promise<ArrayLike<number>> {
    return this.#nextSet.promise;
  }

  drive(set: DrivenSet): void {
    this.#set = set;
    this.#queries = new DrivenQueries(set.plan, this.#options.issueThreads);
    this.#nextSet = meeting();
    this.#addon.reply();
  }

  readonly complete = (sample: number, payload: BorrowedBytes, tokenCount: number): void => {
    const slot = this.#queries?.slotOf(sample) ?? sample;
    const { length } = payload;
    this.#outstanding -= 1;
    if (length > ARENA_BYTES) {
      this.#flush();
      this.#read(this.#addon.completeOne(slot, readInPlace(payload), tokenCount));
      return;
    }
    if (this.#doneCount === DONE_MAX || this.#arenaEnd + length > ARENA_BYTES) this.#flush();
    const { done, arena } = this.#views;
    const at = DONE_FIELDS * this.#doneCount;
    done[at] = slot;
    done[at + 1] = this.#arenaEnd;
    done[at + 2] = length;
    done[at + 3] = tokenCount;
    const bytes = readInPlace(payload);
    // Faster than `set` for a few numbers.
    if (length > SMALL_BYTES_MAX) arena.set(bytes, this.#arenaEnd);
    else for (let i = 0; i < length; i += 1) arena[this.#arenaEnd + i] = bytes[i] as number;
    this.#arenaEnd += length;
    this.#doneCount += 1;
    if (this.#outstanding === 0) {
      // Nothing else can complete with it; in SingleStream and MultiStream LoadGen waits for it.
      this.#flush();
      return;
    }
    if (this.#hasPlannedFlush) return;
    this.#hasPlannedFlush = true;
    queueMicrotask(this.#flush);
  };

  readonly firstToken = (sample: number, payload: BorrowedBytes): void => {
    this.#addon.firstToken(this.#queries?.slotOf(sample) ?? sample, readInPlace(payload));
  };

  handOn(): void {
    this.#flush();
  }

  async ended(): Promise<DriverEnd> {
    await this.#ended.promise;
    const logs = await this.#readLogs();
    const differences = [...this.#differences, ...logs.differences];
    return { ...logs, otherSamples: this.#otherSamples, differences };
  }

  /** Passes all responses of this turn to LoadGen. */
  readonly #flush = (): void => {
    this.#hasPlannedFlush = false;
    const count = this.#doneCount;
    if (count === 0) return;
    this.#doneCount = 0;
    this.#arenaEnd = 0;
    this.#read(this.#addon.complete(count));
  };

  readonly #onEvent = (
    queryHead: number,
    _sampleHead: number,
    request: number,
    detail: Uint32Array | string | undefined,
  ): void => {
    this.#read(queryHead);
    try {
      this.#answer(request, detail);
    } catch (error) {
      this.#breakOff(messageOf(error));
    }
  };

  /**
   * Reads queries up to this head. A query that completes when it is issued calls this again; the
   * first call then continues.
   */
  #read(queryHead: number): void {
    this.#queryHead = Math.max(this.#queryHead, queryHead);
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      this.#readQueries();
    } catch (error) {
      this.#breakOff(messageOf(error));
    } finally {
      this.#isReading = false;
    }
  }

  #readQueries(): void {
    const { tails, stamps, queries, samples } = this.#views;
    while (this.#queryTail < this.#queryHead) {
      const at = this.#queryTail % QUERY_RING;
      const entry = queries[2 * at] as number;
      const count = (entry & ~HAS_MORE) >>> 0;
      const set = this.#set;
      const driven = this.#queries;
      if (set === null || driven === null) throw internalError('a query came before its set');
      const thread = queries[2 * at + 1] as number;
      const first = driven.add(samples, this.#sampleTail, count, thread, entry >= HAS_MORE);
      const atNs = stamps[at] as number;
      this.#queryTail += 1;
      this.#sampleTail += count;
      this.#outstanding += count;
      Atomics.store(tails, 0, this.#queryTail | 0);
      Atomics.store(tails, 1, this.#sampleTail | 0);
      if (count === 0) {
        this.#otherSamples += driven.otherSamples;
        set.endIssuing();
      } else if (first !== undefined) set.issue(first.query, first.count, this.#clockOf(set, atNs));
    }
  }

  #offsetNs: number | undefined;

  /** Converts CLOCK_MONOTONIC, the bridge's time stamps, to the set's clock. */
  #clockOf(set: DrivenSet, atNs: number): number {
    this.#offsetNs ??= clockOffsetNs(set);
    return Math.min(set.nowNs(), Math.round(atNs + this.#offsetNs));
  }

  #answer(request: number, detail: Uint32Array | string | undefined): void {
    switch (request) {
      case REQUEST.name:
        this.#name().then(
          (name) => this.#addon.reply(name),
          (error: unknown) => this.#breakOff(messageOf(error)),
        );
        return;
      case REQUEST.load:
        this.#nextSet.resolve(detail as Uint32Array);
        return;
      case REQUEST.unload:
        // The engine unloads by itself.
        this.#addon.reply();
        return;
      case REQUEST.ended:
        this.#end(detail as string);
        return;
      default:
    }
  }

  #end(failure: string): void {
    this.#addon.release();
    this.#ended.resolve();
    if (failure !== '') this.#breakOff(failure);
    else
      this.#nextSet.reject(
        internalError('the C++ LoadGen ended its test and requests no further samples'),
      );
  }

  #breakOff(text: string): void {
    this.#differences.add(text);
    const error = internalError(`the C++ LoadGen's test broke: ${text}`);
    this.#set?.breakOff(error);
    // Before a set the engine waits for LoadGen's request.
    this.#nextSet.reject(error);
  }
}
