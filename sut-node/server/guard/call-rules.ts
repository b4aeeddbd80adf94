import { OIP_SERVICE_NAME } from '../../../shared/wire/oip/request-plan.ts';
import {
  INFER_METHOD,
  LINK_TEST_METHOD,
  SUT_SERVICE_NAME,
} from '../../../shared/wire/sut-contract.ts';
import {
  FIRST_MESSAGE_BYTES_MAX,
  LINK_TEST_BYTES_MAX,
  LINK_TEST_CALL_MS_MAX,
  OIP_STREAMS_MAX,
  REFLECTION_BYTES_MAX,
  REFLECTION_CALLS_MAX,
} from '../limits/node-limits.ts';

/** Rule of the gate for a method. A call without any of these is unary. */
export interface CallRule {
  /** True where a peer without the node's token is answered, too. */
  readonly isOpen?: boolean;
  /** True where only the first message has to come in time: the call itself may last. */
  readonly isLong?: boolean;
  /** Bytes of all messages of the peer together; absent: the gate looks at the first one only. */
  readonly bytesMax?: number;
  /** Calls at once, of all connections, that share this rule; absent: not counted here. */
  readonly callsMax?: number;
  /** True where answer or log tell how the node sees the call (CallSeen). */
  readonly isSeen?: boolean;
  /** One request with samples, many of them, or parts of queries; absent: messages are small. */
  readonly carries?: 'request' | 'requests' | 'parts';
  /** Longest life of a call whose first message has come in time, in ms; absent: as `isLong` says. */
  readonly lifeMsMax?: number;
}

const UNARY: CallRule = {};

/** Health is for probes, and a probe of Kubernetes can send no token. One answer, and no more is given away. */
const PROBE: CallRule = { isOpen: true };

/** The calls that show LoadGen what stands between: one on the control connection, and every stream. */
const NAME: CallRule = { isSeen: true };
const INFER: CallRule = { isLong: true, isSeen: true, carries: 'parts' };

/** One question, whose answers may come for days. */
const WATCH: CallRule = { isLong: true, bytesMax: FIRST_MESSAGE_BYTES_MAX };

/** A stream of questions that a tool asks at its start. */
const REFLECTION: CallRule = {
  bytesMax: REFLECTION_BYTES_MAX,
  callsMax: REFLECTION_CALLS_MAX,
};

/** One test at a time: two would measure each other. What is on the way when a test ends is still counted here. */
const LINK_TEST: CallRule = {
  bytesMax: 2 * LINK_TEST_BYTES_MAX,
  callsMax: 1,
  lifeMsMax: LINK_TEST_CALL_MS_MAX,
};

/**
 * Inference by the Open Inference Protocol. It lasts as long as queue and model, and its messages are samples. Its other
 * calls are unary as any.
 */
const MODEL_INFER: CallRule = { isLong: true, carries: 'request' };
const MODEL_STREAM: CallRule = {
  isLong: true,
  carries: 'requests',
  callsMax: OIP_STREAMS_MAX,
  isSeen: true,
};

const RULES: ReadonlyMap<string, CallRule> = new Map([
  [INFER_METHOD.path, INFER],
  [`/${SUT_SERVICE_NAME}/Name`, NAME],
  [LINK_TEST_METHOD.path, LINK_TEST],
  [`/${OIP_SERVICE_NAME}/ModelInfer`, MODEL_INFER],
  [`/${OIP_SERVICE_NAME}/ModelStreamInfer`, MODEL_STREAM],
  ['/grpc.health.v1.Health/Check', PROBE],
  ['/grpc.health.v1.Health/List', PROBE],
  ['/grpc.health.v1.Health/Watch', WATCH],
  ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', REFLECTION],
  ['/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo', REFLECTION],
]);

/** The rule for a method, such as `/mlperf.network.v1.SystemUnderTest/Name`; a strange one is unary. */
export function callRule(path: string | undefined): CallRule {
  return RULES.get(path ?? '') ?? UNARY;
}
