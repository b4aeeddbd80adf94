/**
 * What a worker spent on one batch, in ns by the clock that all threads of the process share. The
 * three lengths lie between `beganAtNs` and `endedAtNs` without a gap.
 */
export interface BatchTimes {
  /** When the batch left the queue. */
  readonly takenAtNs: number;
  readonly beganAtNs: number;
  readonly preprocessNs: number;
  readonly computeNs: number;
  readonly postprocessNs: number;
  readonly endedAtNs: number;
}
