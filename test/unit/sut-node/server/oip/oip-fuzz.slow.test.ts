import { setImmediate } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timerClock } from '../../../../../shared/base/clock.ts';
import { createEchoModel } from '../../../../../sut-node/inference/built-in/immediate-model.ts';
import { StreamRefusal } from '../../../../../sut-node/server/limits/call-end.ts';
import type { InferResponse } from '../../../../../sut-node/server/oip/response-encoder.ts';
import { payloadOfRequest } from '../../../../scenes/oip-server/oip-messages.ts';
import { anyRequest, type FuzzedRequest } from '../../../../scenes/oip-server/oip-requests.ts';
import { OipScene } from '../../../../scenes/oip-server/oip-scene.ts';

// Goal: whatever bytes come as a request, it gets the right answer or a status that says what is
// wrong, exactly once, and nothing of it stays. Method: right, wrong, damaged and random requests,
// in parallel, on a real batcher and the model echo. OIP_FUZZ_REQUESTS=100000 tries more of them.

const SEED = Number(process.env['TEST_SEED'] ?? 1);
const REQUESTS = Number(process.env['OIP_FUZZ_REQUESTS'] ?? 10_000);
const REQUESTS_PER_RUN = 25;

/** Statuses by which a request may be refused; any other would be the node's own fault. */
const FAIR: readonly number[] = [
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.RESOURCE_EXHAUSTED,
];

type Outcome = InferResponse | StreamRefusal;

/** Asks as a unary call does. */
function infer(scene: OipScene, bytes: Buffer, outcomes: Outcome[]): void {
  const { inference } = scene;
  const take = (outcome: Outcome): void => {
    outcomes.push(outcome);
  };
  try {
    const request = inference.check(inference.read(bytes, 0), timerClock.nowNs());
    const work = inference.begin(request, { complete: take, refuse: take });
    if (work === undefined) take(inference.noRoom(request));
  } catch (error) {
    if (!(error instanceof StreamRefusal)) throw error;
    take(error);
  }
}

function rawOf({ outputs }: InferResponse): Buffer {
  return Buffer.concat(outputs.flatMap(({ rows }) => rows));
}

function judge({ bytes, expected }: FuzzedRequest, outcome: Outcome | undefined): void {
  expect(outcome).toBeDefined();
  if (outcome instanceof StreamRefusal) {
    expect(expected, outcome.end.details).toBeUndefined();
    expect(FAIR).toContain(outcome.end.code);
    expect(outcome.end.details).not.toBe('');
  } else if (outcome !== undefined) {
    // A damaged request may still be one; then another reader of protobuf finds the same payload in
    // it.
    const wanted = expected ?? payloadOfRequest(bytes);
    if (!rawOf(outcome).equals(wanted)) expect(rawOf(outcome)).toEqual(wanted);
  }
}

