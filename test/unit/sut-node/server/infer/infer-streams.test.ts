import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../../shared/base/process/logger.ts';
import type { InferServices } from '../../../../../sut-node/server/infer/infer-services.ts';
import { InferStreams } from '../../../../../sut-node/server/infer/infer-streams.ts';
import { INFER_CALLS_MAX } from '../../../../../sut-node/server/limits/node-limits.ts';
import {
  GOOD_OPEN,
  InferStreamScene,
  partSample,
} from '../../../../scenes/sut-node/infer-stream-scene.ts';

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

describe('a stream of a warm-up', () => {
  it('keeps the samples of a warm-up from the model and from the ledgers', async () => {
    const scene = new InferStreamScene();
    scene.open({ features: ['warm-up'] });
    expect(scene.controls[0]?.opened?.features).toEqual(['warm-up']);
    scene.part([partSample(1), partSample(2)]);
    expect(scene.queue).toEqual([]);
    expect(scene.warmUpQueue.map(({ id }) => id)).toEqual([1, 2]);
    expect(await scene.ledgers.toWire(GOOD_OPEN.runId)).toMatchObject({ known: false });
    expect(scene.ledgers.totals()).toMatchObject({ runCount: 0, sampleCount: 0 });
  });
});
