import { status } from '@grpc/grpc-js';
import type {
  PartTransport,
  TransportEvents,
} from '../../../qdl/protocols/native/channel/part-transport.ts';
import type { SentPart } from '../../../qdl/protocols/native/channel/sent-part.ts';
import type { SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import { encodePart } from '../../../shared/wire/part-codec.ts';
import {
  decodeResponses,
  encodeResponses,
  FAILURE_CODES,
  isResponses,
} from '../../../shared/wire/responses-codec.ts';
import { decodeSutMessage, encodeSutMessage } from '../../../shared/wire/sut-contract.ts';
import type { InferPeer } from '../../../sut-node/server/infer/infer-services.ts';
import type { InferStream } from '../../../sut-node/server/infer/infer-stream.ts';
import type { ServerCallEnd } from '../../../sut-node/server/limits/call-end.ts';
import type { SimulatedClock } from '../clock.ts';
import type { NetworkPlan } from './network-plan.ts';
import type { StrikingFault } from './simulated-network.ts';
import type { SimulatedNode } from './simulated-node.ts';

/**
 * Payload bytes that wait before a transport has no room, and bytes on the way in either direction.
 */
const WAITING_BYTES_MAX = 16_384;
const WINDOW_BYTES = 65_536;

/** After so long a silence the keepalive ends a connection. */
const KEEPALIVE_NS = 7e9;

const GONE: ServerCallEnd = { code: status.UNAVAILABLE, details: 'the connection is gone' };

/** Parts of a simulated link. */
export interface LinkScene {
  readonly plan: NetworkPlan;
  readonly payloads: SamplePayloads;
  readonly clock: SimulatedClock;
  readonly fault: StrikingFault;
  readonly node: SimulatedNode;
  readonly nodeIndex: number;
}

/**
 * One Infer stream over a link with a delay, a rate and a window, in place of gRPC: it has
 * LoadGen's end and the node's. The plan's fault strikes here where it is about connections or
 * messages.
 */
export class SimulatedLink implements PartTransport {
  readonly #scene: LinkScene;
  readonly #events: TransportEvents;
  readonly #stream: InferStream;
  #parts: SentPart[] = [];
  #waitingBytes = 0;
  readonly #towardsNode: OneWay;
  readonly #towardsLoadgen: OneWay;
  #isNodeBlocked = false;
  #opened: Buffer | undefined;
  #lastResponse: Buffer | undefined;
  #hasSaidClose = false;
  #isOver = false;

  constructor(scene: LinkScene, events: TransportEvents) {
    const { clock, plan, node } = scene;
    this.#scene = scene;
    this.#events = events;
    this.#towardsNode = new OneWay(clock, plan);
    this.#towardsLoadgen = new OneWay(clock, plan);
    this.#stream = node.open(this.#peer());
    this.#planInstants();
  }

  get hasRoom(): boolean {
    return this.#waitingBytes < WAITING_BYTES_MAX;
  }

  /** Whoever answers has the part: there is no other way here. */
  get sentBytes(): number {
    return Number.POSITIVE_INFINITY;
  }

  sendPart(part: SentPart): void {
    this.#parts.push(part);
    this.#waitingBytes += part.bytes;
    this.#pump();
  }

  dropParts(): readonly SentPart[] {
    const dropped = this.#parts.splice(0);
    for (const { bytes } of dropped) this.#waitingBytes -= bytes;
    return dropped;
  }

  sendControl(message: Buffer): void {
    this.#towardsNode.send(message.length, () => this.#stream.message(message));
  }

  endSending(): void {
    this.#hasSaidClose = true;
    this.#towardsNode.send(0, () => this.#stream.halfClosed());
  }

  cancel(): void {
    const end = { code: status.CANCELLED, details: 'the LoadGen node ended the stream' };
    this.#soon(() => this.#end(end));
  }

  /** Parts leave while the window is open. */
  #pump(): void {
    while (this.#parts.length > 0 && this.#towardsNode.hasRoom) {
      const part = this.#parts.shift() as SentPart; // There is one.
      for (const message of this.#messagesOf(part)) {
        this.#towardsNode.send(message.length, () => {
          this.#stream.message(message);
          this.#pump();
        });
      }
      this.#waitingBytes -= part.bytes;
      this.#soon(() => this.#events.onWritten());
    }
  }

  /** A part as it arrives: as it was sent, or as the fault leaves it. */
  #messagesOf(part: SentPart): Buffer[] {
    const message = encodePart(part);
    if (this.#strikes('lost-part')) return [];
    if (this.#strikes('repeated-part')) return [message, message];
    if (!this.#strikes('changed-payload')) return [message];
    const samples = part.samples.map((sample) => {
      const payload = Buffer.from(sample.payload);
      payload.writeUInt8(payload.readUInt8(0) ^ 1, 0);
      return { ...sample, payload };
    });
    return [encodePart({ ...part, samples })];
  }

  /** The node's end. */
  #peer(): InferPeer {
    return {
      seen: null,
      write: (message) => {
        for (const one of this.#asItArrives(message)) this.#bring(one);
        this.#isNodeBlocked = !this.#towardsLoadgen.hasRoom;
        return !this.#isNodeBlocked;
      },
      end: (end) => {
        const late = this.#lastResponse;
        if (end.code === status.OK && late !== undefined && this.#strikes('late-response')) {
          this.#bring(late);
        }
        this.#towardsLoadgen.send(0, () => this.#end(end));
      },
    };
  }

  #bring(message: Buffer): void {
    this.#towardsLoadgen.send(message.length, () => {
      if (!this.#isOver) this.#events.onMessage(message);
      if (!this.#isNodeBlocked || !this.#towardsLoadgen.hasRoom) return;
      this.#isNodeBlocked = false;
      this.#stream.drained();
    });
  }

  #asItArrives(message: Buffer): Buffer[] {
    if (!isResponses(message)) return this.#controlAsItArrives(message);
    this.#lastResponse = message;
    const responses = decodeResponses(message);
    const [first, ...rest] = responses.completed;
    if (first === undefined) return [message];
    if (this.#strikes('forgotten-response')) {
      return rest.length === 0 ? [] : [encodeResponses({ ...responses, completed: rest })];
    }
    if (this.#strikes('repeated-response')) {
      return [
        message,
        encodeResponses({ firstTokens: [], tokens: [], completed: [first], failed: [] }),
      ];
    }
    if (this.#strikes('unknown-id')) {
      const stranger = { ...first, id: 2 ** 45 + 12_345 };
      return [
        message,
        encodeResponses({ firstTokens: [], tokens: [], completed: [stranger], failed: [] }),
      ];
    }
    if (this.#strikes('failed-sample')) {
      const failed = [{ id: first.id, code: FAILURE_CODES.inference, text: 'it did not work' }];
      return [encodeResponses({ firstTokens: [], tokens: [], completed: rest, failed })];
    }
    if (this.#strikes('random-bytes')) return [Buffer.alloc(12, 0xff), message];
    if (this.#strikes('cut-message')) return [message.subarray(0, -1)];
    if (this.#strikes('second-opened') && this.#opened) return [this.#opened, message];
    return [message];
  }

  #controlAsItArrives(message: Buffer): Buffer[] {
    const { opened } = decodeSutMessage(message);
    if (!opened) return [message];
    this.#opened = message;
    if (this.#strikesAtOnce('no-credit')) {
      return [encodeSutMessage({ opened: { ...opened, credit: { samples: 0, bytes: 0 } } })];
    }
    if (!this.#strikesAtOnce('refused-open')) return [message];
    const details = 'the node has reached its limit of open streams';
    this.#towardsLoadgen.send(0, () => this.#end({ code: status.RESOURCE_EXHAUSTED, details }));
    return [];
  }

  /** Faults of the connection, at their instant. */
  #planInstants(): void {
    const { fault, nodeIndex, clock } = this.#scene;
    const isLate = (): boolean => this.#isOver || this.#hasSaidClose;
    fault.atInstant('cut', nodeIndex, () => {
      if (isLate()) return false;
      this.#end(GONE);
      return true;
    });
    fault.atInstant('silent-link', nodeIndex, () => {
      if (isLate()) return false;
      this.#towardsNode.isSilent = true;
      this.#towardsLoadgen.isSilent = true;
      clock.callAt(clock.nowNs() + KEEPALIVE_NS, () => this.#end(GONE));
      return true;
    });
    fault.atInstant('slow-link', nodeIndex, () => {
      this.#towardsNode.slowDown();
      this.#towardsLoadgen.slowDown();
      return true;
    });
  }

  #strikes(kind: Parameters<StrikingFault['strikes']>[0]): boolean {
    return this.#scene.fault.strikes(kind, this.#scene.nodeIndex);
  }

  #strikesAtOnce(kind: Parameters<StrikingFault['strikes']>[0]): boolean {
    return this.#scene.fault.strikes(kind, this.#scene.nodeIndex, 0);
  }

  /** Both ends learn that the stream is over. */
  #end(end: ServerCallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts = [];
    this.#stream.cancelled();
    this.#events.onEnd(end);
  }

  #soon(callback: () => void): void {
    this.#scene.clock.callAt(this.#scene.clock.nowNs(), callback);
  }
}

/** Bytes in one direction, in their order. */
class OneWay {
  readonly #clock: SimulatedClock;
  readonly #nsPerByte: number;
  #delayNs: number;
  #lastNs = 0;
  #bytes = 0;
  /** Nothing arrives any more. */
  isSilent = false;

  constructor(clock: SimulatedClock, { linkNs, nsPerByte }: NetworkPlan) {
    this.#clock = clock;
    this.#delayNs = linkNs;
    this.#nsPerByte = nsPerByte;
  }

  get hasRoom(): boolean {
    return this.#bytes < WINDOW_BYTES;
  }

  send(bytes: number, arrive: () => void): void {
    this.#bytes += bytes;
    const earliest = this.#clock.nowNs() + this.#delayNs;
    this.#lastNs = Math.max(this.#lastNs + Math.round(bytes * this.#nsPerByte), earliest);
    this.#clock.callAt(this.#lastNs, () => {
      if (this.isSilent) return;
      this.#bytes -= bytes;
      arrive();
    });
  }

  slowDown(): void {
    this.#delayNs *= 20;
  }
}
