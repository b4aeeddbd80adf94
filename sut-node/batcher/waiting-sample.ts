import type { BatchTimes } from './batch-times.ts';

/** One whole sample on its way through the node. */
export interface WaitingSample {
  /** Id on the wire: unique within a run, not among the runs. */
  readonly id: number;
  /** The payload in order, as views into the messages that brought it; one unless it came in pieces. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes of all pieces. */
  readonly bytes: number;
  /** Index into the node's list of payload forms. */
  readonly form: number;
  readonly owner: SampleOwner;
  /** When its last byte had arrived, and when it was put into the queue, in ns by the node's clock. */
  readonly arrivedAtNs: number;
  readonly queuedAtNs: number;
}

/** Why a sample has no response; `code` is the wire's FailureCode. */
export interface SampleFault {
  readonly code: number;
  readonly text: string;
}

/** What became of one sample. */
export interface SampleAnswer {
  readonly sample: WaitingSample;
  /** Response bytes; empty where there is a fault. */
  readonly payload: Uint8Array;
  readonly fault: SampleFault | undefined;
  /** Undefined for a sample that no worker saw to its end. */
  readonly times: BatchTimes | undefined;
}

/** Who sent a sample and wants its answer: a stream. */
export interface SampleOwner {
  /** Takes the answers of the samples that became known at one instant. Never throws. */
  answer(answers: readonly SampleAnswer[]): void;
}
