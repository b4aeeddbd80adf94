import { describe, expect, it } from 'vitest';
import {
  encodeFrame,
  WorkerFrameReader,
} from '../../../../../sut-node/inference/workers/worker-process.ts';

interface Frame {
  readonly head: object;
  readonly body: ArrayBuffer;
}

function setUp() {
  const frames: Frame[] = [];
  const asked: number[] = [];
  const reader = new WorkerFrameReader({
    takeBuffer: (bytes) => {
      asked.push(bytes);
      return new ArrayBuffer(bytes + 7);
    },
    onFrame: (head, body) => frames.push({ head, body }),
  });
  return { frames, asked, reader };
}

const HEAD = { kind: 'batch', ends: Float64Array.of(2, 5), forms: Uint8Array.of(0, 1), text: 'ü' };
const BODY = Uint8Array.of(1, 2, 3, 4, 5);

// Goal: what goes in comes out, however the socket cuts it. Method: two frames with a bare one in
// between.
describe('WorkerFrameReader', () => {
  const stream = Buffer.concat([
    ...encodeFrame(HEAD, BODY),
    ...encodeFrame({ kind: 'stop' }, new Uint8Array(0)),
    ...encodeFrame(HEAD, BODY.subarray(1)),
  ]);

  it.each([1, 2, 3, 13, 64, 100_000])('reads frames out of chunks of %i bytes', (size) => {
    const { reader, frames, asked } = setUp();
    for (let begin = 0; begin < stream.length; begin += size) {
      reader.read(stream.subarray(begin, begin + size));
    }
    expect(frames.map(({ head }) => head)).toEqual([HEAD, { kind: 'stop' }, HEAD]);
    expect(frames.map(({ body }) => [...new Uint8Array(body).subarray(0, 5)])).toEqual([
      [1, 2, 3, 4, 5],
      [],
      [2, 3, 4, 5, 0],
    ]);
    expect(asked).toEqual([5, 4]);
  });

  it('gives out the place of the bytes themselves, so that none is copied', () => {
    const { reader, frames } = setUp();
    let position = 0;
    while (position < stream.length) {
      const { space } = reader;
      expect(space.length).toBeGreaterThan(0);
      const chunk = stream.subarray(position, position + space.length);
      space.set(chunk);
      position += chunk.length;
      reader.filled(chunk.length);
    }
    expect(frames).toHaveLength(3);
    expect([...new Uint8Array(frames[0]?.body ?? new ArrayBuffer(0), 0, 5)]).toEqual([
      1, 2, 3, 4, 5,
    ]);
  });
});
