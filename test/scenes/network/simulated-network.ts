import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import type { TestOutcome } from '../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { LedgerResponse__Output } from '../../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import type { ChannelEvents, ChannelPlace } from '../../../qdl/dispatch/dispatch-channel.ts';
import { NetworkNames } from '../../../qdl/dispatch/network-name.ts';
import {
  type OpenedChannels,
  type ProtocolDriver,
  type QdlNode,
  QueryDispatchLibrary,
} from '../../../qdl/dispatch/query-dispatch-library.ts';
import { DigestedLedger } from '../../../qdl/protocols/native/channel/digested-ledger.ts';
import { ResponseDecoder } from '../../../qdl/protocols/native/channel/response-decoder.ts';
import {
  type OpenTransport,
  SutChannel,
} from '../../../qdl/protocols/native/channel/sut-channel.ts';
import {
  compareLedgers,
  partLimits,
  toNodeLedger,
} from '../../../qdl/protocols/native/node-evidence.ts';
import {
  type DispatchSettings,
  defaultDispatchSettings,
} from '../../../qdl/settings/dispatch-settings.ts';
import type {
  Query,
  ResponseSink,
  SamplePayloads,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import { ClaimBook } from '../../../shared/evidence/node-claims.ts';
import {
  PAYLOAD_DIGESTS_FEATURE,
  PayloadDigestSum,
  sha256Words,
} from '../../../shared/evidence/payload-digest.ts';
import { SimulatedClock } from '../clock.ts';
import { MemoryQsl } from '../simulated-run/memory-qsl.ts';
import { V41_SETTINGS } from '../simulated-run/simulated-run.ts';
import type { Fault, NetworkPlan } from './network-plan.ts';
import { type LinkScene, SimulatedLink } from './simulated-link.ts';
import { SimulatedNode } from './simulated-node.ts';

const ALL_DIGESTED = 1_000_000;

/** One sample as LoadGen saw it. */
export interface SampleFate {
  readonly sampleIndex: number;
  completions: number;
  failures: number;
  /** A response came that is not that of the sample. */
  isWrong: boolean;
}

/** Outcome of a simulated run. */
export interface SimulatedNetworkRun {
  /** Undefined where the run did not begin. */
  readonly outcome: TestOutcome | undefined;
  /** Why it did not begin. */
  readonly error: unknown;
  /** By response id, of all samples that LoadGen issued. */
  readonly samples: ReadonlyMap<number, SampleFate>;
  /** Responses for ids that were never issued. */
  readonly strayCount: number;
  /** Whether the fault came about at all. */
  readonly hasStruck: boolean;
  /** Whether the counts of both ends were compared. */
  readonly isCompared: boolean;
  /** Most samples that waited in a node at once, and most that its credit allows. */
  readonly heldSamples: readonly { readonly most: number; readonly allowed: number }[];
}

/**
 * Runs LoadGen's engine over the real QDL (dispatcher, router, part cutter, channels, codecs) to
 * SUT nodes with real streams (credit, ledger, batcher). Clock, link and model are simulated:
 * minutes pass in milliseconds, and the same plan gives the same run to the nanosecond.
 * @param outdir Folder for LoadGen's logs.
 */
export async function runOverNetwork(
  plan: NetworkPlan,
  outdir: string,
): Promise<SimulatedNetworkRun> {
  const clock = new SimulatedClock();
  const payloads = payloadsOf(plan);
  const nodes = Array.from({ length: plan.nodeCount }, (_, i) => new SimulatedNode(plan, i, clock));
  const fault = new StrikingFault(plan.fault, clock);
  const settings = settingsOf(plan, nodes);
  const driver = new SimulatedDriver(settings, { plan, payloads, nodes, clock, fault });
  const qdl = new QueryDispatchLibrary(settings, payloads, driver);
  const watched = new WatchedSut(qdl, payloads);
  const { node: nodeIndex } = plan.fault;
  fault.atInstant('busy-loadgen', nodeIndex, () => {
    clock.spend(80_000_000);
    return true;
  });
  fault.atInstant('drain', nodeIndex, () => nodes[nodeIndex]?.drain('it is going away') === true);
  fault.atInstant('hung-model', nodeIndex, () => {
    nodes[nodeIndex]?.hang(() => fault.struck());
    return false; // Not before there is a batch to hang.
  });
  const result = await clock
    .drive(
      runTest({
        sut: watched,
        qsl: new MemoryQsl(plan.sampleCount),
        clock,
        settings: { ...V41_SETTINGS, ...plan.settings },
        log: { outdir },
        stallTimeoutNs: 60e9,
        drainTimeoutNs: 2e9,
      }),
    )
    .then(
      (outcome) => ({ outcome, error: undefined }),
      (error: unknown) => ({ outcome: undefined, error }),
    );
  return {
    ...result,
    samples: watched.samples,
    strayCount: watched.strayCount,
    hasStruck: fault.hasStruck,
    isCompared: qdl.ledgerReport.isCompared,
    heldSamples: nodes.map((node) => node.heldSamples),
  };
}

/**
 * A fault that strikes once: at an instant, or with the nth message that it could spoil from that
 * instant on.
 */
export class StrikingFault {
  readonly #fault: Fault;
  readonly #clock: SimulatedClock;
  readonly #beginNs: number;
  #seen = 0;
  hasStruck = false;

  constructor(fault: Fault, clock: SimulatedClock) {
    this.#fault = fault;
    this.#clock = clock;
    this.#beginNs = clock.nowNs();
  }

  /**
   * Tries `strike` at the fault's instant, if the fault is of this kind and node; it returns
   * whether it came about.
   */
  atInstant(kind: Fault['kind'], node: number, strike: () => boolean): void {
    if (kind !== this.#fault.kind || node !== this.#fault.node) return;
    this.#clock.callAt(this.#beginNs + this.#fault.atNs, () => {
      if (strike()) this.struck();
    });
  }

  struck(): void {
    this.hasStruck = true;
  }

  /** True, once, for the message that a fault of this kind at this node spoils. */
  strikes(kind: Fault['kind'], node: number, nth: number = this.#fault.nth): boolean {
    if (kind !== this.#fault.kind || node !== this.#fault.node || this.hasStruck) return false;
    if (this.#seen < nth) {
      this.#seen += 1;
      return false;
    }
    this.hasStruck = true;
    return true;
  }
}

/** Sample i has bytes that no other sample has: its index, over and over. */
function payloadsOf({ sampleCount, sampleBytesMin, sampleBytesMax }: NetworkPlan): SamplePayloads {
  const list = Array.from({ length: sampleCount }, (_, i) => {
    const span = sampleBytesMax - sampleBytesMin + 1;
    return Buffer.alloc(sampleBytesMin + ((i * 7919) % span), `sample ${i};`);
  });
  const payloadOf = (index: number): Uint8Array => list[index] as Buffer;
  return {
    encoding: { form: 'raw', compression: 'identity' },
    payloadOf,
    digestOf: (index) => sha256Words([payloadOf(index)]),
  };
}

function settingsOf(plan: NetworkPlan, nodes: readonly SimulatedNode[]): DispatchSettings {
  const { streamsPerNode, policy, onNodeLoss, nodeOutstandingMax, partBytesMax } = plan;
  return {
    ...defaultDispatchSettings(nodes.map((node) => node.address)),
    ...{ streamsPerNode, policy, onNodeLoss, nodeOutstandingMax, partBytesMax },
    weights: policy === 'weighted' ? nodes.map((_, i) => i + 1) : [],
    connectionsPerNode: streamsPerNode,
    division: 'open',
    benchmark: 'digits',
    digestPerMillion: ALL_DIGESTED,
  };
}

interface NetworkScene extends Omit<LinkScene, 'node' | 'nodeIndex'> {
  readonly nodes: readonly SimulatedNode[];
}

/** The native driver without sockets: real channels, and links in place of gRPC. */
class SimulatedDriver implements ProtocolDriver {
  readonly nodes: readonly (QdlNode & { readonly ledger: DigestedLedger })[];
  readonly names: NetworkNames;
  readonly #settings: DispatchSettings;
  readonly #scene: NetworkScene;
  #channels: readonly SutChannel[] = [];

  constructor(settings: DispatchSettings, scene: NetworkScene) {
    this.#settings = settings;
    this.#scene = scene;
    this.nodes = scene.nodes.map(({ address }) => {
      const ledger = new DigestedLedger();
      ledger.digest = new PayloadDigestSum(ALL_DIGESTED);
      return { address, ledger, claims: new ClaimBook(), evidence: () => NO_EVIDENCE };
    });
    this.names = new NetworkNames([], 'open');
  }

  async connect(): Promise<void> {}

  channelCounts() {
    const { streamsPerNode, connectionsPerNode, nodeOutstandingMax } = this.#settings;
    return { channelsPerNode: streamsPerNode, connectionsPerNode, nodeOutstandingMax };
  }

  async openChannels(
    places: readonly ChannelPlace[],
    events: ChannelEvents,
    runId: string,
  ): Promise<OpenedChannels> {
    this.#channels = places.map((place) => {
      const open = {
        ...{ protocolVersion: 1, runId, benchmark: 'digits', division: 'DIVISION_OPEN' as const },
        encodings: [this.#settings.encoding],
        responseEncodings: [...this.#settings.responseEncodings],
        features: [PAYLOAD_DIGESTS_FEATURE],
        digestPerMillion: ALL_DIGESTED,
        streamIndex: place.streamOfNode,
      };
      const openTransport: OpenTransport = (at, ends) => this.#link(at, ends);
      // One per address.
      const { ledger } = this.nodes[place.nodeIndex] as (typeof this.nodes)[number];
      const { payloads } = this.#scene;
      return new SutChannel(place, { openTransport, open, ledger, payloads }, events);
    });
    const opened = await Promise.all(this.#channels.map((channel) => channel.opened(60_000)));
    for (const channel of this.#channels) channel.requireCredit();
    const { responseEncodings, messageBytesMax } = this.#settings;
    const limits = partLimits(this.#channels, opened, this.#settings, this.#scene.payloads);
    this.#channels.forEach((channel, i) => {
      const agreed = opened[i]?.responseEncodings ?? [];
      const decoder = new ResponseDecoder(responseEncodings, agreed, messageBytesMax);
      channel.begin(decoder, limits.bytesMax);
    });
    return { channels: this.#channels, limits };
  }

  async closeChannels(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.close(10_000)));
  }

  async compareLedgers(lostNodes: ReadonlySet<number>, runId: string): Promise<readonly string[]> {
    const { encoding, streamsPerNode: streamCount } = this.#settings;
    const lists = this.#scene.nodes.map(async (node, i) => {
      const ours = this.nodes[i]?.ledger.toCounts();
      if (lostNodes.has(i) || ours === undefined) return [];
      const wire = (await node.ledgers.toWire(runId)) as LedgerResponse__Output;
      return compareLedgers(node.address, ours, toNodeLedger(wire), { encoding, streamCount });
    });
    return (await Promise.all(lists)).flat();
  }

  async close(): Promise<void> {}

  evidence(): { readonly protocol: string } {
    return { protocol: 'longhaul' };
  }

  #link({ nodeIndex }: ChannelPlace, events: ConstructorParameters<typeof SimulatedLink>[1]) {
    const node = this.#scene.nodes[nodeIndex] as SimulatedNode; // One per address.
    return new SimulatedLink({ ...this.#scene, node, nodeIndex }, events);
  }
}

