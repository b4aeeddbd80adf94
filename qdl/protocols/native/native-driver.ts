import type { Open } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import type { Opened__Output } from '../../../proto/gen/mlperf/network/v1/Opened.ts';
import { wireError } from '../../../shared/base/errors/mlperf-error.ts';
import type { SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import type { NameCall } from '../../../shared/evidence/evidence-schema.ts';
import type { ProtocolEvidence } from '../../../shared/evidence/server-evidence.ts';
import { USAGE_FEATURE } from '../../../shared/wire/sut-contract.ts';
import type { ChannelEvents, ChannelPlace } from '../../dispatch/dispatch-channel.ts';
import { askOnce, NetworkNames } from '../../dispatch/network-name.ts';
import type {
  ChannelCounts,
  OpenedChannels,
  ProtocolDriver,
} from '../../dispatch/query-dispatch-library.ts';
import type { WaitProgress } from '../../dispatch/ready-wait.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';
import { Http2Transport, NativeConnections } from './channel/http2-transport.ts';
import type { Reopening } from './channel/one-stream.ts';
import { ResponseDecoder } from './channel/response-decoder.ts';
import { type OpenTransport, SutChannel } from './channel/sut-channel.ts';
import { ControlClient, requireBenchmark } from './node/control-client.ts';
import { ledgerObstacle, partLimits, requireOneNode } from './node-evidence.ts';
import { SutNodeHandle } from './sut-node-handle.ts';

/** Longest wait for a node to end its stream after Close: everything is answered by then. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Driver of nodes that speak longhaul's own protocol. */
export class NativeDriver implements ProtocolDriver {
  readonly nodes: readonly SutNodeHandle[];
  readonly names: NetworkNames;
  readonly #settings: DispatchSettings;
  readonly #payloads: SamplePayloads;
  readonly #connections: NativeConnections;
  #channels: readonly SutChannel[] = [];
  /** Answers to the first Open of each channel. */
  #opened: readonly Opened__Output[] = [];

  /** @param payloads Bytes of the sample library; read when a part is written, never kept. */
  constructor(settings: DispatchSettings, payloads: SamplePayloads) {
    this.#settings = settings;
    this.#payloads = payloads;
    this.nodes = settings.nodes.map((address) => new SutNodeHandle(address, settings));
    this.#connections = new NativeConnections(settings, (address, reason) => {
      // A node that shuts down ends its connections too, and none takes over.
      const isLeaving = this.#channels.some(
        ({ place, isDraining }) => place.address === address && isDraining,
      );
      if (isLeaving) return;
      this.nodes.find((node) => node.address === address)?.handOvers.addConnection(reason);
    });
    this.names = new NetworkNames(
      this.nodes.map((node) => node.control),
      settings.division,
    );
  }

  async connect(onWait: WaitProgress): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.prepare(onWait)));
  }

  channelCounts(): ChannelCounts {
    const { streamsPerNode, connectionsPerNode, nodeOutstandingMax } = this.#settings;
    return { channelsPerNode: streamsPerNode, connectionsPerNode, nodeOutstandingMax };
  }

  async openChannels(
    places: readonly ChannelPlace[],
    events: ChannelEvents,
    runId: string,
  ): Promise<OpenedChannels> {
    const { callTimeoutMs, division, tokenBytes } = this.#settings;
    const openTransport: OpenTransport = ({ address, connection }, ends) =>
      new Http2Transport(this.#connections.to(address, connection), this.#payloads, ends);
    this.#channels = places.map((place) => {
      const open = this.#open(runId, place);
      const reopening = this.#reopening(runId, place);
      // In range: places are made from the nodes.
      const { ledger } = this.nodes[place.nodeIndex] as SutNodeHandle;
      const payloads = this.#payloads;
      const parts = { openTransport, open, ledger, payloads, tokenBytes, reopening };
      return new SutChannel(place, parts, events);
    });
    const opened = await Promise.all(
      this.#channels.map((channel) => channel.opened(callTimeoutMs)),
    );
    this.#opened = opened;
    this.#channels.forEach((channel, i) => {
      const answer = opened[i] as Opened__Output; // In range: one per channel.
      this.nodes[channel.place.nodeIndex]?.addOpened(answer, channel);
      channel.requireCredit();
    });
    requireOneNode(this.nodes, division, this.names.last);
    const limits = partLimits(this.#channels, opened, this.#settings, this.#payloads);
    this.#channels.forEach((channel, i) => {
      const { responseEncodings } = opened[i] as Opened__Output; // In range: one per channel.
      channel.begin(this.#decoder(responseEncodings), limits.bytesMax);
    });
    return { channels: this.#channels, limits };
  }

  async closeChannels(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.close(CLOSE_TIMEOUT_MS)));
  }

  async compareLedgers(lostNodes: ReadonlySet<number>, runId: string): Promise<readonly string[]> {
    // A warm-up has no ledgers.
    if (this.#settings.isWarmUp === true) return [];
    const reached = this.nodes.filter((_, index) => !lostNodes.has(index));
    const lists = await Promise.all(
      reached.map((node) => {
        const obstacle = ledgerObstacle(node, reached);
        if (obstacle === undefined) return node.compareLedgers(runId);
        node.skipLedger(obstacle);
        return [];
      }),
    );
    return lists.flat();
  }

  async close(): Promise<void> {
    this.#connections.close();
    for (const node of this.nodes) node.control.close();
  }

  /** The protocol only: all other evidence belongs to single nodes. */
  evidence(): ProtocolEvidence {
    return { protocol: this.#settings.protocol.name };
  }

  /** A decompressed response may be no larger than an uncompressed one. */
  #decoder(agreed: readonly number[]): ResponseDecoder {
    const { responseEncodings, messageBytesMax } = this.#settings;
    return new ResponseDecoder(responseEncodings, agreed, messageBytesMax);
  }

  #reopening(runId: string, place: ChannelPlace): Reopening {
    const { callTimeoutMs, division, streamsPerNode } = this.#settings;
    const { nodeIndex, streamIndex, streamOfNode } = place;
    return {
      timeoutMs: callTimeoutMs,
      openOf: (count) => ({
        ...this.#open(runId, place),
        streamIndex: streamOfNode + count * streamsPerNode,
      }),
      accept: (call, opened, reason) => {
        // In range: places are made from the nodes.
        const node = this.nodes[nodeIndex] as SutNodeHandle;
        node.addOpened(opened, call);
        requireOneNode(this.nodes, division, this.names.last);
        // The decoders of the run are those of the first Opened.
        const first = this.#opened[streamIndex]?.responseEncodings ?? [];
        if (String(first) !== String(opened.responseEncodings)) {
          throw wireError(`SUT node ${node.address} chose other response encodings than before`);
        }
        node.handOvers.addStream(reason);
      },
    };
  }

  #open(runId: string, { nodeIndex, streamOfNode }: ChannelPlace): Open {
    // In range: places are made from the nodes.
    const node = this.nodes[nodeIndex] as SutNodeHandle;
    const { benchmark, division, encoding, responseEncodings, tokenLatencies } = this.#settings;
    return {
      protocolVersion: node.protocolVersion,
      runId,
      benchmark,
      division: division === 'network' ? 'DIVISION_NETWORK' : 'DIVISION_OPEN',
      encodings: [encoding],
      responseEncodings: [...responseEncodings],
      // One report per node is enough: only its first stream carries usage.
      features: node.features.filter((name) => name !== USAGE_FEATURE || streamOfNode === 0),
      digestPerMillion: node.digestPerMillion,
      streamIndex: streamOfNode,
      tokenLatencies,
    };
  }
}

/** askNames for nodes that speak longhaul's own protocol. */
export function askNativeNames(settings: DispatchSettings): Promise<NameCall> {
  const { benchmark, division } = settings;
  const clients = settings.nodes.map((address) => new ControlClient(address, settings));
  return askOnce(clients, new NetworkNames(clients, division), async () => {
    if (benchmark === '') return;
    const descriptions = await Promise.all(clients.map((client) => client.describe()));
    clients.forEach(({ address }, i) => {
      requireBenchmark(address, benchmark, descriptions[i]);
    });
  });
}
