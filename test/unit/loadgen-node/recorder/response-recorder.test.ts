import { expect, it } from 'vitest';
import {
  type LoggedResponse,
  ResponseRecorder,
} from '../../../../loadgen-node/recorder/response-recorder.ts';

// Goal: what a transport writes into its buffer after a call does not change a response that was kept. Method: a Buffer,
// whose own `slice` makes a view, is overwritten between the call and the hand-over.

it('keeps copies of first tokens and responses, whatever kind of view they come in', () => {
  const written: LoggedResponse[] = [];
  const recorder = new ResponseRecorder(true, (response) => written.push(response));
  const received = Buffer.from([1, 2, 3, 4]);
  recorder.keepFirstToken(7, received.subarray(0, 2));
  recorder.add(7, 0, received.subarray(2), null);
  received.fill(255);
  const firstToken = recorder.takeFirstToken(7);
  recorder.handOn();
  expect([...firstToken]).toEqual([1, 2]);
  expect(written.map(({ bytes }) => [...bytes])).toEqual([[3, 4]]);
});
