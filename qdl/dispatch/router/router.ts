import type { NodeLoad } from './node-load.ts';

/** The part of a channel that a router reads. */
export interface RoutedChannel {
  readonly place: {
    readonly nodeIndex: number;
    /** Of the node, shared by its streams. */
    readonly load: Readonly<Pick<NodeLoad, 'outstanding' | 'weight'>>;
  };
  /** Samples that are on the wire. */
  readonly outstandingCount: number;
  /** True when a part of so many new samples and payload bytes may go now. Hot path. */
  canTake(sampleCount: number, bytes: number): boolean;
}

/** Decides which stream takes the next part. */
export interface Router<Channel extends RoutedChannel> {
  /**
   * A channel that can take a part of so many samples and bytes now, or undefined when none can: the
   * query then waits. Hot path: never allocates.
   */
  pick(sampleCount: number, bytes: number): Channel | undefined;
}
