// @ts-check
// Adds a protocol to longhaul: a sample is a line of JSON over TCP, and so is its answer.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import {
  addProtocol,
  askOnce,
  MlperfError,
  NetworkNames,
  nodeOfOneEnd,
  OutstandingTable,
} from 'longhaul';

/** @import { ChannelEvents, ChannelPlace, DispatchChannel, OutgoingPart } from 'longhaul' */
/** @import { DispatchSettings, ProtocolDriver } from 'longhaul' */

/** A connection to a server. */
class Lines {
  /** @param {string} address */
  constructor(address) {
    this.address = address;
    const { hostname, port } = new URL(`tcp://${address}`);
    const host = hostname.replace(/[[\]]/g, '');
    this.socket = connect({ host, port: Number(port), noDelay: true });
    this.socket.on('error', () => {}); // "close" follows.
    this.socket.on('close', () => this.onEnd());
    const lines = createInterface({ input: this.socket });
    lines.on('error', () => {}); // The socket's, once more.
    lines.on('line', (line) => this.onAnswer(JSON.parse(line)));
  }

  onEnd = () => {};
  /** @type {(answer: { name?: string, id?: number, payload?: string }) => void} */
  onAnswer = () => {};

  /** @param {{ asks: 'name' } | { id: number, payload: string }} request */
  send(request) {
    this.socket.write(`${JSON.stringify(request)}\n`);
  }

  ended() {
    return new MlperfError('ERR_SUT_LOST', `SUT node ${this.address} has no connection`);
  }

  /** For LoadGen's Name(): one round trip each time. */
  async name() {
    if (this.socket.closed) throw this.ended();
    const begin = performance.now();
    /** @type {string} */
    const name = await new Promise((resolve, reject) => {
      this.onAnswer = (answer) => resolve(answer.name ?? '');
      this.onEnd = () => reject(this.ended());
      this.send({ asks: 'name' });
    });
    const roundTripNs = Math.round((performance.now() - begin) * 1e6);
    // No headers tell of the way.
    const ends = { loadgen: null, sut: null };
    const path = { ...ends, responseHeaders: [], requestHeaders: null, requestHeadersLeftOut: 0 };
    return { address: this.address, name, identity: '', roundTripNs, path };
  }

  close() {
    this.onEnd = () => {};
    this.socket.destroy();
  }
}

/**
 * The way of samples to a server and back.
 * @implements {DispatchChannel}
 */
class LinesChannel {
  /**
   * @param {ChannelPlace} place
   * @param {ChannelEvents} events
   */
  constructor(place, events) {
    this.place = place;
    this.outstanding = new OutstandingTable(place);
    this.isOpen = true;
    this.lines = new Lines(place.address);
    this.lines.socket.on('drain', () => events.onRoom());
    this.lines.onAnswer = ({ id = Number.NaN, payload = '' }) => {
      const answer = Buffer.from(payload, 'base64');
      const sample = { payload: answer, tokenCount: undefined, durations: undefined };
      events.onCompleted(this, id, sample, events.nowNs());
      events.onRoom();
    };
    this.lines.onEnd = () => {
      this.retire();
      events.onLost(this, this.lines.ended());
    };
  }

  /** @param {number} sampleCount */
  canTake(sampleCount) {
    return this.hasCreditFor(sampleCount) && !this.lines.socket.writableNeedDrain;
  }

  /** @param {number} sampleCount */
  hasCreditFor(sampleCount) {
    return this.isOpen && this.outstanding.canTake(sampleCount);
  }

  /** @param {OutgoingPart} part */
  send({ samples }) {
    for (const { id, payload } of samples) {
      this.lines.send({ id, payload: Buffer.from(payload).toString('base64') });
    }
    return undefined; // Nothing is left of it.
  }

  releaseAll() {
    return this.outstanding.releaseAll();
  }

  dropUnsent() {}

  retire() {
    this.isOpen = false;
  }
}

/**
 * The servers of a run.
 * @implements {ProtocolDriver}
 */
class LinesDriver {
  /** @type {readonly LinesChannel[]} */
  channels = [];

  /** @param {DispatchSettings} settings */
  constructor({ nodes, division, messageBytesMax }) {
    this.nodes = nodes.map((address) => nodeOfOneEnd(address, 'lines have no counts'));
    this.asked = nodes.map((address) => new Lines(address));
    this.names = new NetworkNames(this.asked, division);
    this.limits = { bytesMax: messageBytesMax, sampleBytesMax: messageBytesMax, samplesMax: 1 };
  }

  async connect() {}

  channelCounts() {
    return { channelsPerNode: 1, connectionsPerNode: 1, nodeOutstandingMax: 1000 };
  }

  /**
   * @param {readonly ChannelPlace[]} places
   * @param {ChannelEvents} events
   */
  async openChannels(places, events) {
    this.channels = places.map((place) => new LinesChannel(place, events));
    return { channels: this.channels, limits: this.limits };
  }

  async closeChannels() {
    for (const { lines } of this.channels) lines.close();
  }

  async compareLedgers() {
    return [];
  }

  async close() {
    for (const lines of this.asked) lines.close();
  }

  evidence() {
    return { protocol: 'lines' };
  }
}

addProtocol({
  name: 'lines',
  title: 'lines of JSON',
  scheme: 'lines',
  traits: {
    peer: 'server',
    message: 'request',
    hasLedger: false,
    hasDigests: false,
    hasNameEcho: false,
    hasDurations: false,
    tokenTimes: 'none',
    hasWarmUp: false,
    hasCompression: false,
  },
  words: {
    nameCall: 'name',
    methods: {},
    idleStreams: '',
    wire: {
      transport: 'lines of JSON',
      framing: 'a line has its names and its end.',
      uncompressed: '',
      answerHeaders: { sender: 'a line', names: [] },
    },
    evidence: { shown: ['Lines have no counts.'], proxies: '', beyond: 'Nothing is beyond lines.' },
  },
  options: {},
  nameOptions: {},
  settings: () => ({ name: 'lines' }),
  plan: () => ({ prepare: null, preparePayloads: null }),
  check: () => {},
  hasHeaders: () => false,
  load: async () => ({
    open: (settings) => new LinesDriver(settings),
    askNames: ({ nodes, division }) => {
      const asked = nodes.map((address) => new Lines(address));
      return askOnce(asked, new NetworkNames(asked, division));
    },
  }),
});
