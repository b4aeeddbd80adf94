import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { AnswerRoom } from '../../../../../../shared/http2/flow-control.ts';
import {
  answerTo,
  type CallDouble,
  scene,
  turn,
} from '../../../../../scenes/oip-server/oip-channel-scene.ts';
import { encodeStreamResponse } from '../../../../../scenes/oip-server/oip-messages.ts';

// Goal: a call with many responses is put together, ends once, and gives back the room that it
// took. Method: a connection whose calls go nowhere.

type Scene = ReturnType<typeof scene>;

describe('a stream per request', () => {
  const room = new AnswerRoom(100);
  const streamed = () => scene('stream-per-request', { ends: 'call', tokenLatencies: true, room });
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
    expect(reports.lines.slice(2)).toEqual(['complete -1 0 -']);
    // At its answer, and at the end of its call.
    expect(reports.rooms).toBe(2);
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
      ...['first 1', 'inference 1'],
      ...['bad-response 2', 'bad-sample 3'],
    ]);
    expect(reports.rooms).toBe(4);
  });

  it('fails where the connection ends between two responses', async () => {
    const { channel, reports, send } = streamed();
    const call = send(1);
    call.answer(message(call));
    call.finish(status.UNAVAILABLE, 'Connection dropped');
    channel.onConnectionClosed('Connection dropped', 'lost');
    await turn();
    expect(reports.lines).toEqual(['first 1', 'lost 1']);
  });

  it.each<[string, (call: CallDouble, channel: Scene['channel']) => void]>([
    ['is complete by the end of its call', (call) => call.finish()],
    ['is complete by its last response', (call) => call.answer(message(call, last))],
    ['fails by an error', (call) => call.answer(encodeStreamResponse({ errorMessage: 'no' }))],
    ['fails by a response that cannot be read', (call) => call.answer(Buffer.from([0x12, 99]))],
    [
      'fails by a response to another request',
      (call) => call.answer(encodeStreamResponse({ inferResponse: { id: '9' } })),
    ],
    ['fails by the end of its call', (call) => call.finish(status.INTERNAL, 'no')],
    ['ends as UNAVAILABLE', (call) => call.finish(status.UNAVAILABLE, 'no')],
    ['is given up with its node', (_call, channel) => channel.releaseAll()],
    [
      'is taken back before it went out',
      (call, channel) => {
        call.unsentCount = 1;
        channel.dropUnsent();
        call.finish(status.CANCELLED, '');
      },
    ],
  ])('gives back the room of a request that %s', (_what, end) => {
    const { channel, send } = streamed();
    const call = send(1);
    call.answer(message(call));
    expect(room.take(room.bytesMax)).toBe(false);
    end(call, channel);
    expect(room.take(room.bytesMax)).toBe(true);
    room.giveBack(room.bytesMax);
  });
});
