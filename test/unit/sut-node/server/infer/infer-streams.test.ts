import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../../shared/base/process/logger.ts';
import type { InferServices } from '../../../../../sut-node/server/infer/infer-stream.ts';
import { InferStreams } from '../../../../../sut-node/server/infer/infer-streams.ts';
import { INFER_CALLS_MAX } from '../../../../../sut-node/server/limits/node-limits.ts';

describe('InferStreams', () => {
  it('refuses calls beyond its limit with a status, and takes one when one has gone', () => {
    const services = {} as InferServices; // A stream that was not opened asks for none of them.
    const streams = new InferStreams(silentLogger);
    const ends: object[] = [];
    const peer = { seen: null, write: () => true, end: (end: object) => ends.push(end) };
    const open = () => streams.open(peer, '127.0.0.1:1', services, '');
    const first = open();
    for (let i = 1; i < INFER_CALLS_MAX; i += 1) open();
    expect(ends).toEqual([]);
    expect(open()).toBeUndefined();
    expect(ends).toMatchObject([{ code: status.RESOURCE_EXHAUSTED }]);
    first?.cancelled();
    expect(open()).toBeDefined();
    expect(ends).toHaveLength(1);
    expect(streams.count).toBe(INFER_CALLS_MAX);
  });
});
