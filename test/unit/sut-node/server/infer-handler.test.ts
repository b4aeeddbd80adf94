import { EventEmitter } from 'node:events';
import { Metadata, status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../shared/base/process/logger.ts';
import { InferStreams } from '../../../../sut-node/server/infer-handler.ts';
import { INFER_CALLS_MAX } from '../../../../sut-node/server/node-limits.ts';

type InferCall = Parameters<InferStreams['handle']>[0];
type Services = Parameters<InferStreams['handle']>[1];

/** A call as far as a stream that was not opened needs one. */
function callOf(ends: object[]): InferCall {
  const call = Object.assign(new EventEmitter(), {
    getPeer: () => '127.0.0.1:1',
    metadata: new Metadata(),
  });
  call.on('error', (end) => ends.push(end));
  return call as unknown as InferCall;
}

describe('InferStreams', () => {
  it('refuses calls beyond its limit with a status, and takes one when one has gone', () => {
    const services = { limits: { receiveBytesMax: 1 } } as Services;
    const streams = new InferStreams(silentLogger);
    const ends: object[] = [];
    const first = callOf(ends);
    streams.handle(first, services, '');
    for (let i = 1; i < INFER_CALLS_MAX; i += 1) streams.handle(callOf(ends), services, '');
    expect(ends).toEqual([]);
    streams.handle(callOf(ends), services, '');
    expect(ends).toMatchObject([{ code: status.RESOURCE_EXHAUSTED }]);
    first.emit('cancelled', '');
    streams.handle(callOf(ends), services, '');
    expect(ends).toHaveLength(1);
    expect(streams.count).toBe(INFER_CALLS_MAX);
  });
});
