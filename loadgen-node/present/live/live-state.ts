import {
  type LiveSnapshot,
  SnapshotHistory,
  type WindowCounts,
} from '../../observe/live/live-snapshot.ts';

/** Runs that are remembered; a search makes many. */
const RUNS_MAX = 100;

/** The state for a page that connects late. */
export interface WholeState {
  /** The last ones, the newest at the end. */
  readonly runs: readonly LiveRunState[];
  readonly points: readonly LiveSnapshot[];
  /** Seconds that a point covers. */
  readonly pointS: number;
  readonly latest: LiveSnapshot | null;
}

/** State of the runs so far, in bounded memory. The thread and each page keep the same. */
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

  /** Takes over what another one has. */
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

/** Address to listen on; port 0 takes a free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Where page and metrics are served; undefined: nowhere. The thread of the live view begins with
 * it.
 */
export interface LiveViewSettings {
  readonly dashboard: ListenAddress | undefined;
  readonly metrics: ListenAddress | undefined;
}

/** A run, for people and as labels. */
export interface LiveRunFacts {
  /** Name among the runs of the same command; empty where there is one only. */
  readonly title: string;
  readonly benchmark: string;
  readonly scenario: string;
  readonly mode: string;
  readonly output: string;
  /** The user's words about the run. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** How a run ended. `BROKEN`: without a result. */
export type RunEndState = 'VALID' | 'INVALID' | 'INTERRUPTED' | 'BROKEN';

/** The result of a run in words. */
export interface RunVerdict {
  readonly state: RunEndState;
  /** Why it is INVALID, in few words; null: the reasons tell. */
  readonly cause: string | null;
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
