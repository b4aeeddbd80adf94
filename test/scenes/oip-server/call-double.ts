import type {
  Answers,
  CallEvents,
  GrpcCall,
  GrpcCallConnection,
} from '../../../qdl/oip/http2/grpc/grpc-calls.ts';

/** A call that goes nowhere, and keeps what was written. */
export class CallDouble implements GrpcCall {
  readonly messages: Buffer[] = [];
  readonly events: CallEvents;
  readonly path: string;
  messageCount = 0;
  isEnded = false;
  isCancelled = false;

  readonly answers: Answers;

  constructor(path: string, events: CallEvents, answers: Answers) {
    this.path = path;
    this.events = events;
    this.answers = answers;
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
    this.messageCount += 1;
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

  call(path: string, events: CallEvents, answers: Answers = 'many'): CallDouble {
    const call = new CallDouble(path, events, answers);
    this.calls.push(call);
    return call;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
