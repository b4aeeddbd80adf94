import { expect, it } from 'vitest';
import { DelayModel } from '../../../../../sut-node/inference/built-in/delay-model.ts';
import { NO_CONTEXT } from '../../../../scenes/simulated-run/sut-parts.ts';
import { InferStreamScene, partSample } from '../../../../scenes/sut-node/infer-stream-scene.ts';

// Goal: a query far larger than the queue of a slow node goes through to its end, and what is in
// the node never exceeds what was granted. Method: a peer that sends whenever its credit allows,
// two servers, no network.

const QUERY_SAMPLES = 400;
const PAYLOAD_BYTES = 50;
const QUEUE_BYTES = 1_000;

it('bounds an Offline query in front of slow servers by credit, and completes it', async () => {
  const scene = new InferStreamScene(QUEUE_BYTES);
  const answer = { atNs: 1_000, payload: Uint8Array.of(1), tokens: undefined };
  const model = new DelayModel({
    clock: scene.clock,
    concurrency: 2,
    answers: () => Promise.resolve(() => answer),
  });
  await model.load(NO_CONTEXT);
  scene.open();
  let sent = 0;
  let answered = 0;
  let mostInNode = 0;
  while (answered < QUERY_SAMPLES) {
    const grants = scene.controls.map((control) => control.opened?.credit ?? control.credit);
    const samples = Math.max(...grants.map((grant) => grant?.samples ?? 0));
    const bytes = Math.max(...grants.map((grant) => grant?.bytes ?? 0));
    while (sent < QUERY_SAMPLES && sent < samples && (sent + 1) * PAYLOAD_BYTES <= bytes) {
      const sample = partSample(sent, { payload: new Uint8Array(PAYLOAD_BYTES) });
      scene.part([sample], { querySampleCount: QUERY_SAMPLES });
      sent += 1;
    }
    mostInNode = Math.max(mostInNode, sent - answered);
    while (model.hasRoom && scene.queue.length > 0) {
      model.run({ samples: scene.queue.splice(0, 1), takenAtNs: scene.clock.nowNs() });
    }
    // Nothing in service and nothing on its way would be a node that stands still.
    expect(sent).toBeGreaterThan(answered);
    scene.clock.advance(1_000);
    answered = scene.ledgers.open('run-1').completedCount;
    expect(scene.ends).toEqual([]);
  }
  expect(mostInNode * PAYLOAD_BYTES).toBeLessThanOrEqual(QUEUE_BYTES);
  expect(mostInNode).toBeGreaterThan(2);
  expect(scene.responses.flatMap(({ completed }) => completed)).toHaveLength(QUERY_SAMPLES);
});
