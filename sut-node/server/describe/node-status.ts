import type { NodeState } from '../../../proto/gen/mlperf/network/v1/NodeState.ts';

/** State of a node in the words of the wire. */
export type NodeStateName = Exclude<NodeState, number | 'NODE_STATE_UNSPECIFIED'>;

/**
 * State of the node.
 *
 *   LOADING ──► WARMING_UP ──► READY ──stop──► DRAINING
 *      └────────────┴────────────┴──────────────┴──► FAILED (workers cannot be replaced); for good
 *
 * Whoever wants to follow it (health, the log) registers with {@link onChange}.
 */
export class NodeStatus {
  readonly #listeners: ((state: NodeStateName, detail: string) => void)[] = [];
  #state: NodeStateName = 'NODE_STATE_LOADING';
  #detail = 'the node starts';

  get state(): NodeStateName {
    return this.#state;
  }

  /** Why the node is not ready, in words. */
  get detail(): string {
    return this.#detail;
  }

  /** Calls the listener after every change of the state; not where only the detail changes. */
  onChange(listener: (state: NodeStateName, detail: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Does nothing once the node has failed: a start or a drain that still goes on does not hide that. */
  set(state: NodeStateName, detail: string): void {
    if (this.#state === 'NODE_STATE_FAILED') return;
    const isOther = state !== this.#state;
    this.#state = state;
    this.#detail = detail;
    if (!isOther) return;
    for (const listener of this.#listeners) listener(state, detail);
  }
}
