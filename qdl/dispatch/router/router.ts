import type { DispatchChannel } from '../dispatch-channel.ts';

/** How a node is chosen for a query (for a part, where the query is larger than one). */
export const DISPATCH_POLICIES = ['least-outstanding', 'round-robin', 'weighted'] as const;

/** One of {@link DISPATCH_POLICIES}. */
export type DispatchPolicy = (typeof DISPATCH_POLICIES)[number];

/** Decides which stream takes the next part. */
export interface Router {
  /**
   * A channel that can take a part of so many samples and bytes now, or undefined when none can: the
   * query then waits. Hot path: never allocates.
   */
  pick(sampleCount: number, bytes: number): DispatchChannel | undefined;
}
