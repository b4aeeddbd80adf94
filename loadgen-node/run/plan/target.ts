import assert from 'node:assert';
import type { DispatchSettings } from '../../../qdl/index.ts';
import type { Preparation, Protocol } from '../../../qdl/protocols/index.ts';
import { at } from '../../../shared/base/at.ts';
import type { LaneRequest } from '../../loadgen/settings/lanes.ts';

/** The nodes of a lane, and their protocol. */
export interface PlannedTarget {
  readonly dispatch: DispatchSettings;
  /** Protocol of the nodes. */
  readonly protocol: Protocol;
  /** The protocol's work before the run. */
  readonly preparation: Preparation;
  /**
   * Mark for all logs about a device between LoadGen and its nodes; absent: only their network is
   * between them.
   */
  readonly linkMark?: string;
}

/** A class of a run's queries, and its target. */
export interface PlannedLane extends LaneRequest {
  readonly target: PlannedTarget;
}

/** The part of a plan with its targets. */
interface Targeted {
  readonly lanes: readonly PlannedLane[];
}

/** The distinct targets of a plan. */
export function targetsOf({ lanes }: Targeted): readonly PlannedTarget[] {
  return [...new Set(lanes.map(({ target }) => target))];
}

/** Addresses of all nodes of a plan. */
export function addressesOf(plan: Targeted): string[] {
  return targetsOf(plan).flatMap(({ dispatch }) => dispatch.nodes);
}

/** The target shared by all lanes, for work that supports only one. */
export function onlyTarget(plan: Targeted): PlannedTarget {
  const targets = targetsOf(plan);
  assert(targets.length === 1);
  return at(targets, 0);
}

/** The plan with its targets replaced, in their order. */
export function withTargets<P extends Targeted>(plan: P, targets: readonly PlannedTarget[]): P {
  const before = targetsOf(plan);
  assert(targets.length === before.length);
  const lanes = plan.lanes.map((lane) => ({
    ...lane,
    target: at(targets, before.indexOf(lane.target)),
  }));
  return { ...plan, lanes };
}

/** The plan with changed QDL settings for all its targets. */
export function withDispatch<P extends Targeted>(plan: P, changed: Partial<DispatchSettings>): P {
  const targets = targetsOf(plan).map((target) => ({
    ...target,
    dispatch: { ...target.dispatch, ...changed },
  }));
  return withTargets(plan, targets);
}
