import {
  type LiveSnapshot,
  SnapshotHistory,
  type WindowCounts,
} from '../../observe/live/live-snapshot.ts';

/** Most runs stored; a search makes many. */
const RUNS_MAX = 100;

/** The whole state, for a page that connects late. */
export interface WholeState {
  /** The latest runs, newest last. */
  readonly runs: readonly LiveRunState[];
  readonly points: readonly LiveSnapshot[];
  /** Seconds per point. */
  readonly pointS: number;
  readonly latest: LiveSnapshot | null;
}

/** State of the runs so far, in bounded memory. The thread and each page hold the same state. */
export class LiveState {
  readonly history: SnapshotHistory = new SnapshotHistory();
  #runs: LiveRunState[] = [];

  get runs(): readonly LiveRunState[] {
    return this.#runs;
  }

  get whole(): WholeState {
    const { points, pointS, latest } = this.history;
    return { runs: this.#runs, points, pointS, latest };
  }

  /** Copies another state. */
  load({ runs, points, pointS, latest }: WholeState): void {
    this.#runs = [...runs];
    this.history.load(points, pointS, latest);
  }

  /** Applies a message; `close` has no effect. */
  apply(message: ToLiveThread): void {
    switch (message.kind) {
      case 'begin':
        this.#runs.push({ facts: message.facts, nodes: [], verdict: null });
        if (this.#runs.length > RUNS_MAX) this.#runs.shift();
        break;
      case 'nodes':
        this.#changeLast({ nodes: message.names });
        break;
      case 'snapshot':
        this.history.add(message.snapshot);
        break;
      case 'end':
        this.#changeLast({ verdict: message.verdict });
        break;
      case 'close':
        break;
    }
  }

  #changeLast(change: Partial<LiveRunState>): void {
    const last = this.#runs.at(-1);
    if (last !== undefined) this.#runs[this.#runs.length - 1] = { ...last, ...change };
  }
}

/** Address to listen on; port 0 selects a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Addresses for page and metrics; undefined: not served. The live view's thread starts with it. */
export interface LiveViewSettings {
  readonly dashboard: ListenAddress | undefined;
  readonly metrics: ListenAddress | undefined;
}

/** Facts of a run, as text and as labels. */
export interface LiveRunFacts {
  /** Name among the runs of one command; empty for a single run. */
  readonly title: string;
  readonly benchmark: string;
  readonly scenario: string;
  readonly mode: string;
  readonly output: string;
  /** The user's labels of the run. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** How a run ended. `BROKEN`: no result. */
export type RunEndState = 'VALID' | 'INVALID' | 'INTERRUPTED' | 'BROKEN';

/** The result of a run as text. */
export interface RunVerdict {
  readonly state: RunEndState;
  /** Short cause of INVALID; null if the reasons are clear enough. */
  readonly cause: string | null;
  readonly reasons: readonly string[];
  /** Final, exact figures. */
  readonly figures: readonly { readonly label: string; readonly value: string }[];
}

/** A run as the page knows it. */
export interface LiveRunState {
  readonly facts: LiveRunFacts;
  readonly nodes: readonly string[];
  /** Null while the run is in progress. */
  readonly verdict: RunVerdict | null;
}

/** Messages from the command to the thread. */
export type ToLiveThread =
  | { readonly kind: 'begin'; readonly facts: LiveRunFacts }
  | { readonly kind: 'nodes'; readonly names: readonly string[] }
  | {
      readonly kind: 'snapshot';
      readonly snapshot: LiveSnapshot;
      /** Present only if metrics are served. */
      readonly counts?: WindowCounts;
    }
  | { readonly kind: 'end'; readonly verdict: RunVerdict }
  | { readonly kind: 'close' };

/** URLs of page and metrics; undefined if not served. */
export interface LiveAddresses {
  readonly dashboardUrl: string | undefined;
  readonly metricsUrl: string | undefined;
}

/** Messages from the thread to the command. */
export type FromLiveThread =
  | ({ readonly kind: 'listening' } & LiveAddresses)
  | { readonly kind: 'failed'; readonly text: string };
