import { type ConnectionSettings, connectGrpc } from '../../../qdl/oip/channel/oip-channel.ts';
import type {
  CallEvents,
  ConnectionEvents,
  GrpcCall,
  GrpcCallConnection,
} from '../../../qdl/oip/http2/grpc/grpc-calls.ts';
import { type BorrowedBytes, copyOf } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { OwnSide } from '../../../shared/evidence/call-path.ts';
import { NO_SECURITY } from '../../../shared/security/client-security.ts';

/** Keeps what a call reports. */
export class RecordedCall implements CallEvents {
  readonly messages: Buffer[] = [];
  code: number | undefined;
  details = '';
  endCount = 0;
  onFirst: () => void = () => {};
  readonly ended: Promise<RecordedCall>;
  #resolve: (call: RecordedCall) => void = () => {};

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  onMessage(_call: GrpcCall, message: BorrowedBytes): void {
    this.messages.push(Buffer.from(copyOf(message)));
    this.onFirst();
  }

  onEnd(_call: GrpcCall, code: number, details: string): void {
    this.endCount += 1;
    this.code = code;
    this.details = details;
    this.#resolve(this);
  }
}

/** Keeps what a connection reports. */
export class RecordedConnection implements ConnectionEvents {
  readonly accepted: OwnSide[] = [];
  readonly closed: string[] = [];
  writtenBytes = 0;

  onWritten(bytes: number): void {
    this.writtenBytes += bytes;
  }

  onAccepted(own: OwnSide): void {
    this.accepted.push(own);
  }

  onClosed(reason: string): void {
    this.closed.push(reason);
  }
}

/** A connection to an address with settings of a test. */
export function connectTo(
  address: string,
  events: ConnectionEvents = new RecordedConnection(),
  settings: Partial<ConnectionSettings> = {},
): GrpcCallConnection {
  const usual: ConnectionSettings = {
    security: NO_SECURITY,
    messageBytesMax: 4 * 1024 * 1024,
    receiveWindowBytes: 1024 * 1024,
    callTimeoutMs: 5_000,
    keepaliveTimeMs: 60_000,
    keepaliveTimeoutMs: 60_000,
  };
  return connectGrpc(address, { ...usual, ...settings }, events);
}

/** One unary call: its message comes with its status. */
export function callUnary(
  connection: GrpcCallConnection,
  message: Uint8Array,
  path = '/test.Echo/Unary',
): RecordedCall {
  const recorded = new RecordedCall();
  const call = connection.call(path, recorded, 'one');
  call.write([message], message.length);
  call.end();
  return recorded;
}
