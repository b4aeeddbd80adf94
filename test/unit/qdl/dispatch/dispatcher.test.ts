import { describe, expect, it } from 'vitest';
import type {
  ChannelEvents,
  DispatchChannel,
  OutgoingPart,
} from '../../../../qdl/dispatch/dispatch-channel.ts';
import { Dispatcher } from '../../../../qdl/dispatch/dispatcher.ts';
import { OutstandingTable } from '../../../../qdl/dispatch/outstanding-table.ts';
import { createRouter, NodeLoad } from '../../../../qdl/dispatch/router.ts';
import { RunLedgerCounter } from '../../../../qdl/dispatch/run-ledger.ts';
import { TokenStreams } from '../../../../qdl/dispatch/token-streams.ts';
import {
  DISPATCH_POLICIES,
  type DispatchPolicy,
  type NodeLossPolicy,
} from '../../../../qdl/settings/dispatch-settings.ts';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import { ClaimBook, contradictsResult } from '../../../../shared/evidence/node-claims.ts';
import type { WireResponses } from '../../../../shared/wire/responses-codec.ts';
import { RecordingSink } from '../../../scenes/simulated-run/recording-sink.ts';

// Goal: whatever nodes, sockets and losses do, each sample ends once, parts hold one query, and no limit is exceeded.
// Method: a simulation without network or time. A seed decides who does the next step; the seed is in the title.

const SEED = Number(process.env['TEST_SEED'] ?? 1);
const NODES = 3;
const STREAMS = 6;
const SAMPLES = 400;
const STEPS = 20_000;
const NODE_OUTSTANDING_MAX = 12;
const LIMITS = { bytesMax: 64, samplesMax: 8, sampleBytesMax: 500 };

/** Bytes of the payload of each sample: most fit a part, some are larger, few are more than a node takes. */
function payloadBytes(sampleIndex: number): number {
  if (sampleIndex % 97 === 5) return 600;
  return sampleIndex % 13 === 3 ? 150 : 1 + (sampleIndex % 20);
}

/** A stream to a node that answers when the simulation says so. */
class SimulatedChannel implements DispatchChannel {
  readonly place: DispatchChannel['place'];
  readonly outstanding: OutstandingTable;
  tokenStreams: TokenStreams | null = null;
  readonly #onPart: (part: OutgoingPart) => void;
  /** Samples of which every byte has arrived, by wire id. */
  readonly arrived: number[] = [];
  hasRoom = true;
  isOpen = true;
  #creditSamples = LIMITS.samplesMax;
  #creditBytes = LIMITS.bytesMax;

  constructor(streamIndex: number, load: NodeLoad, onPart: (part: OutgoingPart) => void) {
    const nodeIndex = streamIndex % NODES;
    this.place = { address: `node${nodeIndex}`, nodeIndex, streamIndex, load };
    this.outstanding = new OutstandingTable({ streamIndex, streamCount: STREAMS, load });
    this.#onPart = onPart;
  }

  canTake(sampleCount: number, bytes: number): boolean {
    return this.hasRoom && this.hasCreditFor(sampleCount, bytes);
  }

  hasCreditFor(sampleCount: number, bytes: number): boolean {
    const hasCredit = sampleCount <= this.#creditSamples && bytes <= this.#creditBytes;
    return this.isOpen && hasCredit && this.outstanding.canTake(sampleCount);
  }

  /** Of a lost stream: nothing more is answered on it. */
  releaseAll(): Float64Array {
    this.arrived.length = 0;
    return this.outstanding.releaseAll();
  }

  send(part: OutgoingPart): void {
    this.#creditSamples -= part.sampleCount;
    this.#creditBytes -= part.bytes;
    this.#onPart(part);
    for (const { id, payload, offset, total } of part.samples) {
      if (total === 0 || offset + payload.length === total) this.arrived.push(id);
    }
  }

  faultOf: DispatchChannel['faultOf'] = () => undefined;
  readonly dropUnsent = (): void => {};
  retire(): void {
    this.isOpen = false;
  }

  /** Answers the sample at a place in the queue, and grants what it used. */
  answer(at: number, events: ChannelEvents): void {
    const [id] = this.arrived.splice(at % Math.max(1, this.arrived.length), 1);
    this.#creditSamples = LIMITS.samplesMax;
    this.#creditBytes = LIMITS.bytesMax;
    if (id === undefined) {
      events.onRoom();
      return;
    }
    const payload = new Uint8Array(4);
    const sample = { id, payload, encoding: 0, offset: 0, total: 0 };
    const completed = [{ ...sample, tokenCount: undefined, durations: undefined }];
    events.onResponses(this, { firstTokens: [], tokens: [], completed, failed: [] });
  }

