import assert from 'node:assert';
import {
  configInvalid,
  type MlperfError,
  sutRefused,
} from '../../shared/base/errors/mlperf-error.ts';
import type { NameCall, NetworkEvidence } from '../../shared/evidence/evidence-schema.ts';
import type { OipModelFacts, OipRequestPlan } from '../../shared/wire/oip/request-plan.ts';
import type { ChannelEvents, ChannelPlace } from '../dispatch/dispatch-channel.ts';
import { type Distinguish, NetworkNames, type NodeName } from '../dispatch/network-name.ts';
import type {
  ChannelCounts,
  OpenedChannels,
  ProtocolDriver,
  WaitProgress,
} from '../dispatch/query-dispatch-library.ts';
import {
  checkDispatchSettings,
  type DispatchSettings,
  type OipDispatch,
} from '../settings/dispatch-settings.ts';
import { OipChannel } from './channel/oip-channel.ts';
import { OipConnections } from './channel/oip-connections.ts';
import { OipRequestEncoder, REQUEST_BYTES_MAX } from './channel/request-encoder.ts';
import { gathererOf, openWay, requestExtras } from './channel/request-way.ts';
import { requireAgreement } from './node/model-facts.ts';
import { OipControlClient } from './node/oip-control-client.ts';
import { OipNodeHandle } from './oip-node-handle.ts';

/** Longest wait for a server to end its streams: everything is answered by then. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Samples outstanding on one node where nothing else is said. Servers grant no credit and queue whatever comes; what
 * waits here waits as numbers.
 */
const NODE_OUTSTANDING_MAX = 4_096;

/** Nodes that speak the Open Inference Protocol. */
export class OipDriver implements ProtocolDriver {
  readonly nodes: readonly OipNodeHandle[];
  readonly names: NetworkNames;
  readonly #settings: DispatchSettings;
  readonly #oip: OipDispatch;
  readonly #connections: OipConnections;
  readonly #notes: string[] = [];
  #facts: OipModelFacts | undefined;
  #channels: readonly OipChannel[] = [];

  /** @param settings With `oip`, which needs a plan where queries are to be sent. */
  constructor(settings: DispatchSettings, oip: OipDispatch) {
    this.#settings = settings;
    this.#oip = oip;
    this.#connections = new OipConnections(settings, (address, own) =>
      this.nodes.find((node) => node.address === address)?.onAccepted(own),
    );
    this.nodes = settings.nodes.map((address) => new OipNodeHandle(address, settings, oip));
    this.names = new NetworkNames(
      this.nodes.map((node) => node.control),
      settings.division,
      distinguishByAddress((note) => this.#notes.push(note)),
    );
  }