describe('requests of the Open Inference Protocol, whatever they are', () => {
  it(`get the right answer or a fair status, ${REQUESTS} of them`, async () => {
    const echo = createEchoModel(timerClock);
    const scene = new OipScene({ workers: echo, samplesMax: 512 });
    let answered = 0;
    const list = fc.array(anyRequest('net'), {
      minLength: REQUESTS_PER_RUN,
      maxLength: REQUESTS_PER_RUN,
    });
    const beforeBytes = process.memoryUsage().heapUsed;
    await fc.assert(
      fc.asyncProperty(list, async (requests) => {
        const outcomes = requests.map(({ bytes }) => {
          const own: Outcome[] = [];
          infer(scene, bytes, own);
          return own;
        });
        while (scene.inference.count > 0) await setImmediate();
        for (const [i, own] of outcomes.entries()) {
          expect(own).toHaveLength(1);
          judge(requests[i] as FuzzedRequest, own[0]);
          if (!(own[0] instanceof StreamRefusal)) answered += 1;
        }
        expect(scene.inference.room.used).toEqual({ requests: 0, samples: 0, bytes: 0 });
        expect([scene.credits.heldSamples, scene.credits.heldBytes]).toEqual([0, 0]);
      }),
      { seed: SEED, numRuns: Math.ceil(REQUESTS / REQUESTS_PER_RUN), endOnFailure: true },
    );
    // Both kinds are there, in numbers.
    expect(answered).toBeGreaterThan(REQUESTS / 8);
    expect(answered).toBeLessThan(REQUESTS);
    expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(256 * 2 ** 20);
  });

  it('leave a stream alive, with an answer to each', () => {
    fc.assert(
      fc.property(fc.array(anyRequest('net'), { maxLength: 20 }), fc.nat(3), (requests, every) => {
        const scene = new OipScene({ samplesMax: 64 });
        const stream = scene.stream();
        for (const [i, { bytes }] of requests.entries()) {
          stream.message(bytes);
          if (i % (every + 1) === 0) scene.answer();
        }
        stream.halfClosed();
        while (scene.ends.length === 0 && scene.queueLength > 0) scene.answer();
        expect(scene.written).toHaveLength(requests.length);
        expect(scene.ends).toMatchObject([{ code: status.OK }]);
        expect([scene.credits.heldSamples, scene.credits.heldBytes]).toEqual([0, 0]);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it.each([
    ['contents in pieces', repeated(field(5, [0x20])), 1, /more than 256 pieces of contents/],
    ['contents in empty pieces', repeated([0x2a, 0]), 1, /have 0 elements/],
    ['elements one by one', field(5, repeated([0x20, 1])), 1, /2 elements or more; .* for 1$/],
    ['empty lists', field(5, repeated([0x22, 0])), 1, /more than 257 fields/],
    ['empty lists of another type', field(5, repeated([0x12, 0])), 1, /more than 257 fields/],
    ['fields that nobody knows', field(5, repeated([0x78, 0])), 1, /more than 257 fields/],
    [
      'as many elements as there may be',
      field(5, repeated([0x20, 1], 2 ** 20)),
      2 ** 20,
      undefined,
    ],
  ])('cost no more than their bytes: %s', async (_case, contents, elements, refusal) => {
    const scene = new OipScene({ workers: createEchoModel(timerClock) });
    const outcomes: Outcome[] = [];
    const before = process.memoryUsage().rss;
    const begin = process.cpuUsage();
    infer(scene, requestWith(contents, elements), outcomes);
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1e3).toBeLessThan(3_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 2 ** 20);
    while (scene.inference.count > 0) await setImmediate();
    const [outcome] = outcomes;
    if (refusal === undefined) expect(outcome).not.toBeInstanceOf(StreamRefusal);
    else expect((outcome as StreamRefusal).end.details).toMatch(refusal);
  });
});

/** Bytes over and over: 8 MB of them, unless it is said how often. */
function repeated(bytes: Uint8Array | readonly number[], times = 2 ** 23 / bytes.length): Buffer {
  return Buffer.alloc(Math.floor(times) * bytes.length, Uint8Array.from(bytes));
}

/** A field of protobuf that has a length. */
function field(number: number, bytes: Uint8Array | readonly number[]): Buffer {
  const head = [number * 8 + 2];
  let rest = bytes.length;
  for (; rest >= 0x80; rest >>>= 7) head.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Uint8Array.from([...head, rest]), Uint8Array.from(bytes)]);
}

/** A request for one row of so many elements. */
function requestWith(contents: Buffer, elements: number): Buffer {
  // A varint that is longer than it need be is one, too.
  const axis = [(elements & 0x7f) | 0x80, ((elements >>> 7) & 0x7f) | 0x80, elements >>> 14];
  const input = [
    field(1, Buffer.from('input')),
    field(2, Buffer.from('UINT8')),
    field(3, [1, ...axis]),
    contents,
  ];
  return Buffer.concat([field(1, Buffer.from('net')), field(5, Buffer.concat(input))]);
}