  lose(events: ChannelEvents): void {
    this.isOpen = false;
    events.onLost(this, new MlperfError('ERR_SUT_LOST', `${this.place.address} is gone`));
  }
}

/** Limits that a part broke, and the query that each sample was issued in. */
class PartCheck {
  readonly breaches: string[] = [];
  readonly queryOfSample = new Uint32Array(SAMPLES);
  readonly #loads: readonly NodeLoad[];

  constructor(loads: readonly NodeLoad[]) {
    this.#loads = loads;
  }

  readonly onPart = ({ query, samples, bytes }: OutgoingPart): void => {
    const { bytesMax, samplesMax } = LIMITS;
    if (bytes > bytesMax || samples.length > samplesMax) this.breaches.push('a part is too large');
    if (samples.some(({ sampleIndex }) => this.queryOfSample[sampleIndex] !== query)) {
      this.breaches.push('a part holds two queries');
    }
    if (this.#loads.some((load) => load.outstanding > load.outstandingMax)) {
      this.breaches.push('a node has too many samples');
    }
  };
}

/** A dispatcher over {@link STREAMS} simulated channels. */
function scene(policy: DispatchPolicy, onNodeLoss: NodeLossPolicy) {
  const sink = new RecordingSink();
  const ledgers = Array.from({ length: NODES }, () => new RunLedgerCounter());
  const claims = ledgers.map(() => new ClaimBook());
  const payloads = {
    payloadOf: (index: number) => new Uint8Array(payloadBytes(index)),
    encoding: { form: 'raw', compression: 'identity' },
  };
  const parts = { sink, ledgers, claims, usages: [], onNodeLoss, onBreak: sink.fault.bind(sink) };
  const dispatcher = new Dispatcher({ payloads, ...parts });
  const loads = ledgers.map((_, i) => new NodeLoad(1 + i, NODE_OUTSTANDING_MAX));
  const check = new PartCheck(loads);
  const channels = Array.from(
    { length: STREAMS },
    (_, i) => new SimulatedChannel(i, loads[i % NODES] as NodeLoad, check.onPart),
  );
  const router = createRouter(policy, channels);
  dispatcher.begin({ channels, router, limits: LIMITS, decoders: [] });
  return { dispatcher, channels, router, sink, ledgers, claims, check };
}

/** A run of {@link SAMPLES} samples. @param loss Node 0 is lost in the middle, and this policy says what that means. */
function simulate(policy: DispatchPolicy, seed: number, loss?: NodeLossPolicy) {
  const random = new SeededRandom(seed, 0);
  const below = (limit: number): number => random.nextUint32() % limit;
  const run = scene(policy, loss ?? 'fail');
  const { dispatcher, channels, check } = run;
  // Sample index and response id run in opposite directions: neither may pass for the other.
  const sampleIndices = Uint32Array.from({ length: SAMPLES }, (_, i) => SAMPLES - 1 - i);
  const issue = (): void => {
    const { issuedQueries: id, issuedSamples: first } = dispatcher;
    const sampleCount = Math.min(1 + below(20), SAMPLES - first);
    for (const index of sampleIndices.subarray(first, first + sampleCount)) {
      check.queryOfSample[index] = id;
    }
    const place = { sampleIndices, sampleOffset: first, firstResponseId: first };
    dispatcher.issue({ id, ...place, sampleCount, responseIdStride: 1 });
  };
  const loseNode = (): void => {
    for (const one of channels) if (one.place.nodeIndex === 0) one.lose(dispatcher);
  };
  const step = (channel: SimulatedChannel): void => {
    if (below(4) === 0 && dispatcher.issuedSamples < SAMPLES) issue();
    else if (below(8) === 0) channel.hasRoom = !channel.hasRoom;
    else if (channel.isOpen) channel.answer(below(16), dispatcher);
  };
  for (let i = 0; i < STEPS; i += 1) {
    step(channels[below(STREAMS)] as SimulatedChannel);
    const isMiddle = dispatcher.issuedSamples > SAMPLES / 2;
    if (loss !== undefined && isMiddle && !dispatcher.lostNodes.has(0)) loseNode();
  }
  return run;
}

