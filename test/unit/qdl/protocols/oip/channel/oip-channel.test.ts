import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { OUTSTANDING_BYTES_MAX } from '../../../../../../qdl/protocols/oip/channel/oip-channel.ts';
import { REMEMBERED_FAILED_MAX } from '../../../../../../qdl/protocols/oip/channel/stream-way.ts';
import { dynamoResponse } from '../../../../../scenes/oip-server/fake-oip-server.ts';
import {
  answerTo,
  type CallDouble,
  scene,
  turn,
} from '../../../../../scenes/oip-server/oip-channel-scene.ts';
import {
  decodeRequest,
  encodeResponse,
  encodeStreamResponse,
} from '../../../../../scenes/oip-server/oip-messages.ts';

// Goal: a channel takes what fits and no more, tells each sample's end once, and knows a server's
// own UNAVAILABLE from the end of the connection. Method: a connection whose calls go nowhere.

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

  it('takes the first grpc-status of several, which it notes', () => {
    const { reports, send } = scene('unary');
    const call = send(7);
    call.answer(encodeResponse(answerTo(call)));
    call.statusCount = 2;
    call.finish();
    expect(reports.lines).toEqual(['complete 7 8 -', 'call-status']);
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
    channel.onConnectionClosed('Connection dropped', 'lost');
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
    send(2).finish(status.UNAVAILABLE, 'the server is closing the connection');
    channel.onConnectionClosed('the server is closing the connection', 'given-up');
    await turn();
    expect(channel.hasCreditFor(1, 8)).toBe(false);
    first.answer(encodeResponse(answerTo(first)));
    expect(reports.lines).toEqual(['draining', 'lost 2', 'complete 1 8 -']);
  });

  it('makes a call again that the server did not process', () => {
    const { channel, connection, handOvers, reports, send } = scene('unary');
    const first = send(1);
    first.giveBack();
    const again = connection.calls.at(-1) as CallDouble;
    expect(again).not.toBe(first);
    expect([again.messages, again.isEnded]).toEqual([first.messages, true]);
    again.answer(encodeResponse(answerTo(again)));
    again.finish();
    expect(reports.lines).toEqual(['complete 1 8 -']);
    expect(channel.outstanding.count).toBe(0);
    handOvers.addConnection('x');
    expect(handOvers.evidence().handOvers?.callCount).toBe(1);
  });

  it.each(['unary', 'stream'] as const)(
    'sends nothing again by %s once payloads are unloaded',
    async (method) => {
      const { channel, connection, reports, send } = scene(method);
      const first = send(1);
      channel.dropUnsent();
      first.giveBack();
      await turn();
      expect(connection.calls).toHaveLength(1);
      expect(reports.lines).toEqual([method === 'unary' ? 'unavailable 1' : 'lost 1']);
    },
  );

  it('goes on with another stream where one ended with nothing outstanding', () => {
    const { connection, handOvers, reports, send } = scene('stream');
    const stream = send(1);
    stream.answer(encodeStreamResponse({ inferResponse: answerTo(stream) }));
    stream.finish(status.INTERNAL, 'the server reset the call (PROTOCOL_ERROR)');
    expect(connection.calls).toHaveLength(1);
    const next = send(2);
    expect(next).not.toBe(stream);
    next.answer(encodeStreamResponse({ inferResponse: answerTo(next) }));
    next.finish();
    expect(reports.lines).toEqual(['complete 1 8 -', 'complete 2 8 -']);
    expect(handOvers.evidence().handOvers).toMatchObject({ streamCount: 2, streamReason: 'OK' });
  });

  it('loses a stream that ends with a request outstanding', () => {
    const { reports, send } = scene('stream');
    send(1).finish(status.INTERNAL, 'the server reset the call (PROTOCOL_ERROR)');
    expect(reports.lines).toEqual(['lost 1']);
  });

  it('takes answers of the old stream while the next one carries new requests', () => {
    const { channel, handOvers, reports, send } = scene('stream');
    const old = send(1);
    const answer = encodeStreamResponse({ inferResponse: answerTo(old) });
    channel.onHandOver();
    expect(old.isEnded).toBe(true);
    const next = send(2);
    expect(next).not.toBe(old);
    next.answer(encodeStreamResponse({ inferResponse: answerTo(next) }));
    old.answer(answer);
    old.finish();
    expect(reports.lines).toEqual(['complete 2 8 -', 'complete 1 8 -']);
    // Its end was asked for.
    expect(handOvers.evidence()).toEqual({});
  });

  it('sends what is outstanding on a stream again where the server did not process it', () => {
    const { channel, connection, handOvers, reports, send } = scene('stream');
    const old = send(1);
    send(2);
    channel.onHandOver();
    old.giveBack();
    const next = connection.calls.at(-1) as CallDouble;
    expect([next === old, next.messages]).toEqual([false, old.messages]);
    for (const message of next.messages) {
      const { id } = decodeRequest(message);
      next.answer(encodeStreamResponse({ inferResponse: { ...answerTo(next), id } }));
    }
    expect(reports.lines).toEqual(['complete 1 8 -', 'complete 2 8 -']);
    handOvers.addConnection('x');
    expect(handOvers.evidence().handOvers?.callCount).toBe(2);
  });

  it('survives the loss of a connection that carries nothing', async () => {
    const { channel, reports, send } = scene('unary');
    expect(channel.onConnectionClosed('Connection dropped', 'lost')).toBe(true);
    expect(channel.hasCreditFor(1, 8)).toBe(true);
    send(1);
    expect(channel.onConnectionClosed('Connection dropped', 'lost')).toBe(false);
    await turn();
    expect(reports.lines).toEqual(['lost 1']);
    const broken = scene('unary');
    expect(broken.channel.onConnectionClosed('Protocol error', 'broken')).toBe(false);
    expect(broken.reports.lines).toEqual(['lost ']);
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
    expect(unused.connection.calls).toEqual([]);
  });
});
