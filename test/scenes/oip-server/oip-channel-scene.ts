import type { ChannelEvents } from '../../../qdl/dispatch/dispatch-channel.ts';
import { NodeLoad } from '../../../qdl/dispatch/router.ts';
import { HandOverCounter } from '../../../qdl/dispatch/run-ledger.ts';
import type {
  Answers,
  CallEvents,
  GrpcCall,
  GrpcCallConnection,
} from '../../../qdl/http2/grpc-calls.ts';
import { OipChannel } from '../../../qdl/protocols/oip/channel/oip-channel.ts';
import { OipRequestEncoder } from '../../../qdl/protocols/oip/channel/request-encoder.ts';
import { openWay } from '../../../qdl/protocols/oip/channel/request-way.ts';
import {
  type GatherOptions,
  ResponseGatherer,
} from '../../../qdl/protocols/oip/channel/response-gatherer.ts';
import { AnswerRoom } from '../../../shared/http2/flow-control.ts';
import type { OipMethod } from '../../../shared/wire/oip/request-plan.ts';
import { decodeRequest } from './oip-messages.ts';
import { oipPlan } from './oip-qdl.ts';

/** A call that goes nowhere, and keeps what was written. */
export class CallDouble implements GrpcCall {
  readonly messages: Buffer[] = [];
  readonly events: CallEvents;
  readonly path: string;
  messageCount = 0;
  statusCount = 1;
  /** All is sent as soon as it is written, unless a test says how much. */
  sentBytes: number = Number.POSITIVE_INFINITY;
  unsentBytes = 0;
  isEnded = false;
  isCancelled = false;
  readonly ends = null;

  readonly answers: Answers;

  constructor(path: string, events: CallEvents, answers: Answers) {
    this.path = path;
    this.events = events;
    this.answers = answers;
  }

  write(pieces: readonly Uint8Array[]): void {
    this.messages.push(Buffer.concat(pieces));
  }

  writeFramed(pieces: readonly Uint8Array[], _bytes: number, onTaken: () => void): void {
    this.messages.push(Buffer.concat(pieces));
    onTaken();
  }

  end(): void {
    this.isEnded = true;
  }

  /** Messages that are in no frame. */
  unsentCount = 0;

  takeBackUnsent(): number {
    const count = this.unsentCount;
    this.unsentCount = 0;
    return count;
  }

  cancel(): void {
    this.isCancelled = true;
  }

  /** The server answers so, and ends a call of its own. */
  answer(message: Buffer): void {
    this.messageCount += 1;
    this.events.onMessage(this, message);
  }

  /** The connection is handed over, and the server did not process the call. */
  giveBack(): void {
    this.events.onUnprocessed?.(this);
  }

  finish(code = 0, details = ''): void {
    this.events.onEnd(this, code, details);
  }
}

/** A connection whose calls go nowhere. */
class ConnectionDouble implements GrpcCallConnection {
  readonly calls: CallDouble[] = [];
  readonly ready: Promise<void> = Promise.resolve();
  hasRoom = true;
  takesCall = true;
  callCount = 0;
  /** Of the next call. */
  progress: Partial<CallDouble> = {};

  call(path: string, events: CallEvents, answers: Answers = 'many'): CallDouble {
    const call = Object.assign(new CallDouble(path, events, answers), this.progress);
    this.calls.push(call);
    return call;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Events of a channel, as lines. */
class Reports implements ChannelEvents {
  readonly lines: string[] = [];
  /** How often waiting queries were told that they may go. */
  rooms = 0;
  onRoom(): void {
    this.rooms += 1;
  }
  readonly nowNs = (): number => 0;
  onFirstToken(...[channel, id]: Parameters<ChannelEvents['onFirstToken']>): void {
    this.lines.push(`first ${channel.outstanding.find(id)}`);
  }
  onTokens(): void {}
  onCompleted(
    ...[channel, id, { payload, tokenCount }]: Parameters<ChannelEvents['onCompleted']>
  ): void {
    const responseId = channel.outstanding.release(id);
    this.lines.push(`complete ${responseId} ${payload.length} ${tokenCount ?? '-'}`);
  }
  onFailed(...[channel, id, { code }]: Parameters<ChannelEvents['onFailed']>): void {
    this.lines.push(`${code} ${channel.outstanding.release(id)}`);
  }
  onClaim(...[, kind]: Parameters<ChannelEvents['onClaim']>): void {
    this.lines.push(kind);
  }
  readonly onUsage = (): unknown => this.lines.push('usage');
  onDraining(): void {
    this.lines.push('draining');
  }
  onLost(...[channel]: Parameters<ChannelEvents['onLost']>): void {
    this.lines.push(`lost ${channel.releaseAll().join(',')}`);
  }
}

/**
 * A channel on a connection whose calls go nowhere. @param more How its responses are put together.
 */
export function scene(
  method: OipMethod,
  more: Partial<GatherOptions> & { tokenLatencies?: boolean } = {},
) {
  const { tokenLatencies = false, ...gathering } = more;
  const plan = oipPlan(method);
  const connection = new ConnectionDouble();
  const reports = new Reports();
  const ends = method === 'unary' ? 'once' : 'plain';
  const gatherer = new ResponseGatherer(plan, {
    ...{ ends, readsFinish: false, bytesMax: 100 },
    room: new AnswerRoom(100),
    ...gathering,
  });
  const place = {
    address: 'x:1',
    nodeIndex: 0,
    streamOfNode: 0,
    connection: 0,
    streamIndex: 0,
    streamCount: 1,
    load: new NodeLoad(1, 3),
  };
  const handOvers = new HandOverCounter();
  const parts = {
    encoder: new OipRequestEncoder(plan, { requestedOutputs: [], wantsFinalMark: false }),
    tokenLatencies,
    handOvers,
    openWay: (events: Parameters<typeof openWay>[1]['events']) =>
      openWay(method, { connection, service: 'a.B', gatherer, events }),
  };
  const channel = new OipChannel(place, parts, reports);
  /** @param progress Bytes of its call, as they are when the request was written. */
  const send = (responseId: number, progress: Partial<CallDouble> = {}): CallDouble => {
    connection.progress = progress;
    if (method === 'stream') Object.assign(connection.calls.at(-1) ?? {}, progress);
    const id = channel.outstanding.acquire(responseId);
    const payload = new Uint8Array(8);
    const samples = [{ id, payload, sampleIndex: 0 }];
    channel.send({ query: 0, querySampleCount: 1, samples, bytes: 8 });
    return connection.calls.at(-1) as CallDouble;
  };
  return { channel, connection, handOvers, reports, send };
}

/** An answer to the message that was written last. */
export function answerTo(call: CallDouble, elements = 2) {
  return {
    id: decodeRequest(call.messages.at(-1) as Buffer).id,
    outputs: [{ name: 'out', datatype: 'FP32', shape: [1, elements] }],
    rawOutputContents: [Buffer.alloc(4 * elements)],
  };
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