const NO_EVIDENCE = {} as ReturnType<QdlNode['evidence']>;

/** Stands between LoadGen and the QDL, and compares every response with what was asked. */
class WatchedSut implements SystemUnderTest {
  readonly samples = new Map<number, SampleFate>();
  strayCount = 0;
  readonly #qdl: QueryDispatchLibrary;
  readonly #payloads: SamplePayloads;

  constructor(qdl: QueryDispatchLibrary, payloads: SamplePayloads) {
    this.#qdl = qdl;
    this.#payloads = payloads;
  }

  name(): Promise<string> {
    return Promise.resolve('Network SUT: simulated');
  }

  async start(sink: ResponseSink): Promise<void> {
    await this.#qdl.start({
      nowNs: () => sink.nowNs(),
      handedOver: (id, atNs) => sink.handedOver(id, atNs),
      served: (id, node, times, decodeNs) => sink.served(id, node, times, decodeNs),
      firstToken: (id, payload, atNs) => sink.firstToken(id, payload, atNs),
      tokens: (id, count, atNs) => sink.tokens(id, count, atNs),
      complete: (id, payload, tokenCount, atNs) => {
        const fate = this.samples.get(id);
        if (fate === undefined) this.strayCount += 1;
        else {
          fate.completions += 1;
          const expected = this.#payloads.payloadOf(fate.sampleIndex);
          if (Buffer.compare(expected, payload as Uint8Array) !== 0) fate.isWrong = true;
        }
        sink.complete(id, payload, tokenCount, atNs);
      },
      fail: (id, failure) => {
        const fate = this.samples.get(id);
        if (fate === undefined) this.strayCount += 1;
        else fate.failures += 1;
        sink.fail(id, failure);
      },
      fault: (error) => sink.fault(error),
    });
  }

  issueQuery(query: Query): void {
    for (let i = 0; i < query.sampleCount; i += 1) {
      const step = i * query.responseIdStride;
      const sampleIndex = query.sampleIndices[query.sampleOffset + step] as number;
      const fate = { sampleIndex, completions: 0, failures: 0, isWrong: false };
      this.samples.set(query.firstResponseId + step, fate);
    }
    this.#qdl.issueQuery(query);
  }

  flushQueries(): void {
    this.#qdl.flushQueries();
  }

  giveUp(): void {
    this.#qdl.giveUp();
  }

  stop(): Promise<void> {
    return this.#qdl.stop();
  }
}
