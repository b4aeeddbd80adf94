/** How one node takes several requests at once: on one stream, and each in a call of its own. */
export interface OipWaysCompared {
  readonly address: string;
  /** True: requests on one stream wait for each other, requests in calls of their own do not. */
  readonly isStreamTheLimit: boolean;
  /** Requests at once; 1: there are never more at this node, and nothing was compared. */
  readonly requestCount: number;
  /** Until all were answered, in ms, in the round in the middle of all; NaN where they were not. */
  readonly streamMs: number;
  readonly callsMs: number;
  /** True: the answers on the stream came one after the other in every round. */
  readonly isInTurn: boolean;
  /** Why several requests at once failed, on the stream and in calls of their own. */
  readonly streamFailure: string | undefined;
  readonly callsFailure: string | undefined;
  /** Requests that the node got. */
  readonly trialCount: number;
}
