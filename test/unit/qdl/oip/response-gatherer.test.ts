import { expect, it } from 'vitest';
import { pendingRequest, ResponseGatherer } from '../../../../qdl/oip/channel/response-gatherer.ts';
import { AnswerRoom } from '../../../../qdl/oip/http2/flow/answer-room.ts';
import { encodeStreamResponse } from '../../../support/oip/oip-messages.ts';
import { oipPlan } from '../../../support/oip/oip-qdl.ts';

// Goal: what is kept of a response is not lost with the message. Method: messages that are overwritten at once.

it('keeps a copy of the responses before the last one', () => {
  const gatherer = new ResponseGatherer(oipPlan('stream'), {
    ...{ ends: 'marked', bytesMax: 100, room: new AnswerRoom(100) },
  });
  const request = pendingRequest([1], 8);
  const take = (value: number, isFinal: boolean) => {
    const message = encodeStreamResponse({
      inferResponse: {
        id: '1',
        outputs: [{ name: 'out', datatype: 'FP32', shape: [1, 2] }],
        rawOutputContents: [Buffer.alloc(8, value)],
        parameters: { triton_final_response: { boolParam: isFinal } },
      },
    });
    gatherer.decoder.readOfStream(message);
    const gathered = gatherer.take(request);
    if (!isFinal) message.fill(0);
    return gathered;
  };
  expect(take(1, false).kind).toBe('more');
  expect(take(2, true)).toMatchObject({
    kind: 'complete',
    payloads: [Buffer.concat([Buffer.alloc(8, 1), Buffer.alloc(8, 2)])],
  });
});

it('keeps of all requests together what the server has room for, and frees what is complete', () => {
  const room = new AnswerRoom(4);
  const gatherer = new ResponseGatherer(oipPlan('stream'), { ends: 'marked', bytesMax: 100, room });
  const [first, second] = [pendingRequest([1], 8), pendingRequest([2], 8)];
  const take = (request: typeof first, isFinal: boolean) => {
    gatherer.decoder.readOfStream(
      encodeStreamResponse({
        inferResponse: {
          id: `${request.ids[0]}`,
          outputs: [{ name: 'out', datatype: 'FP32', shape: [1, 2] }],
          rawOutputContents: [Buffer.alloc(8)],
          parameters: { triton_final_response: { boolParam: isFinal } },
        },
      }),
    );
    return gatherer.take(request);
  };
  expect([take(first, false).kind, take(first, false).kind]).toEqual(['more', 'more']);
  expect(take(second, false)).toMatchObject({ kind: 'failed', code: 'limit' });
  expect(take(first, true).kind).toBe('complete');
  const next = pendingRequest([3], 8);
  expect([take(next, false).kind, take(next, false).kind]).toEqual(['more', 'more']);
  gatherer.forget(next);
  expect(room.take(16)).toBe(true);
});
