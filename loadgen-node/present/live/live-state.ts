import type { LiveSnapshot } from '../../observe/live/live-snapshot.ts';
import { SnapshotHistory } from '../../observe/live/snapshot-history.ts';
import type { LiveRunState, ToLiveThread } from './live-messages.ts';

/** Runs that are remembered; a search makes many. */
const RUNS_MAX = 100;

/** All that somebody needs who comes late. */
export interface WholeState {
  /** The last ones, the newest at the end. */
  readonly runs: readonly LiveRunState[];
  readonly points: readonly LiveSnapshot[];
  /** Seconds that a point covers. */
  readonly pointS: number;
  readonly latest: LiveSnapshot | null;
}

/** What happened so far, in bounded memory: kept by the thread, and by each page in the same way. */
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

  /** Takes what happened; `close` changes nothing. */
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
