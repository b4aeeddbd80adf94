import type {
  BatchMessage,
  DoneMessage,
  FromWorker,
  ToWorker,
  WorkerStart,
} from './worker-messages.ts';

/**
 * What passes between a node and a worker process: the messages of a worker thread (worker-messages.ts),
 * whose large buffer travels as the body of the frame.
 */

/** File descriptor of the socket in the worker process. */
export const WORKER_SOCKET_FD = 3;

/** The first message. */
interface StartHead {
  readonly kind: 'start';
  readonly name: string;
  readonly start: WorkerStart;
}

/** Body: the payloads. */
type BatchHead = Omit<BatchMessage, 'payloads'>;

/** Body: the responses. The buffer of the payloads stays where it is. */
export type DoneHead = Omit<DoneMessage, 'payloads' | 'responses'>;

/** Node to worker process. */
export type ToProcessHead = StartHead | Exclude<ToWorker, BatchMessage> | BatchHead;

/** Worker process to node. */
export type FromProcessHead = Exclude<FromWorker, DoneMessage> | DoneHead;
