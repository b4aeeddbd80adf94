import type {
  CallEvents,
  GrpcCall,
  GrpcCallConnection,
} from '../../../qdl/oip/http2/grpc-calls.ts';

/** A call that goes nowhere, and keeps what was written. */
export class CallDouble implements GrpcCall {
  readonly messages: Buffer[] = [];
  readonly events: CallEvents;
  readonly path: string;
  isEnded = false;
  isCancelled = false;

  constructor(path: string, events: CallEvents) {
    this.path = path;
    this.events = events;
  }

  write(pieces: readonly Uint8Array[]): void {
    this.messages.push(Buffer.concat(pieces));
  }

  end(): void {
    this.isEnded = true;
  }

  /** Messages that are in no frame. */
  unsentCount = 0;

  takeBackUnsent(): number {
    const count = this.unsentCount;
    this.unsentCount = 0;
    return count;
  }

  cancel(): void {
    this.isCancelled = true;
  }

  /** The server answers so, and ends a call of its own. */
  answer(message: Buffer): void {
    this.events.onMessage(this, message);
  }

  finish(code = 0, details = ''): void {
    this.events.onEnd(this, code, details);
  }
}

/** A connection whose calls go nowhere. */
export class ConnectionDouble implements GrpcCallConnection {
  readonly calls: CallDouble[] = [];
  readonly ready: Promise<void> = Promise.resolve();
  hasRoom = true;
  takesCall = true;
  callCount = 0;

  call(path: string, events: CallEvents): CallDouble {
    const call = new CallDouble(path, events);
    this.calls.push(call);
    return call;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
