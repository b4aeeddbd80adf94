import { describe, expect, it } from 'vitest';
import {
  type LoggedResponse,
  ResponseRecorder,
} from '../../../../../loadgen-node/loadgen/recorder/response-recorder.ts';

describe('ResponseRecorder', () => {
  // A transport's messages are Buffers, whose `slice` is a view: the next message would replace what is kept.
  it('keeps copies of payloads whose memory is used again', () => {
    const message = Buffer.from('first');
    const kept: LoggedResponse[] = [];
    const recorder = new ResponseRecorder(true, (response) => kept.push(response));
    recorder.keepFirstToken(7, message.subarray(0, 2));
    recorder.add(7, 3, message.subarray(1), null);
    message.fill('x');
    recorder.handOn();
    expect(kept.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['irst']);
    expect(Buffer.from(recorder.takeFirstToken(7)).toString()).toBe('fi');
  });
});
