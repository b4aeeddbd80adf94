import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { type ChannelEvents, NodeLoad } from '../../../../../qdl/dispatch/dispatch-channel.ts';
import type {
  Answers,
  CallEvents,
  GrpcCall,
  GrpcCallConnection,
} from '../../../../../qdl/http2/grpc-calls.ts';
import { OipChannel, OUTSTANDING_BYTES_MAX } from '../../../../../qdl/oip/channel/oip-channel.ts';
import { OipRequestEncoder } from '../../../../../qdl/oip/channel/request-encoder.ts';
import { openWay, REMEMBERED_FAILED_MAX } from '../../../../../qdl/oip/channel/request-way.ts';
import {
  type GatherOptions,
  ResponseGatherer,
} from '../../../../../qdl/oip/channel/response-gatherer.ts';
import { AnswerRoom } from '../../../../../shared/http2/flow-control.ts';
import type { OipMethod } from '../../../../../shared/wire/oip/request-plan.ts';
import { dynamoResponse } from '../../../../scenes/oip-server/fake-oip-server.ts';
import {
  decodeRequest,
  encodeResponse,
  encodeStreamResponse,
} from '../../../../scenes/oip-server/oip-messages.ts';
import { oipPlan } from '../../../../scenes/oip-server/oip-qdl.ts';

// Goal: a channel takes what fits and no more, tells each sample's end once, and knows a server's own UNAVAILABLE from
// the end of the connection. Method: a connection whose calls go nowhere.

/** A call that goes nowhere, and keeps what was written. */
class CallDouble implements GrpcCall {
  readonly messages: Buffer[] = [];
  readonly events: CallEvents;
  readonly path: string;
  messageCount = 0;
  isEnded = false;
  isCancelled = false;

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
  readonly ends = null;

