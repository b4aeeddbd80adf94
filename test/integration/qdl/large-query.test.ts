import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { ask, wholeSample } from '../../scenes/sut-node/sut-client.ts';
import { openStream, RAW_OPEN, startTestNode } from '../../scenes/sut-node/sut-node.ts';

const SAMPLES = 1_000_000;
const QUEUE_SAMPLES = 65_536;
const PART_SAMPLES = 16_384;

// Goal: a query of any number of samples goes through a node that holds few of them: each is
// answered and counted once, and credit, which bounds what the node holds, never grows with the
// query. Method: a real node, Offline's query of a million samples of 4 bytes, sent as credit
// comes.
it('a query of a million samples passes through a small queue, and both ends count the same', async () => {
  const node = await startTestNode({
    benchmark: 'null',
    batchSizeMax: 4_096,
    responseBytes: 1,
    queueSamplesMax: QUEUE_SAMPLES,
  });
  const client = await openStream(node, { ...RAW_OPEN, benchmark: 'null' });
  const payload = Uint8Array.of(1, 2, 3, 4);
  let sent = 0;
  let heldMax = 0;
  const answered = new Uint8Array(SAMPLES);
  let answeredCount = 0;
  await new Promise<void>((resolve) => {
    void client.ended.then(() => resolve());
    client.onMessage = () => {
      for (const { id } of client.completed.splice(0)) {
        answered[id] = (answered[id] as number) + 1;
        answeredCount += 1;
      }
      // Credit counts from the beginning of the stream.
      heldMax = Math.max(heldMax, client.creditSamples - answeredCount);
      const allowed = Math.min(SAMPLES, client.creditSamples, Math.floor(client.creditBytes / 4));
      while (sent < allowed) {
        const count = Math.min(PART_SAMPLES, allowed - sent);
        const first = sent;
        const samples = Array.from({ length: count }, (_, i) => wholeSample(first + i, payload));
        client.part(0, samples, SAMPLES);
        sent += count;
      }
      if (answeredCount === SAMPLES) resolve();
    };
    client.onMessage();
  });
  client.close();
  expect(await client.ended).toMatchObject({ code: status.OK });
  expect({ sent, answeredCount, failed: client.failed }).toEqual({
    sent: SAMPLES,
    answeredCount: SAMPLES,
    failed: [],
  });
  expect(answered.every((count) => count === 1)).toBe(true);
  expect(heldMax).toBeGreaterThan(0);
  expect(heldMax).toBeLessThanOrEqual(QUEUE_SAMPLES);
  expect(await ask(node.address, 'Ledger', { runId: RAW_OPEN.runId })).toMatchObject({
    queryCount: 1,
    sampleCount: SAMPLES,
    completedCount: SAMPLES,
    failedCount: 0,
    payloadBytes: 4 * SAMPLES,
  });
});
