import type { Clock } from '../../../shared/base/clock/clock.ts';
import { SYNTHETIC_RESPONSE_BYTES_DEFAULT } from '../../../shared/rules/rows/synthetic-samples.ts';
import { ImmediateModel } from './immediate-model.ts';

/** The benchmark `null`: answers every sample with zeros, as many as it is told. */
export function createNullModel(
  clock: Clock,
  responseBytes: number = SYNTHETIC_RESPONSE_BYTES_DEFAULT,
): ImmediateModel {
  const response = new Uint8Array(responseBytes);
  return new ImmediateModel(clock, {
    key: 'null',
    responseBytesMax: responseBytes,
    respond: () => response,
  });
}