  call(path: string, events: CallEvents, answers: Answers = 'many'): CallDouble {
    const call = new CallDouble(path, events, answers);
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
  onRoom(): void {
    this.lines.push('room');
  }
  onResponses(
    ...[channel, { firstTokens, completed }]: Parameters<ChannelEvents['onResponses']>
  ): void {
    for (const { id } of firstTokens) this.lines.push(`first ${channel.outstanding.find(id)}`);
    for (const { id, payload, tokenCount = '-' } of completed) {
      this.lines.push(
        `complete ${channel.outstanding.release(id)} ${payload.length} ${tokenCount}`,
      );
    }
  }
  onFailed(...[channel, id, { code }]: Parameters<ChannelEvents['onFailed']>): void {
    this.lines.push(`${code} ${channel.outstanding.release(id)}`);
  }
  readonly onClaim = (): unknown => this.lines.push('claim');
  readonly onUsage = (): unknown => this.lines.push('usage');
  onDraining(): void {
    this.lines.push('draining');
  }
  onLost(...[channel]: Parameters<ChannelEvents['onLost']>): void {
    this.lines.push(`lost ${channel.releaseAll().join(',')}`);
  }
}

function scene(
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
  const parts = {
    encoder: new OipRequestEncoder(plan, { requestedOutputs: [], wantsFinalMark: false }),
    tokenLatencies,
    openWay: (events: Parameters<typeof openWay>[1]['events']) =>
      openWay(method, { connection, service: 'a.B', gatherer, events }),
  };
  const channel = new OipChannel(place, parts, reports);
  const send = (responseId: number): CallDouble => {
    const id = channel.outstanding.acquire(responseId);
    const payload = new Uint8Array(8);
    const sample = { id, payload, encoding: 0, offset: 0, total: 0, sampleIndex: 0 };
    channel.send({ query: 0, querySampleCount: 1, samples: [sample], sampleCount: 1, bytes: 8 });
    return connection.calls.at(-1) as CallDouble;
  };
  return { channel, connection, reports, send };
}

/** An answer to the message that was written last. */
function answerTo(call: CallDouble, elements = 2) {
  return {
    id: decodeRequest(call.messages.at(-1) as Buffer).id,
    outputs: [{ name: 'out', datatype: 'FP32', shape: [1, elements] }],
    rawOutputContents: [Buffer.alloc(4 * elements)],
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('OipChannel', () => {
  it('takes what node, connection and server have room for', () => {
    const { channel, connection, send } = scene('unary');
    expect(channel.canTake(3, 24)).toBe(true);
    expect(channel.canTake(4, 32)).toBe(false);
    expect(channel.canTake(1, OUTSTANDING_BYTES_MAX + 1)).toBe(true);
    send(0);
    expect(channel.canTake(1, OUTSTANDING_BYTES_MAX)).toBe(false);
    connection.takesCall = false;
    expect(channel.hasCreditFor(1, 8)).toBe(false);
    connection.takesCall = true;
    connection.hasRoom = false;
    expect([channel.canTake(1, 8), channel.hasCreditFor(1, 8)]).toEqual([false, true]);
    channel.retire();
    expect(channel.hasCreditFor(1, 8)).toBe(false);
  });

  it('makes a call of each request', () => {
    const { reports, send } = scene('unary');
    const call = send(7);
    expect([call.path, call.isEnded, call.answers]).toEqual(['/a.B/ModelInfer', true, 'one']);
    call.answer(encodeResponse(answerTo(call)));
    call.finish();
    expect(reports.lines).toEqual(['complete 7 8 -']);
  });

  it('fails a sample whose call has two answers, and takes the second as one breach', () => {
    const { reports, send } = scene('unary');
    const call = send(7);
    call.messageCount = 2;
    call.finish(status.INTERNAL, 'a second message');
    expect(reports.lines).toEqual(['bad-response 7', 'complete -1 0 -']);
  });

  it("fails a sample for the server's own UNAVAILABLE, and a call without an answer", async () => {
    const { reports, send } = scene('unary');
    send(1).finish(status.UNAVAILABLE, 'queue is full');
    send(2).finish();
    await turn();
    expect(reports.lines).toEqual(['bad-response 2', 'unavailable 1']);
  });

  it('loses what ended with the connection', async () => {
    const { channel, reports, send } = scene('unary');
    send(1).finish(status.UNAVAILABLE, 'Connection dropped');
    send(2).finish(status.UNAVAILABLE, 'Connection dropped');
    channel.onConnectionClosed('Connection dropped', true);
    await turn();
    expect(reports.lines).toEqual(['lost 1,2']);
  });

  it('takes back the calls of which nothing went out, and hears no more of them', () => {
    const { channel, reports, send } = scene('unary');
    const sent = send(1);
    const unsent = send(2);
    unsent.unsentCount = 1;
    channel.dropUnsent();
    expect([sent.isCancelled, unsent.isCancelled]).toEqual([false, true]);
    expect(channel.outstanding.count).toBe(1);
    unsent.finish(status.CANCELLED, 'cancelled by the LoadGen node');
    sent.answer(encodeResponse(answerTo(sent)));
    expect(reports.lines).toEqual(['complete 1 8 -']);
    // Neither holds bytes any more.
    expect(channel.canTake(1, OUTSTANDING_BYTES_MAX + 1)).toBe(true);
  });

  it('takes back the messages of a stream of which nothing went out', () => {
    const { channel, reports, send } = scene('stream');
    const stream = send(1);
    const answer = encodeStreamResponse({ inferResponse: answerTo(stream) });
    send(2);
    send(3);
    stream.unsentCount = 2;
    channel.dropUnsent();
    expect(channel.outstanding.count).toBe(1);
    stream.answer(answer);
    expect(reports.lines).toEqual(['complete 1 8 -']);
    expect(channel.canTake(1, OUTSTANDING_BYTES_MAX + 1)).toBe(true);
  });

  it('drains when the server takes no new calls, and counts what it never took', async () => {
    const { channel, reports, send } = scene('unary');
    const first = send(1);
    send(2).finish(status.UNAVAILABLE, 'the server ends the connection');
    channel.onConnectionClosed('the server ends the connection', false);
    await turn();
    expect(channel.hasCreditFor(1, 8)).toBe(false);
    first.answer(encodeResponse(answerTo(first)));
    expect(reports.lines).toEqual(['draining', 'lost 2', 'complete 1 8 -']);
  });

  it('tells first tokens and counts, and bounds what it keeps of one request', () => {
    const { reports, send } = scene('stream', { ends: 'marked', tokenLatencies: true });
    const parameters = { triton_final_response: { boolParam: true } };
    const stream = send(1);
    const more = encodeStreamResponse({ inferResponse: answerTo(stream) });
    stream.answer(more);
    stream.answer(more);
    stream.answer(encodeStreamResponse({ inferResponse: { ...answerTo(stream), parameters } }));
    send(2);
    stream.answer(encodeStreamResponse({ inferResponse: answerTo(stream, 20) }));
    stream.answer(encodeStreamResponse({ inferResponse: answerTo(stream, 20) }));
    expect(reports.lines).toEqual(['first 1', 'complete 1 24 3', 'first 2', 'bad-response 2']);
  });

  it('gives an error without an id, and what cannot be read, to the oldest request', () => {
    const { reports, send } = scene('stream');
    send(1);
    send(2);
    const stream = send(3);
    stream.answer(encodeStreamResponse({ errorMessage: 'no memory' }));
    stream.answer(Buffer.from([0x12, 99]));
    stream.answer(Buffer.alloc(0));
    expect(reports.lines).toEqual(['inference 1', 'bad-response 2', 'complete -1 0 -']);
  });

  it('remembers only so many failed requests of which nobody said that they are done', () => {
    const { reports, send } = scene('stream', { ends: 'marked' });
    const ids: string[] = [];
    const parameters = { triton_final_response: { boolParam: true } };
    for (let i = 0; i <= REMEMBERED_FAILED_MAX; i += 1) {
      const stream = send(i);
      const { id } = answerTo(stream);
      ids.push(id);
      stream.answer(encodeStreamResponse({ errorMessage: 'no', inferResponse: { id } }));
    }
    const stream = send(9_999);
    reports.lines.length = 0;
    stream.answer(encodeStreamResponse({ inferResponse: { id: ids[1] as string, parameters } }));
    expect(reports.lines).toEqual([]);
    stream.answer(encodeStreamResponse({ inferResponse: { id: ids[0] as string, parameters } }));
    expect(reports.lines).toEqual(['complete -1 0 -']);
  });

  it('hears no more of a failed request up to the response whose finish reason ends it', () => {
    const { reports, send } = scene('stream', { readsFinish: true });
    const stream = send(1);
    const { id } = answerTo(stream);
    const delta = (reason: string): Buffer =>
      encodeStreamResponse({ inferResponse: dynamoResponse(id, 'a', reason) });
    stream.answer(encodeStreamResponse({ errorMessage: 'engine restarted' }));
    stream.answer(delta(''));
    stream.answer(delta('stop'));
    expect(reports.lines).toEqual(['inference 1']);
    stream.answer(delta('stop'));
    expect(reports.lines).toEqual(['inference 1', 'complete -1 0 -']);
  });

  it('ends its stream, and waits no longer for the server than it is told', async () => {
    const { channel, reports, send } = scene('stream');
    const stream = send(1);
    await channel.close(10);
    expect([stream.isEnded, stream.isCancelled]).toEqual([true, true]);
    stream.finish(status.CANCELLED, '');
    expect(reports.lines).toEqual([]);
    const unused = scene('stream');
    await unused.channel.close(60_000);
    expect(unused.connection.calls[0]?.isCancelled).toBe(true);
  });
});

describe('a stream per request', () => {
  const streamed = () => scene('stream-per-request', { ends: 'call', tokenLatencies: true });
  const message = (call: CallDouble, parameters = {}): Buffer =>
    encodeStreamResponse({ inferResponse: { ...answerTo(call), parameters } });
  const last = { triton_final_response: { boolParam: true } };

  it('ends with the call where no response says that it is the last', () => {
    const { reports, send } = streamed();
    const [one, two] = [send(1), send(2)];
    expect([one.path, one.isEnded]).toEqual(['/a.B/ModelStreamInfer', true]);
    one.answer(message(one));
    two.answer(message(two));
    one.answer(message(one));
    one.finish();
    two.finish();
    expect(reports.lines).toEqual(['first 1', 'first 2', 'complete 1 16 2', 'complete 2 8 1']);
  });

  it('ends with the response that says so, and takes what follows as a breach', () => {
    const { reports, send } = streamed();
    const call = send(1);
    call.answer(message(call));
    call.answer(message(call, last));
    expect(reports.lines).toEqual(['first 1', 'complete 1 16 2']);
    call.answer(message(call));
    call.finish();
    expect(reports.lines.slice(2)).toEqual(['complete -1 0 -', 'room']);
  });

  it('fails once, whatever the server sends then', () => {
    const { reports, send } = streamed();
    const call = send(1);
    call.answer(message(call));
    call.answer(encodeStreamResponse({ errorMessage: 'no memory' }));
    call.answer(message(call));
    call.finish(status.INTERNAL, 'no memory');
    send(2).finish();
    send(3).finish(status.INVALID_ARGUMENT, 'no text');
    expect(reports.lines).toEqual([
      ...['first 1', 'inference 1', 'room'],
      ...['bad-response 2', 'bad-sample 3'],
    ]);
  });

  it('fails where the connection ends between two responses', async () => {
    const { channel, reports, send } = streamed();
    const call = send(1);
    call.answer(message(call));
    call.finish(status.UNAVAILABLE, 'Connection dropped');
    channel.onConnectionClosed('Connection dropped', true);
    await turn();
    expect(reports.lines).toEqual(['first 1', 'lost 1']);
  });
});
