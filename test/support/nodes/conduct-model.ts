import { createHash } from 'node:crypto';
import { timerClock } from '../../../shared/base/clock/clock.ts';
import { encodeResponse } from '../../../shared/benchmarks/digits/response.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import type {
  Batch,
  SampleAnswer,
  SampleOwner,
  SutModel,
  WaitingSample,
} from '../../../sut-node/inference/batcher/sut-model.ts';
import { NO_MODEL } from '../../../sut-node/inference/built-in/immediate-model.ts';
import { deliverAnswers } from '../../../sut-node/inference/workers/batch-answers.ts';
import type { Conduct } from './sut-conduct.ts';

/** Key by which a conduct knows a payload. */
export function payloadKey(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('hex');
}

/** A sample in service. */
interface Service {
  readonly sample: WaitingSample;
  readonly beginsAtNs: number;
  readonly endsAtNs: number;
  readonly payload: Uint8Array;
}

/**
 * A model of the benchmark digits with a conduct, in a real SUT node: one worker, which takes one sample after the
 * other. Each ends when its time is over, so a timer that is late makes no later sample later.
 */
export class ConductModel implements SutModel {
  readonly rules: BenchmarkRules = benchmarkRules('digits');
  readonly name = 'conduct';
  readonly compressions: SutModel['compressions'] = ['identity'];
  readonly responseBytesMax = 4;
  readonly sampleElements = 1;
  readonly hasIdle = true;
  readonly hasRoom = true;
  readonly #conduct: Conduct;
  readonly #labels: ReadonlyMap<string, number>;
  /** A stream is a run. */
  readonly #runs = new WeakMap<SampleOwner, ReturnType<Conduct>>();
  readonly #services: Service[] = [];
  #freeAtNs = 0;
  #isAwaited = false;
  #isStopped = false;

  /** @param labels Right answers by {@link payloadKey}. */
  constructor(conduct: Conduct, labels: ReadonlyMap<string, number>) {
    this.#conduct = conduct;
    this.#labels = labels;
  }

  load(): Promise<typeof NO_MODEL> {
    return Promise.resolve(NO_MODEL);
  }

  warmUp(): Promise<void> {
    return Promise.resolve();
  }

  run({ samples }: Batch): void {
    for (const sample of samples) this.#services.push(this.#serve(sample));
    this.#awaitNext();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return Promise.resolve();
  }

  #serve(sample: WaitingSample): Service {
    const key = payloadKey(Buffer.concat(sample.pieces));
    const treat = this.#runs.get(sample.owner) ?? this.#conduct();
    this.#runs.set(sample.owner, treat);
    const { serviceNs, isRight } = treat(key);
    const label = this.#labels.get(key);
    if (label === undefined) throw new Error('a payload that the test did not announce');
    const beginsAtNs = Math.max(timerClock.nowNs(), this.#freeAtNs);
    const endsAtNs = beginsAtNs + serviceNs;
    this.#freeAtNs = endsAtNs;
    const payload = encodeResponse(isRight ? label : (label + 1) % 10);
    return { sample, beginsAtNs, endsAtNs, payload };
  }

  #awaitNext(): void {
    const next = this.#services[0];
    if (this.#isAwaited || this.#isStopped || next === undefined) return;
    this.#isAwaited = true;
    timerClock.callAt(next.endsAtNs, this.#deliver);
  }

  readonly #deliver = (): void => {
    this.#isAwaited = false;
    const nowNs = timerClock.nowNs();
    const dueCount = this.#services.findIndex(({ endsAtNs }) => endsAtNs > nowNs);
    const due = this.#services.splice(0, dueCount < 0 ? this.#services.length : dueCount);
    deliverAnswers(due.map(answerOf));
    this.#awaitNext();
  };
}

function answerOf({ sample, beginsAtNs, endsAtNs, payload }: Service): SampleAnswer {
  const times = {
    ...{ takenAtNs: beginsAtNs, beganAtNs: beginsAtNs, endedAtNs: endsAtNs },
    ...{ preprocessNs: 0, computeNs: endsAtNs - beginsAtNs, postprocessNs: 0 },
  };
  return { sample, payload, fault: undefined, times };
}
