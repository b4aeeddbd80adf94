import type { EncodedRequest } from './request-encoder.ts';
import type { Gathered, PendingRequest } from './response-gatherer.ts';

/** What a {@link OipRequestWay} reports. No call comes from inside a call to the way. */
export interface RequestWayEvents {
  /** What came of a request; after `complete` and `failed` nothing more comes of it. */
  onGathered(request: PendingRequest, gathered: Gathered): void;
  /**
   * A call ended as UNAVAILABLE: the server's own word, or the end of the connection, which is told in a moment.
   * @param request Undefined where it was answered before.
   */
  onUnavailable(request: PendingRequest | undefined, details: string): void;
  /** The way has room again, perhaps. */
  onRoom(): void;
  /** A response that nobody waits for: of an unknown request, or a second one. */
  onUnasked(): void;
  /** The stream is over that carries the requests. */
  onStreamEnd(code: number, details: string): void;
}

/** How requests go over a connection: calls of their own, or messages of one stream. */
export interface OipRequestWay {
  /** False while as much waits for the socket as it holds. */
  readonly hasRoom: boolean;
  /** False while the server takes no further request: what it grants in place of credit. */
  readonly takesRequest: boolean;
  /** After these two only. */
  send(request: PendingRequest, message: EncodedRequest): void;
  /**
   * Takes back the requests of which nothing went out yet. @returns Those of them that are outstanding here; nothing more
   * is reported of them.
   */
  dropUnsent(): readonly PendingRequest[];
  /** Forgets what is outstanding. */
  releaseAll(): void;
  /** No more requests will come. Resolves when the server has ended its side, at most after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}
