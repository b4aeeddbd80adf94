import { describe, expect, it } from 'vitest';
import { encodeRequest } from '../../../../scenes/oip-server/oip-messages.ts';
import { OipScene } from '../../../../scenes/oip-server/oip-scene.ts';

// Goal: a stream never holds more than it was admitted, loses nothing, and ends behind its last
// answer. Method: a stream on a real batcher whose model answers when the test says so.

describe('a ModelStreamInfer stream', () => {
  it('is not read while as many requests are in work as it may have', () => {
    const scene = new OipScene();
    const stream = scene.stream();
    for (let i = 0; i < 1_024; i += 1) stream.message(scene.request({ id: `${i}` }));
    expect(scene.isPaused).toBe(true);
    scene.answer();
    expect(scene.isPaused).toBe(false);
    expect(scene.written).toHaveLength(1_024);
  });

  it('is not read while its peer does not read, and goes on where it stopped', () => {
    const scene = new OipScene();
    const stream = scene.stream();
    scene.takesMore = false;
    for (const id of ['a', 'b', 'c']) stream.message(scene.request({ id }));
    scene.answer();
    expect([scene.isPaused, scene.ids]).toEqual([true, ['a']]);
    stream.message(scene.request({ id: 'd' }));
    expect(scene.queueLength).toBe(0);
    stream.halfClosed();
    scene.takesMore = true;
    stream.drained();
    expect([scene.isPaused, scene.ids]).toEqual([false, ['a', 'b', 'c']]);
    expect(scene.ends).toEqual([]);
    scene.answer();
    expect(scene.ids).toEqual(['a', 'b', 'c', 'd']);
    expect(scene.ends).toMatchObject([{ code: 0 }]);
  });

  it('waits with a request for which there is no room, and refuses one that never has any', async () => {
    const scene = new OipScene({ samplesMax: 64 });
    const stream = scene.stream();
    stream.message(scene.request({ id: 'a', rows: 60 }));
    stream.message(scene.request({ id: 'b', rows: 60 }));
    expect([scene.isPaused, scene.queueLength]).toEqual([true, 60]);
    scene.answer();
    await Promise.resolve();
    expect([scene.isPaused, scene.queueLength]).toEqual([false, 60]);
    scene.answer();
    expect(scene.ids).toEqual(['a', 'b']);

    const native = scene.credits.open(() => {});
    native?.grow();
    stream.message(scene.request({ id: 'c', rows: 60 }));
    expect(scene.errors.at(-1)).toMatch(/no room for 60 samples/);
    stream.message(scene.request({ id: 'd', rows: 2 }));
    scene.answer();
    expect(scene.ids).toEqual(['a', 'b', 'c', 'd']);
  });

  it('drops what it holds when its peer is gone', () => {
    const scene = new OipScene();
    const stream = scene.stream();
    stream.message(scene.request({ id: 'a' }));
    scene.hasWorker = false;
    stream.message(scene.request({ id: 'b' }));
    stream.cancelled();
    // A batch that a worker has runs to its end, and keeps its room until then.
    expect(scene.queueLength).toBe(1);
    scene.answer();
    expect(scene.written).toEqual([]);
    expect([scene.inference.count, scene.credits.heldBytes]).toEqual([0, 0]);
    expect([...scene.inference.totals.requests]).toEqual([['cancelled', 2]]);
    const { inferenceStats } = scene.inference.statistics.toWire('net');
    expect(inferenceStats).toMatchObject({ fail: { count: 2 }, success: { count: 0 } });
    expect(scene.endReasons).toEqual(['the peer is gone']);
    expect(scene.ends).toEqual([]);
  });

  it('counts requests that it never took as cancelled, and those for another model as no failure', () => {
    const scene = new OipScene({ samplesMax: 64 });
    const stream = scene.stream();
    stream.message(encodeRequest({ modelName: 'nobody' }));
    for (const id of ['a', 'b', 'c']) stream.message(scene.request({ id, rows: 60 }));
    stream.cancelled();
    expect([...scene.inference.totals.requests]).toEqual([
      ['not_found', 1],
      ['cancelled', 3],
    ]);
    const { inferenceStats } = scene.inference.statistics.toWire('net');
    expect(inferenceStats?.fail?.count).toBe(3);
  });

  it('answers what it has while it drains, refuses the rest, and ends', () => {
    const scene = new OipScene();
    const stream = scene.stream();
    stream.message(scene.request({ id: 'a' }));
    scene.refusal = 'the node shuts down';
    stream.drain('the node shuts down');
    stream.message(scene.request({ id: 'b' }));
    expect(scene.errors).toEqual(['the node shuts down']);
    expect(scene.ends).toEqual([]);
    scene.answer();
    expect(scene.ids).toEqual(['b', 'a']);
    expect(scene.ends).toMatchObject([{ code: 14, details: 'the node shuts down' }]);
  });

  it('says which request could not be read, as far as that is known', () => {
    const scene = new OipScene();
    const stream = scene.stream();
    stream.message(Buffer.from('0a05', 'hex'));
    stream.message(scene.request({ id: 'x', rows: 0 }));
    expect(scene.ids).toEqual(['', 'x']);
    expect(scene.errors[0]).toMatch(/malformed message/);
    expect(scene.errors[1]).toMatch(/no samples/);
    expect(scene.inference.totals.requests).toEqual(new Map([['invalid_argument', 2]]));
  });
});
