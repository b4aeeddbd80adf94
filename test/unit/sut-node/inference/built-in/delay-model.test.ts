import { describe, expect, it } from 'vitest';
import { DynamicBatcher } from '../../../../../sut-node/inference/batcher/dynamic-batcher.ts';
import type {
  ModelContext,
  SampleAnswer,
  SampleTokens,
} from '../../../../../sut-node/inference/batcher/sut-model.ts';
import {
  type DelayedAnswer,
  DelayModel,
  serviceTimes,
} from '../../../../../sut-node/inference/built-in/delay-model.ts';
import { ManualClock } from '../../../../scenes/clock.ts';
import { RecordingOwner, waitingSample } from '../../../../scenes/simulated-run/sut-parts.ts';

// Goal: N servers that work on one sample each, for exactly the time they are told; the rest waits
// in the batcher's queue; first tokens come before their samples. Method: the real batcher, a clock
// that stands still.

/** Remembers what came when, by the clock. */
class TimedOwner extends RecordingOwner {
  readonly events: [string, number, number][] = [];
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    super();
    this.#clock = clock;
  }

  override firstTokens(tokens: readonly SampleTokens[]): void {
    super.firstTokens(tokens);
    for (const { sample } of tokens) this.events.push(['first', sample.id, this.#clock.nowNs()]);
  }

  override tokens(tokens: readonly SampleTokens[]): void {
    super.tokens(tokens);
    for (const { sample, payload } of tokens) {
      this.events.push([`token ${payload}`, sample.id, this.#clock.nowNs()]);
    }
  }

  override answer(answers: readonly SampleAnswer[]): void {
    super.answer(answers);
    for (const { sample } of answers) this.events.push(['done', sample.id, this.#clock.nowNs()]);
  }
}

function plain(...timesNs: number[]): () => DelayedAnswer {
  const list = [...timesNs];
  return () => ({ atNs: list.shift() ?? 0, payload: Uint8Array.of(7), tokens: undefined });
}

async function setUp(next: () => DelayedAnswer, concurrency: number, perSequenceNs = 0) {
  const clock = new ManualClock();
  const model = new DelayModel({
    clock,
    concurrency,
    perSequenceNs,
    answers: () => Promise.resolve(next),
  });
  const batcher = new DynamicBatcher({
    policy: { batchSizeMax: 1, batchDelayNsMax: 0, preferredSizes: [1] },
    queueSamplesMax: 100,
    clock,
    workers: model,
  });
  const context: ModelContext = {
    encodings: [],
    sampleBytesMax: 1,
    queryBytesMax: 1,
    onProgress: () => {},
    onRoom: batcher.dispatch,
    onFatal: () => {},
  };
  await model.load(context);
  const owner = new TimedOwner(clock);
  const arrive = (...ids: number[]): void => {
    for (const id of ids) batcher.add(waitingSample(id, { owner, queuedAtNs: clock.nowNs() }));
    batcher.dispatch();
  };
  return { clock, model, batcher, owner, arrive };
}

describe('the delay model', () => {
  it('serves as many samples at once as it has servers, the others after them in order', async () => {
    const { clock, batcher, owner, arrive } = await setUp(plain(30, 10, 5, 5), 2);
    arrive(0, 1, 2, 3);
    expect(batcher.waitingCount).toBe(2);
    clock.advance(100);
    expect(owner.events).toEqual([
      ['done', 1, 10],
      ['done', 2, 15],
      ['done', 3, 20],
      ['done', 0, 30],
    ]);
  });

  it('lets sequences that generate side by side slow one another down, token by token', async () => {
    const counts = [4, 4, 1];
    const next = (): DelayedAnswer => {
      const count = counts.shift() ?? 0;
      const tokens = { count, firstAtNs: 10, eachNs: 10, bytes: 1 };
      return { atNs: 10 + (count - 1) * 10, payload: Uint8Array.of(1, 2, 3, 4), tokens };
    };
    const { clock, owner, arrive, model } = await setUp(next, 3, 5);
    arrive(0);
    clock.advance(20);
    arrive(1);
    clock.advance(70);
    // 15 alone, 20 by two; a token takes what was so when it began.
    expect(owner.events.filter(([what]) => what !== 'token 2' && what !== 'token 3')).toEqual([
      ['first', 0, 10],
      ['first', 1, 30],
      ['done', 0, 60],
      ['done', 1, 85],
    ]);
    arrive(2);
    clock.advance(20);
    expect(owner.events.slice(-2)).toEqual([
      ['first', 2, 100],
      ['done', 2, 100],
    ]);
    expect(model.hasIdle).toBe(true);
  });

  it('never answers early, and at the same instant in the order of service', async () => {
    const { clock, owner, arrive } = await setUp(plain(20, 20, 20), 3);
    arrive(5, 4, 3);
    clock.advance(19);
    expect(owner.events).toEqual([]);
    clock.advance(1);
    expect(owner.calls).toEqual([[5, 4, 3]]);
  });

  it('is not busy for longer because its thread is late: lateness does not add up in a queue', async () => {
    const { clock, owner, arrive } = await setUp(plain(10, 30, 5, 5, 10), 2);
    const plan = clock.callAt.bind(clock);
    clock.callAt = (atNs, callback) => plan(atNs + 18, callback);
    arrive(0, 1, 2, 3, 4);
    clock.advance(100);
    // In time: 0 at 10, 2 at 15, 3 at 20, 1 and 4 at 30.
    expect(owner.events).toEqual([
      ['done', 0, 28],
      ['done', 2, 28],
      ['done', 3, 28],
      ['done', 1, 48],
      ['done', 4, 48],
    ]);
    expect(owner.answers.map(({ times }) => times?.beganAtNs)).toEqual([0, 10, 15, 0, 20]);
  });

  it('tells each token when it is due to those who ask, but not the last, which the answer has', async () => {
    const payload = Uint8Array.of(1, 2, 3, 4);
    const tokens = { count: 4, firstAtNs: 10, eachNs: 5, bytes: 1 };
    const { clock, owner, arrive } = await setUp(() => ({ atNs: 25, payload, tokens }), 2);
    arrive(0);
    clock.advance(10);
    owner.takesTokens = true;
    arrive(1);
    clock.advance(40);
    expect(owner.events).toEqual([
      ['first', 0, 10],
      ['first', 1, 20],
      ['token 2', 1, 25],
      ['done', 0, 25],
      ['token 3', 1, 30],
      ['done', 1, 35],
    ]);
  });

  it('tells the time in service as compute, the time before as queue', async () => {
    const { clock, owner, arrive } = await setUp(plain(30, 10), 1);
    arrive(0, 1);
    clock.advance(100);
    expect(owner.answers.map(({ times }) => times)).toEqual([
      {
        takenAtNs: 0,
        beganAtNs: 0,
        preprocessNs: 0,
        computeNs: 30,
        postprocessNs: 0,
        endedAtNs: 30,
      },
      {
        takenAtNs: 30,
        beganAtNs: 30,
        preprocessNs: 0,
        computeNs: 10,
        postprocessNs: 0,
        endedAtNs: 40,
      },
    ]);
  });

  it('sends first tokens at their time, also when another sample is done between', async () => {
    const answers: DelayedAnswer[] = [
      {
        atNs: 50,
        payload: Uint8Array.of(1, 2, 3),
        tokens: { count: 3, firstAtNs: 20, eachNs: 15, bytes: 1 },
      },
      {
        atNs: 30,
        payload: Uint8Array.of(1),
        tokens: { count: 1, firstAtNs: 30, eachNs: 0, bytes: 1 },
      },
    ];
    const { clock, owner, arrive } = await setUp(() => answers.shift() as DelayedAnswer, 2);
    arrive(0, 1);
    clock.advance(100);
    expect(owner.events).toEqual([
      ['first', 0, 20],
      ['first', 1, 30],
      ['done', 1, 30],
      ['done', 0, 50],
    ]);
    expect(owner.answers.map(({ tokenCount }) => tokenCount)).toEqual([1, 3]);
  });

  it('holds no payload while it serves', async () => {
    const { clock, owner, arrive } = await setUp(plain(10), 1);
    arrive(0);
    clock.advance(10);
    expect(owner.answers[0]?.sample).toMatchObject({ id: 0, bytes: 1, pieces: [] });
  });

  it('plans one wake-up, and none once it is stopped', async () => {
    const { clock, model, owner, arrive } = await setUp(plain(50, 10, 30), 3);
    arrive(0, 1, 2);
    expect(clock.plannedCount).toBe(1);
    clock.advance(10);
    expect(clock.plannedCount).toBe(1);
    await model.stop();
    clock.advance(100);
    expect(owner.calls).toEqual([[1]]);
  });
});

// Rule of queueing theory: with Poisson arrivals at rate l, N servers and exponential service of
// rate m, a share C (Erlang's C formula) of the samples waits, and the mean time in the system is C
// / (N m - l) + 1 / m.
it('with exponential times is the M/M/N system of the books', async () => {
  const meanNs = 10_000;
  const [servers, load] = [2, 1.5];
  const erlangC =
    load ** 2 / 2 / (1 - load / servers) / (1 + load + load ** 2 / 2 / (1 - load / servers));
  const expectedNs = meanNs * (erlangC / (servers - load) + 1);
  const times = await serviceTimes({ kind: 'exponential', meanNs }, 1);
  const gaps = await serviceTimes({ kind: 'exponential', meanNs: meanNs / load }, 2);
  const answers = (): DelayedAnswer => ({
    atNs: times(),
    payload: Uint8Array.of(1),
    tokens: undefined,
  });
  const { clock, owner, arrive } = await setUp(answers, servers);
  const count = 12_000;
  const arrivedAtNs: number[] = [];
  for (let id = 0; id < count; id += 1) {
    clock.advance(gaps());
    arrivedAtNs.push(clock.nowNs());
    arrive(id);
  }
  clock.advance(100 * meanNs);
  const sumNs = owner.events.reduce((sum, [, id, at]) => sum + at - (arrivedAtNs[id] as number), 0);
  expect(owner.events).toHaveLength(count);
  // Seeds are fixed; the mean of so many samples, which depend on each other, scatters by some
  // percent.
  expect(sumNs / count / expectedNs).toBeGreaterThan(0.93);
  expect(sumNs / count / expectedNs).toBeLessThan(1.07);
});