  /**
   * @throws MlperfError `ERR_SUT_REFUSED` also where the nodes differ, or do not fit the plan; `ERR_CONFIG_INVALID` for
   *   settings that the plan's method has no use for
   */
  async connect(onWait: WaitProgress): Promise<void> {
    checkDispatchSettings(this.#settings);
    const facts = await Promise.all(this.nodes.map((node) => node.prepare(onWait)));
    requireAgreement(facts);
    this.#facts = facts[0];
    const { plan } = this.#oip;
    if (plan !== undefined && this.#facts !== undefined) requireUsable(plan, this.#facts);
  }

  evidence(): Pick<NetworkEvidence, 'oip'> {
    const { service, plan, notes = [] } = this.#oip;
    return { oip: { service, plan: plan ?? null, notes: [...notes, ...this.#notes] } };
  }

  channelCounts(): ChannelCounts {
    const { streamsPerNode, connectionsPerNode, nodeOutstandingMax } = this.#settings;
    // Calls of their own need no streams: a channel is a connection.
    const isStream = this.#oip.plan?.method === 'stream';
    return {
      channelsPerNode: isStream ? streamsPerNode : connectionsPerNode,
      connectionsPerNode,
      nodeOutstandingMax: Number.isFinite(nodeOutstandingMax)
        ? nodeOutstandingMax
        : NODE_OUTSTANDING_MAX,
    };
  }

  async openChannels(
    places: readonly ChannelPlace[],
    events: ChannelEvents,
  ): Promise<OpenedChannels> {
    const { plan } = this.#oip;
    if (plan === undefined) {
      throw configInvalid('oip: nothing was planned that could be sent');
    }
    for (const { address, connection } of places) this.#connections.to(address, connection);
    await this.#connections.ready();
    await Promise.all(this.nodes.map((node) => node.beginStatistics()));
    // Nothing is waited for from here until the dispatcher has the channels, which hear of every later loss.
    this.#connections.requireOpen();
    this.#channels = places.map((place) => this.#channel(place, plan, events));
    const { nodeOutstandingMax } = this.#settings;
    return {
      channels: this.#channels,
      limits: {
        bytesMax: REQUEST_BYTES_MAX,
        samplesMax: Math.min(plan.samplesPerRequest, nodeOutstandingMax),
        sampleBytesMax: REQUEST_BYTES_MAX,
      },
      decoders: [],
    };
  }

  async closeChannels(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.close(CLOSE_TIMEOUT_MS)));
  }

  /** Nobody else counts. What the servers' own statistics say is kept. */
  async compareLedgers(lostNodes: ReadonlySet<number>): Promise<readonly string[]> {
    const reached = this.nodes.filter((_, index) => !lostNodes.has(index));
    await Promise.all(reached.map((node) => node.endStatistics()));
    return [];
  }

  async close(): Promise<void> {
    await this.#connections.close();
    for (const node of this.nodes) node.control.close();
  }

  #channel(place: ChannelPlace, plan: OipRequestPlan, events: ChannelEvents): OipChannel {
    assert(this.#facts !== undefined, 'start before connect');
    const facts = this.#facts;
    const { service } = this.#oip;
    const connection = this.#connections.to(place.address, place.connection);
    const gatherer = gathererOf(plan, facts, {
      bytesMax: this.#settings.messageBytesMax,
      room: connection.room,
    });
    const channel = new OipChannel(
      place,
      {
        encoder: new OipRequestEncoder(plan, requestExtras(plan, facts)),
        tokenLatencies: this.#settings.tokenLatencies,
        openWay: (toChannel) =>
          openWay(plan.method, {
            connection: connection.calls,
            service,
            gatherer,
            events: toChannel,
          }),
      },
      events,
    );
    connection.add(channel);
    return channel;
  }
}

/**
 * Refuses a plan that the model cannot answer.
 * @throws MlperfError `ERR_SUT_REFUSED`
 */
function requireUsable(plan: OipRequestPlan, facts: OipModelFacts): void {
  const { name, isDecoupled, hasStream, batchSizeMax } = facts;
  if (plan.method === 'unary' && isDecoupled === true) {
    throw refusal(
      `model "${name}" is decoupled: a request may have any number of responses, which only a stream carries; ` +
        'use --oip-method stream',
    );
  }
  if (plan.method !== 'unary' && hasStream === false) {
    throw refusal(`the server at ${facts.address} has no ModelStreamInfer; use --oip-method unary`);
  }
  if (isDecoupled === true && plan.samplesPerRequest > 1) {
    throw refusal(
      `model "${name}" is decoupled: its responses do not tell which of ${plan.samplesPerRequest} samples they are for; ` +
        'use --oip-batch 1',
    );
  }
  if (batchSizeMax !== undefined && plan.samplesPerRequest > Math.max(1, batchSizeMax)) {
    throw refusal(
      `model "${name}" takes ${Math.max(1, batchSizeMax)} samples in a request, ` +
        `--oip-batch asks for ${plan.samplesPerRequest}`,
    );
  }
}

function refusal(what: string): MlperfError {
  return sutRefused(what);
}

/**
 * Names by which servers are told apart: their own where it is theirs alone, otherwise with the address as node key. Stock
 * servers of one fleet share a name, and nobody but their operator can change that.
 * Rule: inference_rules v4.1, Network division, "Each SUT Node must have a unique name".
 * @param note Told once per cause.
 */
function distinguishByAddress(note: (text: string) => void): Distinguish {
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (!told.has(text)) note(text);
    told.add(text);
  };
  return (names) => {
    const sharing = new Map<string, NodeName[]>();
    for (const one of names) sharing.set(one.name, [...(sharing.get(one.name) ?? []), one]);
    return names.map((one) => {
      const { name, address } = one;
      if (name.trim() === '') {
        tell(`the server at ${address} tells no name; it is known by its address`);
        return { ...one, name: address };
      }
      const others = sharing.get(name) as readonly NodeName[]; // It holds every name.
      if (others.length === 1) return one;
      const addresses = others.map((other) => other.address).join(', ');
      tell(
        `the servers at ${addresses} share the name "${name}"; the address was added to tell them apart`,
      );
      return { ...one, name: `${name} (${address})` };
    });
  };
}

/** As askNames, of nodes that speak the Open Inference Protocol. @param settings With `oip`. */
export async function askOipNames(settings: DispatchSettings): Promise<NameCall> {
  const { oip } = settings;
  assert(oip !== undefined, 'settings of the Open Inference Protocol are missing');
  const clients = settings.nodes.map((address) => new OipControlClient(address, settings, oip));
  const names = new NetworkNames(
    clients,
    settings.division,
    distinguishByAddress(() => {}),
  );
  try {
    await names.ask();
    return (await names.calls())[0] as NameCall; // There was one call.
  } finally {
    for (const client of clients) client.close();
  }
}
