import { describe, expect, it } from 'vitest';
import type {
  ChannelEvents,
  DispatchChannel,
  OutgoingPart,
  UnsentRest,
} from '../../../../qdl/dispatch/dispatch-channel.ts';
import { Dispatcher } from '../../../../qdl/dispatch/dispatcher.ts';
import { OutstandingTable } from '../../../../qdl/dispatch/outstanding-table.ts';
import { createRouter, NodeLoad } from '../../../../qdl/dispatch/router.ts';
import { RunLedgerCounter } from '../../../../qdl/dispatch/run-ledger.ts';
import {
  DISPATCH_POLICIES,
  type DispatchPolicy,
  type NodeLossPolicy,
} from '../../../../qdl/settings/dispatch-settings.ts';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import { ClaimBook } from '../../../../shared/evidence/node-claims.ts';
import { RecordingSink } from '../../../scenes/simulated-run/recording-sink.ts';

// Goal: whatever nodes, sockets and losses do, each sample ends once, parts hold one query, and no
// limit is exceeded. Method: a simulation without network or time. A seed decides who does the next
// step; the seed is in the title.

const SEED = Number(process.env['TEST_SEED'] ?? 1);
const NODES = 3;
const STREAMS = 6;
const SAMPLES = 400;
const STEPS = 20_000;
const NODE_OUTSTANDING_MAX = 12;
const LIMITS = { bytesMax: 64, samplesMax: 8, sampleBytesMax: 500 };

/**
 * Bytes of the payload of each sample: most fit a part, some are larger, few are more than a node
 * takes.
 */
function payloadBytes(sampleIndex: number): number {
  if (sampleIndex % 97 === 5) return 600;
  return sampleIndex % 13 === 3 ? 150 : 1 + (sampleIndex % 20);
}

const ANSWER = { payload: new Uint8Array(4), tokenCount: undefined, durations: undefined };

/** A stream to a node that answers when the simulation says so. */
class SimulatedChannel implements DispatchChannel {
  readonly place: DispatchChannel['place'];
  readonly outstanding: OutstandingTable;
  readonly #onPart: (part: OutgoingPart) => void;
  /** Samples of which every byte has arrived, by wire id. */
  readonly arrived: number[] = [];
  hasRoom = true;
  isOpen = true;
  #creditSamples = LIMITS.samplesMax;
  #creditBytes = LIMITS.bytesMax;

  constructor(streamIndex: number, load: NodeLoad, onPart: (part: OutgoingPart) => void) {
    const nodeIndex = streamIndex % NODES;
    this.place = { address: `node${nodeIndex}`, nodeIndex, load };
    this.outstanding = new OutstandingTable({ streamIndex, streamCount: STREAMS, load });
    this.#onPart = onPart;
  }

  canTake(sampleCount: number, bytes: number): boolean {
    return this.hasRoom && this.hasCreditFor(sampleCount, bytes);
  }

  hasCreditFor(sampleCount: number, bytes: number): boolean {
    const next = Math.min(bytes, LIMITS.bytesMax);
    const hasCredit = sampleCount <= this.#creditSamples && next <= this.#creditBytes;
    return this.isOpen && hasCredit && this.outstanding.canTake(sampleCount);
  }

  /** Of a lost stream: nothing more is answered on it. */
  releaseAll(): Float64Array {
    this.arrived.length = 0;
    return this.outstanding.releaseAll();
  }

  /** A sample that is larger than a part goes out in pieces. */
  send(part: OutgoingPart): UnsentRest | undefined {
    let { bytes } = part;
    const sendNext = (): void => {
      const isFirst = bytes === part.bytes;
      const count = isFirst ? part.samples.length : 0;
      const sent = Math.min(bytes, LIMITS.bytesMax);
      bytes -= sent;
      this.#creditSamples -= count;
      this.#creditBytes -= sent;
      this.#onPart({ ...part, bytes: sent });
      if (bytes === 0) this.arrived.push(...part.samples.map(({ id }) => id));
    };
    sendNext();
    if (bytes === 0) return undefined;
    return {
      get bytes() {
        return bytes;
      },
      get nextBytes() {
        return Math.min(bytes, LIMITS.bytesMax);
      },
      sendNext,
    };
  }

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
    events.onCompleted(this, id, ANSWER, events.nowNs());
    events.onRoom();
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
  dispatcher.begin({ channels, router, limits: LIMITS });
  return { dispatcher, channels, router, sink, ledgers, claims, check };
}

/**
 * A run of {@link SAMPLES} samples. @param loss Node 0 is lost in the middle, and this policy says
 * what that means.
 */
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

it('an answer that cannot be used counts as one, and its sample is lost', () => {
  const { dispatcher, channels, sink, ledgers } = scene('round-robin', 'fail');
  dispatcher.issue({ ...PLACE, sampleCount: 1, responseIdStride: 1 });
  const [channel] = channels as [SimulatedChannel];
  const fault = { code: 'bad-response', text: 'damaged' };
  const sample = { ...ANSWER, fault, receivedBytes: 9 };
  dispatcher.onCompleted(channel, channel.arrived[0] as number, sample, 0);
  const failure = { code: 'bad-response', text: 'SUT node node0: damaged' };
  expect([sink.completed, sink.failed]).toEqual([[], [{ id: 0, failure }]]);
  expect(ledgers[0]).toMatchObject({ completedCount: 1, failedCount: 0, responseBytes: 9 });
});

it('a response after all samples had theirs is a claim of the node', () => {
  const { dispatcher, channels, claims } = scene('round-robin', 'fail');
  dispatcher.issue({ ...PLACE, sampleCount: 1, responseIdStride: 1 });
  for (const channel of channels) channel.answer(0, dispatcher);
  dispatcher.stop();
  const [channel] = channels as [SimulatedChannel];
  dispatcher.onCompleted(channel, 1, ANSWER, 0);
  dispatcher.onFailed(channel, 1, { code: 'inference', text: '' });
  expect(claims[0]?.toClaims()).toMatchObject([{ kind: 'late-response', count: 2 }]);
});
