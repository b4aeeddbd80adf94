import { describe, expect, it } from 'vitest';
import type { ModelInferResponse } from '../../../../../../proto/gen/inference/ModelInferResponse.ts';
import {
  type GatherOptions,
  pendingRequest,
  ResponseGatherer,
} from '../../../../../../qdl/protocols/oip/channel/response-gatherer.ts';
import { AnswerRoom } from '../../../../../../shared/http2/flow-control.ts';
import { dynamoResponse } from '../../../../../scenes/oip-server/fake-oip-server.ts';
import { encodeStreamResponse } from '../../../../../scenes/oip-server/oip-messages.ts';
import { oipPlan } from '../../../../../scenes/oip-server/oip-qdl.ts';

// Goal: what is kept of a response is not lost with the message. Method: messages that are
// overwritten at once.

it('keeps a copy of the responses before the last one', () => {
  const gatherer = new ResponseGatherer(oipPlan('stream'), {
    ...{ ends: 'marked', readsFinish: false, bytesMax: 100, room: new AnswerRoom(100) },
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
  const gatherer = new ResponseGatherer(oipPlan('stream'), {
    ...{ ends: 'marked', readsFinish: false },
    bytesMax: 100,
    room,
  });
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

describe('a finish reason', () => {
  const outputs = [
    { name: 'text_output', datatype: 'BYTES', shape: [-1] },
    { name: 'finish_reason', datatype: 'BYTES', shape: [-1] },
  ] as const;
  const plan = oipPlan('stream', { hasBatchAxis: false, outputs });
  const room = new AnswerRoom(1000);
  const options = { ends: 'plain', readsFinish: true, bytesMax: 1000, room } as const;

  function kinds(messages: readonly ModelInferResponse[], more: Partial<GatherOptions> = {}) {
    const gatherer = new ResponseGatherer(plan, { ...options, ...more });
    const request = pendingRequest([1], 8);
    return messages.map((inferResponse) => {
      gatherer.decoder.readOfStream(encodeStreamResponse({ inferResponse }));
      return gatherer.take(request);
    });
  }

  it.each([
    ['empty', false],
    ['left out', true],
  ])('that is %s is not the end, and one with a word is', (_what, isOld) => {
    const gathered = kinds([
      dynamoResponse('1', 'a', '', isOld),
      dynamoResponse('1', 'b', '', isOld),
      dynamoResponse('1', '', 'stop', isOld),
    ]);
    expect(gathered.map(({ kind }) => kind)).toEqual(['more', 'more', 'complete']);
    expect(gathered[2]).toMatchObject({ tokenCount: 3, firstPayload: undefined });
  });

  it('ends a response that is the only one', () => {
    expect(kinds([dynamoResponse('1', 'a', 'stop')])).toMatchObject([
      { kind: 'complete', tokenCount: 1 },
    ]);
  });

  it('counts for nothing where the server marks the last response', () => {
    const marked = (text: string, reason: string, isLast: boolean): ModelInferResponse => ({
      ...dynamoResponse('1', text, reason),
      parameters: { triton_final_response: { boolParam: isLast } },
    });
    const ends = { ends: 'marked' } as const;
    const gathered = kinds([marked('a', 'stop', false), marked('b', '', true)], ends);
    expect(gathered.map(({ kind }) => kind)).toEqual(['more', 'complete']);
  });

  it('is not looked for where a model is known to answer once', () => {
    expect(kinds([dynamoResponse('1', 'a', '')], { readsFinish: false })).toMatchObject([
      { kind: 'complete' },
    ]);
  });

  it('that cannot be read fails the request', () => {
    const bad = dynamoResponse('1', 'a', 'stop');
    const [text, reason] = bad.outputs ?? [];
    const outputsOfBad = [text, { ...reason, shape: [3] }] as typeof bad.outputs & object;
    expect(kinds([{ ...bad, outputs: outputsOfBad }])).toMatchObject([
      { kind: 'failed', code: 'bad-response' },
    ]);
  });
});
