import type { Clock } from '../../../shared/base/clock.ts';
import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import {
  encodeResponses,
  FAILURE_CODES,
  type WireCompleted,
  type WireFailed,
  type WireTokens,
} from '../../../shared/wire/responses-codec.ts';
import type {
  BatchTimes,
  SampleAnswer,
  SampleTokens,
  WaitingSample,
} from '../../inference/batcher/sut-model.ts';

/** Payload bytes above which responses of one instant are sent as several messages. */
const RESPONSES_BYTES_MAX: number = 4 * 1024 * 1024;

/** Room for a message's headers beside the payload of its only response. */
const HEAD_BYTES = 1024;

/** Responses that one message will hold. */
export interface KnownResponses {
  readonly firstTokens: readonly SampleTokens[];
  readonly tokens: readonly SampleTokens[];
  readonly answers: readonly SampleAnswer[];
}

/** Shared by nearly every message. */
const NO_FAILURES: readonly number[] = [];

/** Splits responses of one instant into lists, each for a message of acceptable size. */
export function cutByBytes<T extends { readonly payload: Uint8Array }>(
  all: readonly T[],
): readonly (readonly T[])[] {
  let bytes = 0;
  for (const { payload } of all) bytes += payload.length;
  if (bytes <= RESPONSES_BYTES_MAX) return [all];
  const lists: T[][] = [];
  let list: T[] = [];
  let listBytes = 0;
  for (const one of all) {
    if (list.length > 0 && listBytes + one.payload.length > RESPONSES_BYTES_MAX) {
      lists.push(list);
      list = [];
      listBytes = 0;
    }
    list.push(one);
    listBytes += one.payload.length;
  }
  lists.push(list);
  return lists;
}

/**
 * Encodes responses into one message. Reads the clock here: the last moment before gRPC takes over.
 */
export function writeResponses(
  { firstTokens, tokens, answers }: KnownResponses,
  options: {
    readonly clock: Clock;
    readonly responseEncoding: number;
    readonly messageBytesMax: number;
    /** Called for every sample that went through a worker; undefined without metrics. */
    readonly observe: ((durations: ServiceTimes) => void) | undefined;
  },
) {
  const nowNs = options.clock.nowNs();
  const payloadBytesMax = options.messageBytesMax - HEAD_BYTES;
  const completed: WireCompleted[] = [];
  const failed: WireFailed[] = [];
  let responseBytes = 0;
  let sampleBytes = 0;
  for (const { sample, payload, fault, tokenCount, times } of answers) {
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
        tokenCount,
        durations,
        offset: 0,
        total: 0,
      });
    }
  }
  return {
    message: encodeResponses({
      // Sent uncompressed: the wire has no encoding for them.
      firstTokens: firstTokens.map(toWire),
      tokens: tokens.map(toWire),
      completed,
      failed,
    }),
    completedCount: completed.length,
    /** FailureCode of each sample that failed. */
    failureCodes: failed.length === 0 ? NO_FAILURES : failed.map(({ code }) => code),
    /** Payload bytes sent, and those received for the same samples. */
    responseBytes,
    sampleBytes,
  };
}

function toWire({ sample, payload }: SampleTokens): WireTokens {
  return { id: sample.id, payload };
}

/**
 * Durations between consecutive instants, so that they sum exactly to the residence time: from the
 * arrival of the sample's last byte until now.
 */
export function durationsOf(sample: WaitingSample, times: BatchTimes, nowNs: number): ServiceTimes {
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
