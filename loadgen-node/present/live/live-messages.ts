import type { LiveSnapshot, WindowCounts } from '../../observe/live/live-snapshot.ts';

/** Address to listen on; port 0 takes a free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Where page and metrics are served; undefined: nowhere. The thread of the live view begins with it. */
export interface LiveViewSettings {
  readonly dashboard: ListenAddress | undefined;
  readonly metrics: ListenAddress | undefined;
}

/** A run, for people and as labels. */
export interface LiveRunFacts {
  /** What tells the run from others of the same command; empty where there is one only. */
  readonly title: string;
  readonly benchmark: string;
  readonly scenario: string;
  readonly mode: string;
  readonly output: string;
}

/** How a run ended. `BROKEN`: without a result. */
export type RunEndState = 'VALID' | 'INVALID' | 'INTERRUPTED' | 'BROKEN';

/** The result of a run in words. */
export interface RunVerdict {
  readonly state: RunEndState;
  readonly reasons: readonly string[];
  /** Final figures, exact. */
  readonly figures: readonly { readonly label: string; readonly value: string }[];
}

/** A run as the page knows it. */
export interface LiveRunState {
  readonly facts: LiveRunFacts;
  readonly nodes: readonly string[];
  /** Null while it goes on. */
  readonly verdict: RunVerdict | null;
}

/** From the command to the thread. */
export type ToLiveThread =
  | { readonly kind: 'begin'; readonly facts: LiveRunFacts }
  | { readonly kind: 'nodes'; readonly names: readonly string[] }
  | {
      readonly kind: 'snapshot';
      readonly snapshot: LiveSnapshot;
      /** Only where metrics are served. */
      readonly counts?: WindowCounts;
    }
  | { readonly kind: 'end'; readonly verdict: RunVerdict }
  | { readonly kind: 'close' };

/** URLs of page and metrics; undefined where they are not served. */
export interface LiveAddresses {
  readonly dashboardUrl: string | undefined;
  readonly metricsUrl: string | undefined;
}

/** From the thread to the command. */
export type FromLiveThread =
  | ({ readonly kind: 'listening' } & LiveAddresses)
  | { readonly kind: 'failed'; readonly text: string };
