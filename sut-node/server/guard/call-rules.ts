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

/** Rule of the gate for a method. A call without any of these properties is unary. */
export interface CallRule {
  /** True if a peer without the node's token is answered too. */
  readonly isOpen?: boolean;
  /** True if only the first message has a deadline: the call itself may last. */
  readonly isLong?: boolean;
  /** Most bytes of all messages of the peer; absent: only the first message is checked. */
  readonly bytesMax?: number;
  /** Most concurrent calls under this rule, over all connections; absent: unlimited here. */
  readonly callsMax?: number;
  /** True if the answer or the log reports the node's view of the call (CallSeen). */
  readonly isSeen?: boolean;
  /**
   * Payload of messages: one request with samples, many of them, or parts of queries; absent:
   * messages are small.
   */
  readonly carries?: 'request' | 'requests' | 'parts';
  /** Longest life of a call after its first message, ms; absent: see `isLong`. */
  readonly lifeMsMax?: number;
}

const UNARY: CallRule = {};

/**
 * Health checks are open, since a Kubernetes probe cannot send a token. One answer, and nothing
 * more is disclosed.
 */
const PROBE: CallRule = { isOpen: true };

/** Calls that reveal proxies to LoadGen: one on the control connection, and every stream. */
const NAME: CallRule = { isSeen: true };
const INFER: CallRule = { isLong: true, isSeen: true, carries: 'parts' };

/** One request whose responses may come for days. */
const WATCH: CallRule = { isLong: true, bytesMax: FIRST_MESSAGE_BYTES_MAX };

/** A stream of questions that a tool asks at its start. */
const REFLECTION: CallRule = {
  bytesMax: REFLECTION_BYTES_MAX,
  callsMax: REFLECTION_CALLS_MAX,
};

/**
 * One test at a time: two would disturb each other. Bytes in flight when a test ends still count
 * here.
 */
const LINK_TEST: CallRule = {
  bytesMax: 2 * LINK_TEST_BYTES_MAX,
  callsMax: 1,
  lifeMsMax: LINK_TEST_CALL_MS_MAX,
};

/**
 * Inference by the Open Inference Protocol: long calls with samples. Its other calls are ordinary
 * unary calls.
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

/**
 * The rule for a method, such as `/mlperf.network.v1.SystemUnderTest/Name`; unknown methods are
 * unary.
 */
export function callRule(path: string | undefined): CallRule {
  return RULES.get(path ?? '') ?? UNARY;
}
