import type { LinkConditions } from './link-conditions.ts';

/** What a shim's thread is started with. */
export interface ShimStart {
  readonly targets: readonly { readonly host: string; readonly port: number }[];
  readonly link: LinkConditions;
  /** Of the losses. */
  readonly seed: number;
}

/** What a shim did. */
export interface ShimCounts {
  readonly connections: number;
  /** Segments that the model lost. */
  readonly lostSegments: number;
  /** How much later than the model says bytes were handed on. */
  readonly lateP50Ns: number;
  readonly lateP99Ns: number;
  readonly lateMaxNs: number;
}

/** From the thread: ports by target once it listens; counts when it is asked; or why it cannot. */
export type FromShim =
  | { readonly kind: 'listening'; readonly ports: readonly number[] }
  | { readonly kind: 'counts'; readonly counts: ShimCounts }
  | { readonly kind: 'failed'; readonly text: string };
