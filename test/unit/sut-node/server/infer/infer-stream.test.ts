import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { Open } from '../../../../../proto/gen/mlperf/network/v1/Open.ts';
import { encodePart } from '../../../../../shared/wire/part-codec.ts';
import { FAILURE_CODES } from '../../../../../shared/wire/responses-codec.ts';
import {
  InferStreamScene,
  partSample,
  SCENE_LIMITS,
} from '../../../../scenes/sut-node/infer-stream-scene.ts';

const LULL_NS = 200_000_000;

function opened(open: Partial<Open> = {}, queueBytesMax?: number): InferStreamScene {
  const scene = new InferStreamScene(queueBytesMax);
  scene.open(open);
  return scene;
}

// Goal: a stream answers every whole sample once, ends as the protocol says, and survives any peer.
// Method: the state machine with a queue and a peer that only remember; no gRPC.
describe('InferStream', () => {
  it('answers Open with what it chose and its first credit, then grants the rest', () => {
    const scene = opened();
    const [first, second] = scene.controls;
    expect(first?.opened).toMatchObject({
      nodeName: 'sut-a',
      nodeIdentity: 'identity-a',
      model: 'digits-model',
      encodings: [1],
      responseEncodings: [0],
      credit: { samples: 10, bytes: 2_000 / 5 },
    });
    expect(second?.credit).toEqual({ samples: 320, bytes: 64_000 });
  });

  it.each([
    ['another protocol version', { protocolVersion: 2 }, status.FAILED_PRECONDITION, 'version 1'],
    ['another benchmark', { benchmark: 'bert' }, status.FAILED_PRECONDITION, '"bert"'],
    ['another model', { model: 'mine' }, status.FAILED_PRECONDITION, '"mine"'],
    ['no run id', { runId: '' }, status.INVALID_ARGUMENT, 'run_id'],
    ['no division', { division: 0 as const }, status.INVALID_ARGUMENT, 'division'],
    ['encodings unknown here', { encodings: [] }, status.FAILED_PRECONDITION, 'jpeg/identity'],
    [
      'a compression unknown here',
      { encodings: [{ form: 'raw', compression: 'br' }] },
      status.FAILED_PRECONDITION,
      'raw/br',
    ],
    ['no readable response', { responseEncodings: [] }, status.FAILED_PRECONDITION, 'responses'],
    ['digests without the feature', { digestPerMillion: 5 }, status.INVALID_ARGUMENT, 'digest'],
  ])('refuses an Open with %s', (_case, fields, code, text) => {
    const scene = new InferStreamScene();
    scene.open(fields);
    expect(scene.ends).toHaveLength(1);
    expect(scene.ends[0]?.code).toBe(code);
    expect(scene.ends[0]?.details).toContain(text);
    expect(scene.endedCount).toBe(1);
  });

  it.each([
    ['a part', (scene: InferStreamScene) => scene.part([partSample(1)])],
    ['Close', (scene: InferStreamScene) => scene.close()],
    ['the end of the stream', (scene: InferStreamScene) => scene.stream.halfClosed()],
    ['an empty message', (scene: InferStreamScene) => scene.stream.message(Buffer.alloc(0))],
  ])('refuses %s before Open', (_case, act) => {
    const scene = new InferStreamScene();
    act(scene);
    expect(scene.ends.map((end) => end.code)).toEqual([status.INVALID_ARGUMENT]);
  });

  it.each([
    ['a part that is cut off', Buffer.from([0x12, 0x05, 0x1a])],
    ['random bytes', Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])],
    ['a second Open', undefined],
  ])('refuses %s', (_case, bytes) => {
    const scene = opened();
    if (bytes === undefined) scene.open();
    else scene.stream.message(bytes);
    expect(scene.ends.map((end) => end.code)).toEqual([status.INVALID_ARGUMENT]);
  });

  it('answers samples, counts them and ends with OK after Close', async () => {
    const scene = opened();
    scene.part([partSample(1), partSample(2)]);
    scene.close();
    expect(scene.ends).toEqual([]);
    scene.answer();
    expect(scene.responses[0]?.completed.map((sample) => sample.id)).toEqual([1, 2]);
    expect(scene.ends.map((end) => end.code)).toEqual([status.OK]);
    expect(await scene.ledgers.toWire('run-1')).toMatchObject({
      queryCount: 1,
      partCount: 1,
      sampleCount: 2,
      payloadBytes: 6,
      completedCount: 2,
      failedCount: 0,
      responseBytes: 2,
      streamCount: 1,
      encodings: [{ form: 'raw', compression: 'identity' }],
    });
  });

  it('takes the end of the peer’s side for Close', () => {
    const scene = opened();
    scene.part([partSample(1)]);
    scene.stream.halfClosed();
    scene.answer();
    expect(scene.ends.map((end) => end.code)).toEqual([status.OK]);
  });

  it('tells lengths of time that sum to the residence time', () => {
    const scene = opened();
    scene.clock.advance(1_000);
    scene.part([partSample(1)]);
    const [sample] = scene.queue;
    if (sample === undefined) throw new Error('nothing waits');
    scene.clock.advance(50_000);
    const times = {
      takenAtNs: 11_000,
      beganAtNs: 13_000,
      preprocessNs: 4_000,
      computeNs: 20_000,
      postprocessNs: 1_000,
      endedAtNs: 38_000,
    };
    scene.stream.answer([{ sample, payload: Uint8Array.of(1), fault: undefined, times }]);
    expect(scene.responses[0]?.completed[0]?.durations).toEqual({
      receiveNs: 0,
      queueNs: 10_000,
      batchWaitNs: 2_000,
      preprocessNs: 4_000,
      computeNs: 20_000,
      postprocessNs: 1_000,
      sendNs: 13_000,
    });
  });

  it.each([
    ['no sample', [], {}],
    ['more samples than its query', [partSample(1), partSample(2)], { querySampleCount: 1 }],
    ['an encoding that was not accepted', [partSample(1, { encoding: 0 })], {}],
    ['an encoding that does not exist', [partSample(1, { encoding: 9 })], {}],
    ['one id twice', [partSample(1), partSample(1)], {}],
    ['a piece that begins in the middle', [partSample(1, { offset: 3, total: 9 })], {}],
    ['a piece as long as the whole', [partSample(1, { total: 3 })], {}],
    ['a sample above the limit', [partSample(1, { total: 401 })], {}],
    ['payload above the limit', [partSample(1, { payload: new Uint8Array(1_001) })], {}],
    [
      'another sample amid pieces',
      [partSample(1, { total: 9 }), partSample(2)],
      { querySampleCount: 2 },
    ],
    [
      'lengths that do not sum to the payload',
      [partSample(1, { payload: new Uint8Array(0) })],
      { queryPayload: new Uint8Array(5), queryEncoding: 1, querySampleBytes: [4] },
    ],
  ])('refuses a part with %s', (_case, samples, fields) => {
    const scene = opened();
    scene.part(samples, fields);
    expect(scene.ends.map((end) => end.code)).toEqual([status.INVALID_ARGUMENT]);
    expect(scene.queue).toEqual([]);
  });

  it('refuses an id that an earlier part had', () => {
    const scene = opened();
    scene.part([partSample(7)]);
    scene.answer();
    scene.part([partSample(7)], { query: 1 });
    expect(scene.ends[0]?.details).toContain('sample id 7 was sent twice');
  });

  it('puts a sample together that comes in pieces', async () => {
    const scene = opened();
    const payload = Uint8Array.from({ length: 9 }, (_, i) => i);
    for (const offset of [0, 4, 8]) {
      const piece = payload.subarray(offset, offset + 4);
      scene.part([partSample(5, { payload: piece, offset, total: 9 })]);
    }
    expect(scene.queue).toHaveLength(1);
    expect(Buffer.concat(scene.queue[0]?.pieces ?? [])).toEqual(Buffer.from(payload));
    expect(scene.queue[0]?.bytes).toBe(9);
    expect(await scene.ledgers.toWire('run-1')).toMatchObject({
      queryCount: 1,
      partCount: 3,
      sampleCount: 1,
      payloadBytes: 9,
    });
  });

  it('refuses pieces that leave a gap, and a Close amid pieces', () => {
    const gap = opened();
    gap.part([partSample(5, { total: 9 })]);
    gap.part([partSample(5, { offset: 4, total: 9 })]);
    expect(gap.ends[0]?.details).toContain('must begin at 3, not at 4');
    const early = opened();
    early.part([partSample(5, { total: 9 })]);
    early.close();
    expect(early.ends[0]?.details).toContain('between the pieces of sample 5');
  });

  it('cuts samples out of the payload of a whole query', async () => {
    const scene = opened();
    const empty = new Uint8Array(0);
    scene.part([partSample(1, { payload: empty }), partSample(2, { payload: empty })], {
      queryPayload: Uint8Array.of(1, 2, 3, 4, 5),
      queryEncoding: 1,
      querySampleBytes: [2, 3],
    });
    expect(scene.queue.map((sample) => [...(sample.pieces[0] ?? [])])).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    expect(await scene.ledgers.toWire('run-1')).toMatchObject({ payloadBytes: 5, sampleCount: 2 });
  });

  it('leaves the payload of a compressed query whole, and gives its credit back by shares', async () => {
    const scene = opened({ encodings: [{ form: 'raw', compression: 'lz4' }] });
    const empty = new Uint8Array(0);
    const samples = [1, 2, 3].map((id) => partSample(id, { payload: empty, encoding: 0 }));
    const queryPayload = Uint8Array.from({ length: 11 }, (_, i) => i);
    scene.part(samples, { queryPayload, queryEncoding: 0, querySampleBytes: [2, 0, 300] });
    expect(scene.queue.map((sample) => [...(sample.pieces[0] ?? [])])).toEqual(
      Array(3).fill([...queryPayload]),
    );
    expect(scene.queue.map((sample) => sample.slice)).toEqual([
      { begin: 0, end: 2, total: 302 },
      { begin: 2, end: 2, total: 302 },
      { begin: 2, end: 302, total: 302 },
    ]);
    expect(scene.queue.map((sample) => sample.bytes)).toEqual([3, 4, 4]);
    expect(await scene.ledgers.toWire('run-1')).toMatchObject({ payloadBytes: 11, sampleCount: 3 });
  });

  it('refuses a compressed query that says it holds more than a part may', () => {
    const scene = opened({ encodings: [{ form: 'raw', compression: 'lz4' }] });
    scene.part([partSample(1, { payload: new Uint8Array(0), encoding: 0 })], {
      queryPayload: Uint8Array.of(1, 2, 3),
      queryEncoding: 0,
      querySampleBytes: [1_001],
    });
    expect(scene.ends[0]?.details).toContain('1001 bytes as a whole; 1000 are taken at most');
  });

  it('refuses a whole query of so many samples that decompressing it for them would be an attack', () => {
    const scene = opened({ encodings: [{ form: 'raw', compression: 'lz4' }] });
    const samples = Array.from({ length: 129 }, (_, id) =>
      partSample(id, { payload: new Uint8Array(0), encoding: 0 }),
    );
    scene.part(samples, {
      queryPayload: Uint8Array.of(1, 2, 3),
      queryEncoding: 0,
      querySampleBytes: samples.map(() => 1),
    });
    expect(scene.ends[0]?.details).toContain('with 129 samples; 128 are taken at most');
  });

  it('takes every compression that it offers, and tells which encoding a sample has', () => {
    const scene = opened({
      encodings: [
        { form: 'raw', compression: 'lz4' },
        { form: 'raw', compression: '' },
        { form: 'jpeg', compression: 'lz4' },
      ],
    });
    scene.part([partSample(1, { encoding: 0 }), partSample(2, { encoding: 1 })]);
    expect(scene.queue.map((sample) => sample.form)).toEqual([2, 1]);
    scene.part([partSample(3, { encoding: 2 })], { query: 1 });
    expect(scene.ends[0]?.details).toContain('encoding 2, which Opened did not accept');
  });

  it('tells in the ledger the encodings that samples had, not those that were offered', async () => {
    const scene = opened({
      encodings: [
        { form: 'jpeg', compression: 'identity' },
        { form: 'raw', compression: '' },
        { form: 'raw', compression: 'lz4' },
      ],
    });
    const encodings = async () => (await scene.ledgers.toWire('run-1')).encodings;
    expect(await encodings()).toEqual([]);
    scene.part([partSample(1)]);
    expect(await encodings()).toEqual([{ form: 'raw', compression: 'identity' }]);
    scene.part([partSample(2, { payload: new Uint8Array(0) })], {
      query: 1,
      queryPayload: Uint8Array.of(1, 2),
      queryEncoding: 2,
      querySampleBytes: [3],
    });
    expect(await encodings()).toEqual([
      { form: 'raw', compression: 'identity' },
      { form: 'raw', compression: 'lz4' },
    ]);
  });

  it('fails a whole sample above the limit and lives on', async () => {
    const scene = opened();
    scene.part([partSample(1, { payload: new Uint8Array(401) }), partSample(2)]);
    scene.answer();
    const [refused, good] = scene.responses;
    expect(refused?.failed).toMatchObject([{ id: 1, code: FAILURE_CODES.limit }]);
    expect(good?.completed.map((sample) => sample.id)).toEqual([2]);
    expect(await scene.ledgers.toWire('run-1')).toMatchObject({
      completedCount: 1,
      failedCount: 1,
    });
  });

  it('ends the stream of a peer that sends more than it was granted', () => {
    const scene = opened({}, SCENE_LIMITS.sampleBytesMax);
    scene.part([partSample(1, { payload: new Uint8Array(400) })]);
    scene.part([partSample(2, { payload: new Uint8Array(1) })]);
    expect(scene.ends[0]?.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(scene.ends[0]?.details).toContain('more was sent than the granted credit');
  });

  it('returns credit when an answer was handed over, not before', () => {
    const scene = opened({}, SCENE_LIMITS.sampleBytesMax);
    scene.part([partSample(1, { payload: new Uint8Array(400) })]);
    const before = scene.controls.length;
    scene.takesMore = false;
    scene.answer();
    expect(scene.controls.slice(before).map((control) => control.credit?.bytes)).toEqual([800]);
  });

  it('holds answers while gRPC takes no more, and sends them afterwards', () => {
    const scene = opened();
    scene.part([partSample(1), partSample(2)]);
    scene.takesMore = false;
    scene.answer(1);
    scene.answer(1);
    scene.close();
    expect(scene.responses).toHaveLength(1);
    expect(scene.ends).toEqual([]);
    scene.takesMore = true;
    scene.stream.drained();
    expect(scene.responses).toHaveLength(2);
    expect(scene.ends.map((end) => end.code)).toEqual([status.OK]);
  });

  it('drops and counts what a peer that is gone had sent', () => {
    const scene = opened();
    scene.part([partSample(1), partSample(2), partSample(3)]);
    const running = scene.queue.shift();
    scene.stream.cancelled();
    expect(scene.queue).toEqual([]);
    expect(scene.ledgers.open('run-1').droppedCount).toBe(3);
    expect(scene.credits.heldSamples).toBe(0);
    if (running !== undefined) scene.queue.push(running);
    scene.answer();
    expect(scene.responses).toEqual([]);
    expect(scene.ends).toEqual([]);
  });

  it('on a drain answers what it has, fails what comes, and ends when it is quiet', () => {
    const scene = opened();
    scene.part([partSample(1)]);
    scene.stream.drain('the node goes');
    expect(scene.controls.at(-1)?.draining?.reason).toBe('the node goes');
    scene.part([partSample(2)], { query: 1 });
    scene.answer();
    expect(scene.responses[0]?.failed).toMatchObject([{ id: 2, code: FAILURE_CODES.draining }]);
    expect(scene.responses[1]?.completed.map((sample) => sample.id)).toEqual([1]);
    scene.clock.advance(LULL_NS - 1);
    expect(scene.ends).toEqual([]);
    scene.clock.advance(1);
    expect(scene.ends).toEqual([{ code: status.UNAVAILABLE, details: 'the node goes' }]);
  });

  it('ends with OK when the peer closes during a drain', () => {
    const scene = opened();
    scene.stream.drain('the node goes');
    scene.close();
    expect(scene.ends.map((end) => end.code)).toEqual([status.OK]);
    expect(scene.clock.plannedCount).toBe(0);
  });

  it('refuses a part of endless empty samples by the first ones', () => {
    const scene = opened();
    const body = Buffer.alloc(2_000, Buffer.from([0x1a, 0]));
    scene.stream.message(Buffer.concat([Buffer.from([0x12, 0xd0, 0x0f]), body]));
    expect(scene.ends).toHaveLength(1);
    expect(scene.queue).toEqual([]);
  });

  it('refuses a part of which most is no payload: credit would not count it', () => {
    const scene = opened();
    const sample = encodePart({ query: 0, querySampleCount: 1, samples: [partSample(1)] }).subarray(
      2,
    );
    const junk = Buffer.concat([Buffer.from([0x7a, 0x88, 0x27]), Buffer.alloc(5_000)]);
    const length = sample.length + junk.length;
    const head = Buffer.from([0x12, (length % 128) + 128, Math.floor(length / 128)]);
    scene.stream.message(Buffer.concat([head, sample, junk]));
    expect(scene.ends.map((end) => end.code)).toEqual([status.INVALID_ARGUMENT]);
    expect(scene.ends[0]?.details).toContain('are not payload');
  });
});
