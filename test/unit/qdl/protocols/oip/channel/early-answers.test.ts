import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { answerTo, scene } from '../../../../../scenes/oip-server/oip-channel-scene.ts';
import {
  encodeResponse,
  encodeStreamResponse,
} from '../../../../../scenes/oip-server/oip-messages.ts';

// Goal: an answer to a request of which not every byte was with the socket is none, and its server
// is named. Method: a connection whose calls go nowhere, and say how much of them is sent.

describe('an answer before its request', () => {
  it.each(['unary', 'stream-per-request', 'stream'] as const)(
    'fails a sample that is answered before all of its request is out, by %s',
    (method) => {
      const { reports, send } = scene(method);
      const call = send(1, { sentBytes: 10, unsentBytes: 90 });
      const message = answerTo(call);
      const encoded =
        method === 'unary'
          ? encodeResponse(message)
          : encodeStreamResponse({ inferResponse: message });
      call.sentBytes = 99;
      call.answer(encoded);
      expect(reports.lines).toEqual(['early-response', 'early-response 1']);
    },
  );

  it('completes a sample of a stream whose request is out, while the next one waits', () => {
    const { reports, send } = scene('stream');
    const stream = send(1, { sentBytes: 10, unsentBytes: 90 });
    const first = answerTo(stream);
    send(2, { sentBytes: 50, unsentBytes: 150 });
    const second = answerTo(stream);
    stream.sentBytes = 100;
    stream.answer(encodeStreamResponse({ inferResponse: first }));
    stream.answer(encodeStreamResponse({ inferResponse: second }));
    expect(reports.lines).toEqual(['complete 1 8 -', 'early-response', 'early-response 2']);
  });

  it("keeps the server's own word on a request that it did not read", () => {
    const { reports, send } = scene('unary');
    send(1, { sentBytes: 10, unsentBytes: 90 }).finish(status.RESOURCE_EXHAUSTED, 'too large');
    const stream = scene('stream');
    stream.send(2, { sentBytes: 10, unsentBytes: 90 });
    stream.send(3).answer(encodeStreamResponse({ errorMessage: 'too large' }));
    expect([...reports.lines, ...stream.reports.lines]).toEqual(['limit 1', 'inference 2']);
  });
});
