import type { NodeState } from '../../proto/gen/mlperf/network/v1/NodeState.ts';

/** State of a node in the words of the wire. */
export type NodeStateName = Exclude<NodeState, number | 'NODE_STATE_UNSPECIFIED'>;

/**
 * State of the node.
 *
 *   LOADING ──► WARMING_UP ──► READY ──stop──► DRAINING
 *      └────────────┴────────────┴── FAILED (workers cannot be replaced)
 */
export class NodeStatus {
  #state: NodeStateName = 'NODE_STATE_LOADING';
  #detail = 'the node starts';

  get state(): NodeStateName {
    return this.#state;
  }

  /** Why the node is not ready, in words. */
  get detail(): string {
    return this.#detail;
  }

  set(state: NodeStateName, detail: string): void {
    this.#state = state;
    this.#detail = detail;
  }
}
