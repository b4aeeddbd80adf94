import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServiceTimes } from '../../../../../shared/domain/system-under-test.ts';
import type { Batch, SutModel } from '../../../../../sut-node/inference/batcher/sut-model.ts';
import { DelayModel } from '../../../../../sut-node/inference/built-in/delay-model.ts';
import {
  createEchoModel,
  createNullModel,
} from '../../../../../sut-node/inference/built-in/immediate-model.ts';
import { answerBatch } from '../../../../../sut-node/inference/workers/batch-answers.ts';
import type { ManualClock } from '../../../../scenes/clock.ts';
import { NO_CONTEXT } from '../../../../scenes/simulated-run/sut-parts.ts';
import { InferStreamScene, partSample } from '../../../../scenes/sut-node/infer-stream-scene.ts';

// Goal: the durations of a response are never negative and sum exactly to the residence time: from
// the arrival of the sample's last byte to the moment in which the response is handed to the
// stream, whatever the model is, however the sample came, and whether or not the peer took
// responses at once. Method: time moves on by any steps wherever it can, between messages and at
// every look at the clock; the test knows both ends.

/** A clock that moves on each time somebody looks. */
function tick(clock: ManualClock, steps: readonly number[]): void {
  const look = clock.nowNs.bind(clock);
  let i = 0;
  clock.nowNs = () => {
    const nowNs = look();
    clock.advance(steps[i % steps.length] ?? 0);
    i += 1;
    return nowNs;
  };
}

type MakeModel = (clock: ManualClock) => Pick<SutModel, 'run'> | Promise<Pick<SutModel, 'run'>>;

const MODELS: Readonly<Record<string, MakeModel>> = {
  null: (clock) => createNullModel(clock, 4),
  echo: createEchoModel,
  delay: async (clock) => {
    let turn = 0;
    const payload = Uint8Array.of(1);
    const answer = () => ({ atNs: (turn++ * 37) % 1_000, payload, tokens: undefined });
    const parts = { clock, concurrency: 100 };
    const model = new DelayModel({ ...parts, answers: () => Promise.resolve(answer) });
    await model.load(NO_CONTEXT);
    return model;
  },
  // As workers report: three lengths without a gap.
  worker: (clock) => ({ run: (batch) => workOn(batch, clock) }),
};

function workOn(batch: Batch, clock: ManualClock): void {
  const [began, preprocessed, computed, ended] = [0, 0, 0, 0].map(() => clock.nowNs());
  answerBatch(batch, {
    kind: 'done',
    payloads: new ArrayBuffer(0),
    responses: new ArrayBuffer(batch.samples.length),
    ends: Float64Array.from(batch.samples, (_, i) => i + 1),
    badSamples: [],
    failure: undefined,
    beganAtNs: began as number,
    preprocessNs: (preprocessed as number) - (began as number),
    computeNs: (computed as number) - (preprocessed as number),
    postprocessNs: (ended as number) - (computed as number),
    endedAtNs: ended as number,
  });
}

type Delivery = 'whole' | 'in pieces' | 'a compressed query';

/** Sends a sample; returns when its last byte arrived. */
function deliver(scene: InferStreamScene, id: number, how: Delivery, gapNs: number): number {
  let arrivedAtNs = 0;
  const send = (fields: object, part: object = {}): void => {
    const look = scene.clock.nowNs;
    // The stream's first look at the clock in a message is the arrival.
    scene.clock.nowNs = () => {
      scene.clock.nowNs = look;
      arrivedAtNs = look();
      return arrivedAtNs;
    };
    scene.part([partSample(id, fields)], { query: id, ...part });
  };
  if (how === 'whole') {
    send({});
  } else if (how === 'in pieces') {
    for (const offset of [0, 3]) {
      send({ offset, total: 6 });
      scene.clock.advance(gapNs);
    }
  } else {
    const whole = { queryPayload: Uint8Array.of(1, 2), queryEncoding: 0, querySampleBytes: [9] };
    send({ payload: new Uint8Array(0), encoding: 0 }, whole);
  }
  return arrivedAtNs;
}

interface Course {
  readonly deliveries: readonly Delivery[];
  readonly gapNs: number;
  readonly steps: readonly number[];
  readonly isHeldBack: boolean;
}

const COURSE: fc.Arbitrary<Course> = fc.record({
  deliveries: fc.array(fc.constantFrom<Delivery[]>('whole', 'in pieces', 'a compressed query'), {
    minLength: 1,
    maxLength: 5,
  }),
  gapNs: fc.integer({ min: 0, max: 1e9 }),
  steps: fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 9 }),
  isHeldBack: fc.boolean(),
});

async function run(makeModel: MakeModel, { deliveries, gapNs, steps, isHeldBack }: Course) {
  const scene = new InferStreamScene();
  const model = await makeModel(scene.clock);
  const compressed = { form: 'raw', compression: 'lz4' };
  scene.open({ encodings: [compressed, { form: 'raw', compression: 'identity' }] });
  tick(scene.clock, steps);
  // The last look at the clock before a message goes out is the hand-over.
  let lookedAtNs = 0;
  const ticking = scene.clock.nowNs;
  scene.clock.nowNs = () => {
    lookedAtNs = ticking();
    return lookedAtNs;
  };
  const arrivals = deliveries.map((how, id) => deliver(scene, id, how, gapNs));
  scene.takesMore = !isHeldBack;
  const handedAtNs: number[] = [];
  scene.onWrite = () => handedAtNs.push(lookedAtNs);
  for (const sample of scene.queue.splice(0)) {
    model.run({ samples: [sample], takenAtNs: scene.clock.nowNs() });
    await nextTurn();
    scene.clock.advance(2_000);
  }
  scene.takesMore = true;
  scene.clock.advance(gapNs);
  scene.stream.drained();
  return { scene, arrivals, handedAtNs };
}

const sum = (durations: ServiceTimes | undefined): number =>
  Object.values(durations ?? {}).reduce((a: number, b: number) => a + b, 0);

describe('the durations of a response', () => {
  it.each(Object.keys(MODELS))('sum to the residence time, of the model %s', async (name) => {
    const makeModel = MODELS[name] as MakeModel;
    await fc.assert(
      fc.asyncProperty(COURSE, async (course) => {
        const { scene, arrivals, handedAtNs } = await run(makeModel, course);
        const messages = scene.responses;
        expect(messages.flatMap(({ completed }) => completed)).toHaveLength(arrivals.length);
        messages.forEach(({ completed }, i) => {
          for (const { id, durations } of completed) {
            expect(Object.values(durations ?? { none: -1 }).every((ns) => ns >= 0)).toBe(true);
            expect(sum(durations)).toBe((handedAtNs[i] as number) - (arrivals[id] as number));
          }
        });
      }),
      { numRuns: 40 },
    );
  });
});
