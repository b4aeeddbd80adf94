import type { Clock } from '../../shared/clock/clock.ts';
import {
  encodeResponses,
  FAILURE_CODES,
  type WireCompleted,
  type WireDurations,
  type WireFailed,
} from '../../shared/wire/responses-codec.ts';
import type { BatchTimes } from '../batcher/batch-times.ts';
import type { SampleAnswer, WaitingSample } from '../batcher/waiting-sample.ts';

/** Payload bytes above which the answers of one batch go as several messages. */
const RESPONSES_BYTES_MAX: number = 4 * 1024 * 1024;

/** Room for the heads of a message beside the payload of its only response. */
const HEAD_BYTES = 1024;

/** Of nearly every message. */
const NO_FAILURES: readonly number[] = [];

/** What went out in one message. */
export interface WrittenResponses {
  readonly message: Buffer;
  readonly completedCount: number;
  /** FailureCode of each sample that failed. */
  readonly failureCodes: readonly number[];
  /** Payload bytes of the completed samples: what was sent. */
  readonly responseBytes: number;
  /** Payload bytes of all samples in the message: what was received for them. */
  readonly sampleBytes: number;
}

/** Cuts the answers of one instant so that each list makes a message of bearable size. */
export function cutAnswers(answers: readonly SampleAnswer[]): readonly (readonly SampleAnswer[])[] {
  let bytes = 0;
  for (const answer of answers) bytes += answer.payload.length;
  if (bytes <= RESPONSES_BYTES_MAX) return [answers];
  const lists: SampleAnswer[][] = [];
  let list: SampleAnswer[] = [];
  let listBytes = 0;
  for (const answer of answers) {
    if (list.length > 0 && listBytes + answer.payload.length > RESPONSES_BYTES_MAX) {
      lists.push(list);
      list = [];
      listBytes = 0;
    }
    list.push(answer);
    listBytes += answer.payload.length;
  }
  lists.push(list);
  return lists;
}

/** Encodes answers into one message. The clock is read here: the last moment before gRPC takes over. */
export function writeResponses(
  answers: readonly SampleAnswer[],
  options: {
    readonly clock: Clock;
    readonly responseEncoding: number;
    readonly messageBytesMax: number;
    /** Told of every sample that went through a worker; undefined where nobody measures. */
    readonly observe: ((durations: WireDurations) => void) | undefined;
  },
): WrittenResponses {
  const nowNs = options.clock.nowNs();
  const payloadBytesMax = options.messageBytesMax - HEAD_BYTES;
  const completed: WireCompleted[] = [];
  const failed: WireFailed[] = [];
  let responseBytes = 0;
  let sampleBytes = 0;
  for (const { sample, payload, fault, times } of answers) {
    const { id } = sample;
    sampleBytes += sample.bytes;
    if (fault !== undefined) {
      failed.push({ id, ...fault });
    } else if (payload.length > payloadBytesMax) {
      const text = `the response has ${payload.length} bytes, one message holds ${payloadBytesMax}`;
      failed.push({ id, code: FAILURE_CODES.limit, text });
    } else {
      responseBytes += payload.length;
      const durations = times && durationsOf(sample, times, nowNs);
      if (durations !== undefined) options.observe?.(durations);
      completed.push({
        id,
        payload,
        encoding: options.responseEncoding,
        tokenCount: undefined,
        durations,
        offset: 0,
        total: 0,
      });
    }
  }
  return {
    message: encodeResponses({ firstTokens: [], completed, failed }),
    completedCount: completed.length,
    failureCodes: failed.length === 0 ? NO_FAILURES : failed.map(({ code }) => code),
    responseBytes,
    sampleBytes,
  };
}

/** Lengths between consecutive instants, so that they sum to the residence time exactly. */
function durationsOf(sample: WaitingSample, times: BatchTimes, nowNs: number): WireDurations {
  return {
    receiveNs: sample.queuedAtNs - sample.arrivedAtNs,
    queueNs: times.takenAtNs - sample.queuedAtNs,
    batchWaitNs: times.beganAtNs - times.takenAtNs,
    preprocessNs: times.preprocessNs,
    computeNs: times.computeNs,
    postprocessNs: times.postprocessNs,
    sendNs: nowNs - times.endedAtNs,
  };
}