/** Response ids that ended, in ascending order. */
function endedIn({ sink }: ReturnType<typeof simulate>): number[] {
  return [...sink.completed, ...sink.failed].map(({ id }) => id).sort((a, b) => a - b);
}

const ALL = Array.from({ length: SAMPLES }, (_, i) => i);
describe.each(DISPATCH_POLICIES)('a run by %s', (policy) => {
  it.each([SEED, SEED + 1, SEED + 2])('ends each sample once, seed %i', (seed) => {
    const run = simulate(policy, seed);
    expect(run.check.breaches).toEqual([]);
    expect(endedIn(run)).toEqual(ALL);
    expect(run.dispatcher.isComplete).toBe(true);
    const tooLarge = ALL.filter((index) => payloadBytes(index) > LIMITS.sampleBytesMax);
    expect(run.sink.failed.map(({ failure }) => failure.code)).toEqual(tooLarge.map(() => 'limit'));
    const sum = (count: (ledger: RunLedgerCounter) => number): number =>
      run.ledgers.reduce((all, ledger) => all + count(ledger), 0);
    expect(sum((ledger) => ledger.completedCount)).toBe(SAMPLES - tooLarge.length);
    expect(sum((ledger) => ledger.payloadBytes)).toBe(
      ALL.filter((index) => !tooLarge.includes(index)).reduce((all, i) => all + payloadBytes(i), 0),
    );
  });

  it.each(['fail', 'drain', 'continue'] as const)('accounts for a lost node by %s', (loss) => {
    const run = simulate(policy, SEED, loss);
    expect(run.check.breaches).toEqual([]);
    expect(run.dispatcher.issuedSamples).toBe(SAMPLES);
    expect(endedIn(run)).toEqual(ALL);
    // Each of the node's streams is lost: it is one event.
    expect(run.sink.faults).toHaveLength(loss === 'continue' ? 0 : 1);
    const isNotSent = run.sink.failed.some(({ failure }) => failure.code === 'not-sent');
    expect([isNotSent, run.sink.late.length > 0]).toEqual([loss !== 'continue', loss === 'fail']);
  });
});

const PLACE = { id: 0, firstResponseId: 0, sampleIndices: Uint32Array.of(0), sampleOffset: 0 };

it.each(['decoder', 'channel'])('a response that its %s refuses is lost', (who) => {
  const { dispatcher, channels, router, sink } = scene('round-robin', 'fail');
  const decode = (): never => {
    throw new Error('damaged');
  };
  const decoders = who === 'decoder' ? channels.map(() => ({ decode, takesTime: false })) : [];
  const fault = who === 'channel' ? { code: 'bad-response', text: 'damaged' } : undefined;
  dispatcher.begin({ channels, router, limits: LIMITS, decoders });
  dispatcher.issue({ ...PLACE, sampleCount: 1, responseIdStride: 1 });
  for (const one of channels) Object.assign(one, { faultOf: () => fault }).answer(0, dispatcher);
  const failure = { code: 'bad-response', text: 'SUT node node0: damaged' };
  expect([sink.completed, sink.failed]).toEqual([[], [{ id: 0, failure }]]);
});

it('a response after all samples had theirs is a claim of the node', () => {
  const { dispatcher, channels, claims } = scene('round-robin', 'fail');
  dispatcher.issue({ ...PLACE, sampleCount: 1, responseIdStride: 1 });
  for (const channel of channels) channel.answer(0, dispatcher);
  dispatcher.stop();
  const sample = { id: 1, payload: new Uint8Array(4), encoding: 0, offset: 0, total: 0 };
  const completed = [{ ...sample, tokenCount: undefined, durations: undefined }];
  const [channel] = channels as [SimulatedChannel];
  dispatcher.onResponses(channel, { firstTokens: [], tokens: [], completed, failed: [] });
  expect(claims[0]?.toClaims()).toMatchObject([{ kind: 'late-response', count: 1 }]);
});

