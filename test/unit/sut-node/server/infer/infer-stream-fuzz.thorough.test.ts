import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePart } from '../../../../../shared/wire/part-codec.ts';
import { runsOf } from '../../../../scenes/host/thorough.ts';
import { InferStreamScene, partSample } from '../../../../scenes/sut-node/infer-stream-scene.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 1);

const goodPart = fc
  .record({
    query: fc.nat(),
    ids: fc.uniqueArray(fc.nat(50), { minLength: 1, maxLength: 4 }),
    encoding: fc.nat(2),
    offset: fc.nat(6),
    total: fc.nat(12),
  })
  .map(({ query, ids, encoding, offset, total }) =>
    encodePart({
      query,
      querySampleCount: ids.length,
      samples: ids.map((id) => partSample(id, { encoding, offset, total })),
    }),
  );

const damagedPart = fc
  .tuple(goodPart, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), fc.nat(8))
  .map(([part, changes, cut]) => {
    const bytes = Buffer.from(part.subarray(0, Math.max(0, part.length - cut)));
    for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value;
    return bytes;
  });

const anyBytes = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes));

// Goal: no bytes from a peer make the node throw, owe an answer that never comes, or lose credit.
// Method: streams of good, damaged and random messages; then answer what was accepted and close.
describe('InferStream under random messages', () => {
  it.each([
    ['before Open', false],
    ['after Open', true],
  ])('lives on %s and settles its account', (_case, opensFirst) => {
    const message = fc.oneof(goodPart, damagedPart, anyBytes);
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        const scene = new InferStreamScene();
        if (opensFirst) scene.open();
        for (const bytes of messages) {
          scene.stream.message(bytes);
          if (messages.length % 2 === 0) scene.answer(1);
        }
        scene.answer();
        scene.stream.halfClosed();
        expect(scene.ends).toHaveLength(1);
        expect(scene.endedCount).toBe(1);
        expect(scene.queue).toEqual([]);
        expect([scene.credits.heldSamples, scene.credits.heldBytes]).toEqual([0, 0]);
      }),
      { seed: SEED, numRuns: runsOf(500, 100) },
    );
  });
});
