import assert from 'node:assert';
import type {
  OipMethod,
  OipModelFacts,
  OipRequestPlan,
  OipWaysCompared,
} from '../../../../shared/wire/oip/request-plan.ts';
import type { DispatchSettings } from '../../../settings/dispatch-settings.ts';
import type { RequestWayEvents } from '../channel/call-way.ts';
import { OipConnection, OUTSTANDING_BYTES_MAX } from '../channel/oip-channel.ts';
import { type Gathered, type PendingRequest, statusText } from '../channel/response-gatherer.ts';
import { describeOipModels } from '../node/model-facts.ts';
import { oipOf } from '../settings/oip-settings.ts';
import { fullCount, TrialRequests } from './try-request.ts';

/**
 * Concurrent requests at first; doubled until those on the stream take long enough to distinguish
 * queueing from noise.
 */
const REQUESTS_MIN = 2;
const REQUESTS_MAX = 16;
const BURST_MS = 100;

/**
 * The stream is the limit if it takes this many times as long as calls. Two serial requests take 2
 * times.
 */
const SLOWER = 1.5;

/** Rounds that must agree, and the time after which the rounds so far decide. */
const AGREEING_ROUNDS = 3;
const ROUNDS_MS = 10_000;

/** Options of {@link compareOipWays}. */
interface OipWaysAsked {
  /** The alternative: calls, or a stream per request. */
  readonly calls: OipMethod;
  /** Payload of one sample, in the form of the plan. */
  readonly payload: Uint8Array;
}

/**
 * Measures whether nodes handle the requests of one stream serially, which makes a server with many
 * workers look like one with a single worker. Untimed: sends the same number of concurrent requests
 * on one stream and in separate calls, in turns, until three rounds agree. A server with one worker
 * takes equally long both ways, and so does one that batches requests.
 * @param settings With a plan that the nodes accepted and whose method is `stream`.
 * @throws MlperfError `ERR_SUT_UNREACHABLE`
 */
export async function compareOipWays(
  settings: DispatchSettings,
  asked: OipWaysAsked,
): Promise<readonly OipWaysCompared[]> {
  const facts = await describeOipModels(settings);
  return Promise.all(facts.map((ofNode) => compareOn(settings, ofNode, asked)));
}

async function compareOn(
  settings: DispatchSettings,
  facts: OipModelFacts,
  asked: OipWaysAsked,
): Promise<OipWaysCompared> {
  const countMax = countAtOnceMax(settings, asked);
  if (countMax < REQUESTS_MIN) return summaryOf(facts.address, [], 0);
  const connections: OipConnection[] = [];
  try {
    const [stream, calls] = [await burstsOf('stream'), await burstsOf(asked.calls)];
    let requestCount = REQUESTS_MIN;
    let trialCount = 0;
    let rounds: Round[] = [];
    let isStreamFirst = false;
    const begin = performance.now();
    do {
      const round = await oneRound(requestCount, isStreamFirst, { stream, calls });
      trialCount += 2 * requestCount;
      // The two ways take turns in going first: the first one warms the server up.
      isStreamFirst = !isStreamFirst;
      if (requestCount < countMax && isTooShort(round)) {
        requestCount = Math.min(2 * requestCount, countMax);
        rounds = [];
      } else {
        rounds.push(round);
      }
    } while (!isDecided(rounds, performance.now() - begin));
    return summaryOf(facts.address, rounds, trialCount);
  } finally {
    await Promise.all(connections.map((connection) => connection.calls.close()));
  }

  /**
   * Each way has its own connection: if the server takes one call at a time, the stream is that
   * call.
   */
  async function burstsOf(method: OipMethod): Promise<Bursts> {
    const connection = new OipConnection(facts.address, settings);
    connections.push(connection);
    await connection.calls.ready;
    const plan = { ...planOf(settings), method };
    const { payload } = asked;
    const bursts = new RequestBursts(
      (events) => new TrialRequests({ settings, facts, plan, payload, connection }, events),
    );
    connection.add(bursts);
    return (count) => bursts.run(count, settings.readyTimeoutMs);
  }
}

/** Sends `count` concurrent requests one way. */
type Bursts = (count: number) => Promise<BurstOutcome>;

/** One burst per way. */
interface Round {
  readonly requestCount: number;
  readonly stream: BurstOutcome;
  readonly calls: BurstOutcome;
}

async function oneRound(
  requestCount: number,
  isStreamFirst: boolean,
  { stream, calls }: { readonly stream: Bursts; readonly calls: Bursts },
): Promise<Round> {
  if (isStreamFirst) {
    const streamed = await stream(requestCount);
    return { requestCount, stream: streamed, calls: await calls(requestCount) };
  }
  const called = await calls(requestCount);
  return { requestCount, calls: called, stream: await stream(requestCount) };
}

/** True if all succeeded too fast to distinguish queueing from noise. */
function isTooShort({ stream, calls }: Round): boolean {
  return 'ms' in stream && 'ms' in calls && stream.ms < BURST_MS;
}

function planOf(settings: DispatchSettings): OipRequestPlan {
  const { plan } = oipOf(settings);
  assert(plan?.method === 'stream', 'a plan of requests on a stream is missing');
  return plan;
}

/** Most concurrent requests within a run's limit of outstanding samples. */
function countAtOnceMax(settings: DispatchSettings, asked: OipWaysAsked): number {
  const samples = fullCount(settings, planOf(settings), asked.payload);
  const bytes = samples * asked.payload.length;
  return Math.min(
    REQUESTS_MAX,
    Math.floor(settings.nodeOutstandingMax / samples),
    Math.max(REQUESTS_MIN, Math.floor(OUTSTANDING_BYTES_MAX / Math.max(1, bytes))),
  );
}

