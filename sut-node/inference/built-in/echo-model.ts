import type { Clock } from '../../../shared/base/clock/clock.ts';
import { ImmediateModel } from './immediate-model.ts';

/**
 * The benchmark `echo`: answers every sample with its own payload. That is a view into the message that
 * brought it, or one copy where it came in pieces. What does not fit a message fails with the code `limit`.
 */
export function createEchoModel(clock: Clock): ImmediateModel {
  return new ImmediateModel(clock, {
    key: 'echo',
    responseBytesMax: undefined,
    respond: ({ pieces, bytes }) => {
      const [only] = pieces;
      return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, bytes);
    },
  });
}
