import { status } from '@grpc/grpc-js';
import type { LinkTestResponse__Output } from '../../../../proto/gen/mlperf/network/v1/LinkTestResponse.ts';
import type { LinkTestResult__Output } from '../../../../proto/gen/mlperf/network/v1/LinkTestResult.ts';
import { readInPlace } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { machineNowNs } from '../../../../shared/base/clock.ts';
import {
  MlperfError,
  sutUnreachable,
  wireError,
} from '../../../../shared/base/errors/mlperf-error.ts';
import type { LinkDirection, LinkTestOutcome } from '../../../../shared/evidence/node-probe.ts';
import { unreachableMessage } from '../../../../shared/security/connection-errors.ts';
import {
  decodeLinkTestResponse,
  encodeLinkTestRequest,
  isLinkLoad,
  LINK_TEST_METHOD,
  type LinkCount,
  LoadMeter,
} from '../../../../shared/wire/sut-contract.ts';
import { connectGrpc } from '../../../http2/connect-grpc.ts';
import type { GrpcCall, GrpcCallConnection } from '../../../http2/grpc-calls.ts';
import type { DispatchSettings } from '../../../settings/dispatch-settings.ts';

/**
 * Bytes of one load message: small enough that a slow link moves several in a test, large enough
 * for a fast link. With its prefix it is the smallest message limit of a node (64 KiB).
 */
const LOAD_BYTES = 60 * 1024;

/** Most bytes of one test, as a node allows (sut-node/server/limits/node-limits.ts). */
const BYTES_MAX = 4 * 1024 ** 3;

/** Extra time for a slow link: bytes in flight, and the result after them. */
const SLACK_MS = 5_000;

/** Longest wait for the node's count after its load. */
const RESULT_MS = 1_000;

/**
 * Sends load in one direction for `durationMs`, on a connection of its own. Run one test at a time:
 * two would distort each other.
 * @throws MlperfError `ERR_SUT_UNREACHABLE` without a connection, `ERR_WIRE_PROTOCOL` for malformed
 * messages
 */
export function testLink(
  address: string,
  settings: DispatchSettings,
  direction: LinkDirection,
  durationMs: number,
): Promise<LinkTestOutcome> {
  return new Promise<LinkTestOutcome>((resolve, reject) => {
    const connection = connectGrpc(address, settings, {
      onWritten: () => test.send(),
      onAccepted: () => {},
      onClosed: () => {},
    });
    const call = connection.call(LINK_TEST_METHOD.path, {
      onMessage: (_call, message) => test.message(readInPlace(message)),
      onEnd: (_call, code, details) => {
        // Bytes count until the test or the node ends.
        if (test.isOver) return;
        const outcome = refusalOf(code, details);
        if (outcome === undefined) test.onOver(failureOf(address, details, settings));
        else test.onOver(outcome);
      },
    });
    const test = new ClientTest(connection, call, direction, durationMs);
    const deadline = setTimeout(() => call.cancel(), 2 * durationMs + SLACK_MS);
    test.onOver = (outcome) => {
      clearTimeout(deadline);
      void connection.close();
      if (outcome instanceof MlperfError) reject(outcome);
      else resolve(outcome);
    };
    test.start();
  });
}

/** LoadGen's side of a test. */
class ClientTest {
  onOver: (outcome: LinkTestOutcome | MlperfError) => void = () => {};
  readonly #connection: GrpcCallConnection;
  readonly #call: GrpcCall;
  readonly #direction: LinkDirection;
  readonly #durationMs: number;
  readonly #meter: LoadMeter;
  readonly #load: Buffer = encodeLinkTestRequest({ load: Buffer.alloc(LOAD_BYTES) });
  #isSending = false;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    connection: GrpcCallConnection,
    call: GrpcCall,
    direction: LinkDirection,
    durationMs: number,
  ) {
    this.#connection = connection;
    this.#call = call;
    this.#direction = direction;
    this.#durationMs = durationMs;
    this.#meter = new LoadMeter(durationMs);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  start(): void {
    const direction =
      this.#direction === 'to-sut' ? 'LINK_TEST_DIRECTION_TO_SUT' : 'LINK_TEST_DIRECTION_FROM_SUT';
    const start = {
      direction,
      durationMs: this.#durationMs,
      bytesMax: BYTES_MAX,
      loadBytes: LOAD_BYTES,
    } as const;
    const message = encodeLinkTestRequest({ start });
    this.#call.write([message], message.length);
  }

  message(message: Uint8Array): void {
    if (this.#isOver) return;
    if (isLinkLoad(message)) {
      this.#receive(message.length);
      return;
    }
    let answer: LinkTestResponse__Output;
    try {
      answer = decodeLinkTestResponse(Buffer.from(message));
    } catch (cause) {
      this.#end(wireError('a node answered TestLink with a malformed message', cause));
      return;
    }
    if (answer.started && this.#direction === 'to-sut') {
      this.#isSending = true;
      this.send();
    } else if (answer.result) {
      this.#finish(answer.result);
    }
  }

  /** Sends until the transport is full. The node ends the test. */
  send(): void {
    while (this.#isSending && !this.#isOver && this.#connection.hasRoom) {
      this.#call.write([this.#load], this.#load.length);
    }
  }

  #receive(bytes: number): void {
    if (this.#meter.allBytes === 0) {
      // On a slow link the node's count arrives after all bytes in flight.
      this.#timer = setTimeout(() => this.#finish(null), this.#durationMs + RESULT_MS);
    }
    this.#meter.add(bytes, machineNowNs());
  }

  #finish(result: LinkTestResult__Output | null): void {
    const own = this.#meter.count();
    const received = this.#direction === 'to-sut' ? result : own;
    const bitsPerSecond = received === null ? null : rateOf(received);
    this.#end({
      bitsPerSecond,
      bytes: received?.bytes ?? 0,
      loadgenBusyShare: own.busyShare,
      sutBusyShare: result?.busyShare ?? null,
      whyMissing: bitsPerSecond === null ? 'too few bytes arrived during the test' : null,
    });
  }

  #end(outcome: LinkTestOutcome | MlperfError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.onOver(outcome);
  }
}

/**
 * Rate over the second half, when TCP has reached its speed; over the whole test if that is too
 * short.
 */
function rateOf(count: Omit<LinkCount, 'busyShare'>): number | null {
  const { bytes, durationNs, laterBytes, laterDurationNs } = count;
  if (laterBytes > 0 && laterDurationNs > 0) return (laterBytes * 8e9) / laterDurationNs;
  return bytes > 0 && durationNs > 0 ? (bytes * 8e9) / durationNs : null;
}

/** Why a node refused the test, which is no error; undefined for other ends. */
function refusalOf(code: number, details: string): LinkTestOutcome | undefined {
  const whyMissing = {
    [status.UNIMPLEMENTED]:
      'the node lacks the method TestLink: it is an older release or other software',
    // The node's own message.
    [status.PERMISSION_DENIED]: details,
    [status.FAILED_PRECONDITION]: details,
    [status.RESOURCE_EXHAUSTED]: `another link test is running at the node, or its limits are low (${details})`,
    [status.ABORTED]: `the node ended the test: ${details}`,
  }[code];
  if (whyMissing === undefined) return undefined;
  return { bitsPerSecond: null, bytes: 0, loadgenBusyShare: 0, sutBusyShare: null, whyMissing };
}

function failureOf(address: string, details: string, settings: DispatchSettings): MlperfError {
  return sutUnreachable(
    `the link test of SUT node ${address} failed: ${unreachableMessage(address, details, settings.security)}`,
  );
}