function isDecided(rounds: readonly Round[], elapsedMs: number): boolean {
  if (rounds.length === 0) return false;
  if (rounds.some(({ stream, calls }) => 'failure' in stream || 'failure' in calls)) return true;
  const slowCount = rounds.filter(isSlow).length;
  const others = rounds.length - slowCount;
  if (Math.max(slowCount, others) >= AGREEING_ROUNDS) return true;
  return elapsedMs > ROUNDS_MS && slowCount !== others;
}

/** True if the stream took longer than calls, or broke. If calls broke, there is no comparison. */
function isSlow({ requestCount, stream, calls }: Round): boolean {
  if ('failure' in calls) return false;
  if ('failure' in stream) return true;
  // With two requests, if one was answered meanwhile, neither waited for the other.
  const mayWait = stream.isInTurn || requestCount > 2;
  return mayWait && stream.ms >= SLOWER * calls.ms;
}

function summaryOf(address: string, rounds: readonly Round[], trialCount: number): OipWaysCompared {
  const streams = rounds.map(({ stream }) => stream);
  const calls = rounds.map(({ calls: outcome }) => outcome);
  return {
    address,
    trialCount,
    requestCount: rounds[0]?.requestCount ?? 1,
    isStreamTheLimit: rounds.filter(isSlow).length * 2 > rounds.length,
    ...medianOf(rounds),
    isInTurn: streams.every((outcome) => 'isInTurn' in outcome && outcome.isInTurn),
    streamFailure: failureOf(streams),
    callsFailure: failureOf(calls),
  };
}

/** The round with the median ratio: it represents the verdict. */
function medianOf(rounds: readonly Round[]): {
  readonly streamMs: number;
  readonly callsMs: number;
} {
  const times = rounds.flatMap(({ stream, calls }) =>
    'ms' in stream && 'ms' in calls ? [{ streamMs: stream.ms, callsMs: calls.ms }] : [],
  );
  const sorted = times.toSorted((x, y) => x.streamMs / x.callsMs - y.streamMs / y.callsMs);
  return sorted[times.length >> 1] ?? { streamMs: Number.NaN, callsMs: Number.NaN };
}

function failureOf(outcomes: readonly BurstOutcome[]): string | undefined {
  const failed = outcomes.find((outcome) => 'failure' in outcome);
  return failed === undefined ? undefined : (failed as { readonly failure: string }).failure;
}

/** Outcome of concurrent requests: time until all were answered, or the failure. */
type BurstOutcome =
  | {
      readonly ms: number;
      /** True if nothing came of a later request before the earlier ones were answered. */
      readonly isInTurn: boolean;
    }
  | { readonly failure: string };

/** Repeated bursts of concurrent requests over one way: untimed, before a run. */
class RequestBursts implements RequestWayEvents {
  readonly #requests: TrialRequests;
  #burst: Burst | undefined;
  #nextId = 0;

  /** @param open Makes the request way, which reports here. */
  constructor(open: (events: RequestWayEvents) => TrialRequests) {
    this.#requests = open(this);
  }

  /** Runs one burst at a time. */
  run(count: number, timeoutMs: number): Promise<BurstOutcome> {
    return new Promise((resolve) => {
      const end = (outcome: BurstOutcome): void => {
        clearTimeout(timer);
        this.#burst = undefined;
        resolve(outcome);
      };
      const failure = `${count} concurrent requests were not answered within ${timeoutMs} ms`;
      const timer = setTimeout(() => end({ failure }), timeoutMs);
      const begin = performance.now();
      this.#burst = { count, begin, end, sentCount: 0, open: new Set(), isInTurn: true };
      this.onRoom();
    });
  }

  onRoom(): void {
    const burst = this.#burst;
    if (burst === undefined) return;
    const { way, payloads } = this.#requests;
    while (burst.sentCount < burst.count && way.hasRoom && way.takesRequest) {
      const id = this.#nextId;
      this.#nextId += payloads.length;
      burst.sentCount += 1;
      burst.open.add(id);
      this.#requests.send(id);
    }
  }

  onGathered({ ids: [id = Number.NaN] }: PendingRequest, gathered: Gathered): void {
    const burst = this.#burst;
    if (burst === undefined) return;
    if (gathered.kind === 'failed') {
      burst.end({ failure: gathered.text });
      return;
    }
    const [oldest] = burst.open;
    if (oldest !== id) burst.isInTurn = false;
    if (gathered.kind === 'more') return;
    burst.open.delete(id);
    if (burst.open.size > 0 || burst.sentCount < burst.count) {
      this.onRoom();
      return;
    }
    burst.end({ ms: performance.now() - burst.begin, isInTurn: burst.isInTurn });
  }

  /** Calls lost with the connection report it themselves. */
  onConnectionClosed(): boolean {
    return false;
  }

  onHandOver(): void {
    this.#requests.way.moveOn();
  }

  onRepeated(): void {}

  onUnavailable(_request: PendingRequest | undefined, details: string): void {
    this.#burst?.end({ failure: details });
  }

  onUnasked(): void {
    this.#burst?.end({ failure: "the response has another request's id, or none" });
  }

  onStreamEnd(code: number, details: string): void {
    this.#burst?.end({ failure: `the server ended the stream: ${statusText(code, details)}` });
  }
}

/** A burst in progress. */
interface Burst {
  readonly count: number;
  readonly begin: number;
  readonly end: (outcome: BurstOutcome) => void;
  sentCount: number;
  /** Ids of requests without their last response, oldest first. */
  readonly open: Set<number>;
  isInTurn: boolean;
}
