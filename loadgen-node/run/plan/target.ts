import assert from 'node:assert';
import type { DispatchSettings } from '../../../qdl/index.ts';
import type { Preparation, Protocol } from '../../../qdl/protocols/index.ts';
import { at } from '../../../shared/base/at.ts';
import type { LaneRequest } from '../../loadgen/settings/lanes.ts';

/** The nodes of a lane, and the way to them. */
export interface PlannedTarget {
  readonly dispatch: DispatchSettings;
  /** Protocol of the nodes. */
  readonly protocol: Protocol;
  /** Work of the protocol before the run. */
  readonly preparation: Preparation;
  /**
   * Mark for all logs about a device that stands between LoadGen and its nodes; absent: there is
   * only their network.
   */
  readonly linkMark?: string;
}

/** A class of the queries of a run, and to whom they go. */
export interface PlannedLane extends LaneRequest {
  readonly target: PlannedTarget;
}

/** A plan as far as its targets go. */
interface Targeted {
  readonly lanes: readonly PlannedLane[];
}

/** The targets of a plan, each once. */
export function targetsOf({ lanes }: Targeted): readonly PlannedTarget[] {
  return [...new Set(lanes.map(({ target }) => target))];
}

/** Addresses of all nodes of a plan. */
export function addressesOf(plan: Targeted): string[] {
  return targetsOf(plan).flatMap(({ dispatch }) => dispatch.nodes);
}

/** The target that all lanes share, for work that is not made for several. */
export function onlyTarget(plan: Targeted): PlannedTarget {
  const targets = targetsOf(plan);
  assert(targets.length === 1);
  return at(targets, 0);
}

/** The plan with these in place of its targets, in their order. */
export function withTargets<P extends Targeted>(plan: P, targets: readonly PlannedTarget[]): P {
  const before = targetsOf(plan);
  assert(targets.length === before.length);
  const lanes = plan.lanes.map((lane) => ({
    ...lane,
    target: at(targets, before.indexOf(lane.target)),
  }));
  return { ...plan, lanes };
}

/** The plan with these settings of the QDL for all its targets. */
export function withDispatch<P extends Targeted>(plan: P, changed: Partial<DispatchSettings>): P {
  const targets = targetsOf(plan).map((target) => ({
    ...target,
    dispatch: { ...target.dispatch, ...changed },
  }));
  return withTargets(plan, targets);
}
