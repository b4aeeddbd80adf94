import type {
  handleBidiStreamingCall,
  MethodDefinition,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { LinkTestResult } from '../../proto/gen/mlperf/network/v1/LinkTestResult.ts';
import type {
  SystemUnderTestDefinition,
  SystemUnderTestHandlers,
} from '../../proto/gen/mlperf/network/v1/SystemUnderTest.ts';
import type { ProtoGrpcType } from '../../proto/gen/sut.ts';
import { BYTES_ONLY, loadProto } from './grpc-proto.ts';

/** Full name of the service. */
export const SUT_SERVICE_NAME = 'mlperf.network.v1.SystemUnderTest';

/** The methods of the service, all with protobuf objects. */
export const SUT_METHODS: SystemUnderTestDefinition = loadProto<ProtoGrpcType>(
  'mlperf/network/v1/sut.proto',
).mlperf.network.v1.SystemUnderTest.service;

/**
 * Feature of a warm-up stream before a run: the node answers its samples at once, without the
 * model, and counts them in no ledger.
 */
export const WARM_UP_FEATURE = 'warm-up';

/** Feature of a stream on which the node reports its CPU and memory once a second. */
export const USAGE_FEATURE = 'usage';

/**
 * Feature of a stream on which the node reports output tokens as they are generated; only if
 * LoadGen measures first tokens.
 */
export const TOKEN_STREAM_FEATURE = 'token-stream';

/**
 * Infer with bytes on both sides: its messages are encoded and decoded outside gRPC, the frequent
 * ones by hand (part-codec.ts, responses-codec.ts), the others by the functions below.
 */
export const INFER_METHOD: MethodDefinition<Buffer, Buffer> = {
  ...SUT_METHODS.Infer,
  ...BYTES_ONLY,
};

/** TestLink as bytes, like Infer: the test should cost what queries cost. */
export const LINK_TEST_METHOD: MethodDefinition<Buffer, Buffer> = {
  ...SUT_METHODS.TestLink,
  ...BYTES_ONLY,
};

/** Handlers of a server: the unary methods with objects, streams with bytes. */
export interface SutServiceHandlers
  extends UntypedServiceImplementation,
    Pick<SystemUnderTestHandlers, 'Name' | 'Describe' | 'Ready' | 'Ledger'> {
  /** A node without it answers UNIMPLEMENTED, like older releases. */
  DescribeSystem?: SystemUnderTestHandlers['DescribeSystem'];
  Infer: handleBidiStreamingCall<Buffer, Buffer>;
  /** Optional like DescribeSystem. */
  TestLink?: handleBidiStreamingCall<Buffer, Buffer>;
}

/** The service as a server implements it: unary methods with objects, streams with bytes. */
export const SUT_SERVICE = {
  ...SUT_METHODS,
  Infer: INFER_METHOD,
  TestLink: LINK_TEST_METHOD,
} as ServiceDefinition<SutServiceHandlers>;

// Messages as objects. Decoding throws an Error for malformed bytes. Parts and responses have their
// own codecs.
export const encodeLoadGenMessage = SUT_METHODS.Infer.requestSerialize;
export const decodeLoadGenMessage = SUT_METHODS.Infer.requestDeserialize;
export const encodeSutMessage = SUT_METHODS.Infer.responseSerialize;
export const decodeSutMessage = SUT_METHODS.Infer.responseDeserialize;
export const encodeLinkTestRequest = SUT_METHODS.TestLink.requestSerialize;
export const decodeLinkTestRequest = SUT_METHODS.TestLink.requestDeserialize;
export const encodeLinkTestResponse = SUT_METHODS.TestLink.responseSerialize;
export const decodeLinkTestResponse = SUT_METHODS.TestLink.responseDeserialize;

/** First byte of a message with load: field 2, bytes. */
const LOAD_TAG = 0x12;

/** True for a link test message with load. */
export function isLinkLoad(message: Uint8Array): boolean {
  return message[0] === LOAD_TAG;
}

/** Counts of one end of a link test: bytes and durations, so no clocks are compared. */
export type LinkCount = Required<{
  readonly [K in keyof LinkTestResult]: number;
}>;

/** Counts the load of a link test at one end. */
export class LoadMeter {
  readonly #halfNs: number;
  readonly #beganBusy = performance.eventLoopUtilization();
  #firstAtNs = Number.NaN;
  #lastAtNs = Number.NaN;
  #bytes = 0;
  #halfAtNs = Number.NaN;
  #halfBytes = 0;
  #allBytes = 0;

  /** @param durationMs Length of the load. */
  constructor(durationMs: number) {
    this.#halfNs = (durationMs * 1e6) / 2;
  }

  /** Bytes of all load messages. */
  get allBytes(): number {
    return this.#allBytes;
  }

  /** Time of the first load, ns; NaN before. */
  get firstAtNs(): number {
    return this.#firstAtNs;
  }

  /** A load message was received or sent. */
  add(bytes: number, atNs: number): void {
    this.#allBytes += bytes;
    this.#lastAtNs = atNs;
    // The first one only starts the measurement: its own duration is unknown.
    if (Number.isNaN(this.#firstAtNs)) {
      this.#firstAtNs = atNs;
      return;
    }
    this.#bytes += bytes;
    if (Number.isNaN(this.#halfAtNs) && atNs - this.#firstAtNs >= this.#halfNs) {
      this.#halfAtNs = atNs;
      this.#halfBytes = this.#bytes;
    }
  }

  /** The counts so far. */
  count(): LinkCount {
    const hasHalf = !Number.isNaN(this.#halfAtNs);
    return {
      bytes: this.#bytes,
      durationNs: this.#bytes === 0 ? 0 : this.#lastAtNs - this.#firstAtNs,
      laterBytes: hasHalf ? this.#bytes - this.#halfBytes : 0,
      laterDurationNs: hasHalf ? this.#lastAtNs - this.#halfAtNs : 0,
      busyShare: performance.eventLoopUtilization(this.#beganBusy).utilization,
    };
  }
}