describe('tokens that a node tells as they come', () => {
  const ID_BYTES = 4;
  const ids = (...list: number[]): Buffer => Buffer.from(Int32Array.from(list).buffer);

  /** One sample on the wire: its wire id, and what LoadGen hears. */
  function streaming(bytesOfEach?: number) {
    const { dispatcher, channels, claims, sink } = scene('round-robin', 'fail');
    const heard: string[] = [];
    sink.firstToken = () => heard.push('first');
    sink.tokens = (id, count) => heard.push(`${id}: ${count}`);
    for (const channel of channels)
      channel.tokenStreams = new TokenStreams(channel.outstanding, bytesOfEach);
    dispatcher.issue({ ...PLACE, sampleCount: 1, responseIdStride: 1 });
    const channel = channels.find(({ outstanding }) => outstanding.count > 0) as SimulatedChannel;
    const [wireId] = channel.arrived as [number];
    const say = (responses: Partial<WireResponses>): void => {
      const none = { firstTokens: [], tokens: [], completed: [], failed: [] };
      dispatcher.onResponses(channel, { ...none, ...responses });
    };
    const complete = (payload: Buffer, tokenCount = payload.length / ID_BYTES): void => {
      const plain = { encoding: 0, durations: undefined, offset: 0, total: 0 };
      say({ completed: [{ id: wireId, payload, tokenCount, ...plain }] });
    };
    const claim = () => claims[channel.place.nodeIndex]?.toClaims() ?? [];
    return { say, complete, claim, heard, sink, wireId };
  }

  it('reach LoadGen as counts, and are held against the response', () => {
    const { say, complete, claim, heard, sink, wireId } = streaming();
    say({
      tokens: [{ id: wireId, payload: ids(8, 9) }],
      firstTokens: [{ id: wireId, payload: ids(7) }],
    });
    say({ tokens: [{ id: wireId, payload: ids(10) }] });
    complete(ids(7, 8, 9, 10, 11));
    expect(heard).toEqual(['first', '0: 2', '0: 1']);
    expect(claim()).toEqual([]);
    expect(sink.completed).toHaveLength(1);
  });

  it.each<[what: string, text: RegExp, (s: ReturnType<typeof streaming>) => void]>([
    [
      'other bytes than the response has',
      /^told other tokens/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: ids(9) }] });
        complete(ids(7, 8, 9));
      },
    ],
    [
      'another first token',
      /^told other tokens/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(6) }] });
        say({ tokens: [{ id: wireId, payload: ids(8) }] });
        complete(ids(7, 8, 9));
      },
    ],
    [
      'more tokens than the count says',
      /^told 3 tokens of a response that has 2$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: ids(8, 9) }] });
        complete(ids(7, 8, 9), 2);
      },
    ],
    [
      'more bytes than the response',
      /^told 12 bytes of tokens of a response that has 8$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: ids(8, 9) }] });
        complete(ids(7, 8), 3);
      },
    ],
    [
      'half a token',
      /^told 6 bytes of tokens, whose first one has 4$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: Buffer.alloc(6) }] });
        complete(ids(7, 0));
      },
    ],
    [
      'no token',
      /^told 0 bytes of tokens/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: ids() }] });
        complete(ids(7, 8));
      },
    ],
    [
      'a first token of no bytes',
      /^told a first token of no bytes$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids() }] });
        complete(ids(7, 8));
      },
    ],
    [
      'a first token that the response does not begin with',
      /^told other tokens than the response has$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(99) }] });
        complete(ids(7, 8));
      },
    ],
    [
      'tokens before the first',
      /^told tokens of a sample before its first one$/,
      ({ say, complete, wireId }) => {
        say({ tokens: [{ id: wireId, payload: ids(7) }] });
        complete(ids(7, 8));
      },
    ],
  ])('as %s contradict the result', (_what, text, play) => {
    const one = streaming();
    play(one);
    const [claim, ...others] = one.claim();
    expect(claim).toMatchObject({ kind: 'token-stream', count: 1 });
    expect(claim?.text).toMatch(text);
    expect(claim && contradictsResult(claim)).toBe(true);
    expect(others).toEqual([]);
  });

  it.each([ID_BYTES, undefined])('are as many as the response has bytes for', (bytesOfEach) => {
    const { say, complete, claim, wireId } = streaming(bytesOfEach);
    say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
    complete(ids(7, 8), 4);
    const text = 'counted 4 tokens in a response of 8 bytes, where each has 4';
    expect(claim()).toEqual([{ kind: 'token-stream', count: 1, text }]);
  });

  it.each([
    ['an id that never was', 1_000 * STREAMS],
    ['a sample that was answered', undefined],
  ])('of %s are of no sample', (_what, other) => {
    const { say, complete, claim, heard, wireId } = streaming();
    say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
    complete(ids(7, 8));
    say({ tokens: [{ id: other ?? wireId, payload: ids(8) }] });
    // LoadGen's sink counts that as a broken contract.
    expect(heard).toEqual(['first', '-1: 0']);
    expect(claim()).toEqual([]);
  });
});
