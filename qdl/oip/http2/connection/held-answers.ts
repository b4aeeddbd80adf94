import { GrpcCallError } from '../grpc/grpc-status.ts';
import type { Http2Call } from '../grpc/http2-call.ts';

/** Calls whose one answer lies in the chunk that is being read. Mostly their status is in it, too, and nothing is copied. */
export class HeldAnswers {
  #calls: Http2Call[] = [];

  add(call: Http2Call): void {
    this.#calls.push(call);
  }

  /** The chunk goes back to the socket. @param onBroken For a call whose answer there is no room for. */
  keep(onBroken: (call: Http2Call, error: GrpcCallError) => void): void {
    if (this.#calls.length === 0) return;
    for (const call of this.#calls) {
      if (call.isOver) continue;
      try {
        call.keepAnswer();
      } catch (error) {
        if (!(error instanceof GrpcCallError)) throw error;
        onBroken(call, error);
      }
    }
    this.#calls = [];
  }
}
