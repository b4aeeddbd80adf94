import { expect, it } from 'vitest';
import {
  addressesOf,
  onlyTarget,
  type PlannedTarget,
  targetsOf,
  withDispatch,
  withTargets,
} from '../../../../../loadgen-node/run/plan/target.ts';
import { defaultDispatchSettings } from '../../../../../qdl/index.ts';
import { protocolNamed } from '../../../../../qdl/protocols/index.ts';

// Goal: a change to a target reaches all lanes that share it, and no other; what is made for one
// target refuses several.

function target(...nodes: string[]): PlannedTarget {
  const preparation = { prepare: null, preparePayloads: null };
  return {
    dispatch: defaultDispatchSettings(nodes),
    protocol: protocolNamed('longhaul'),
    preparation,
  };
}

/** A plan with a lane for each target. */
function planOf(...targets: PlannedTarget[]) {
  const share = 1 / targets.length;
  return { output: 'out', lanes: targets.map((one, i) => ({ name: `${i}`, share, target: one })) };
}

const SHARED = target('a:1', 'b:1');
const OTHER = target('c:1');

it('lists each target once, and the addresses of all', () => {
  const plan = planOf(SHARED, OTHER, SHARED);
  expect(targetsOf(plan)).toEqual([SHARED, OTHER]);
  expect(addressesOf(plan)).toEqual(['a:1', 'b:1', 'c:1']);
});

it('replaces targets in their order, and lanes go on to share them', () => {
  const plan = withTargets(planOf(SHARED, OTHER, SHARED), [target('d:1'), OTHER]);
  expect(addressesOf(plan)).toEqual(['d:1', 'c:1']);
  expect(plan.lanes[2]?.target).toBe(plan.lanes[0]?.target);
  expect(plan.output).toBe('out');
  expect(() => withTargets(plan, [OTHER])).toThrow();
});

it('changes settings of all targets, and leaves the plan that it was given', () => {
  const before = planOf(SHARED, OTHER);
  const plan = withDispatch(before, { division: 'open' });
  expect(targetsOf(plan).map(({ dispatch }) => dispatch.division)).toEqual(['open', 'open']);
  expect(addressesOf(plan)).toEqual(addressesOf(before));
  expect(targetsOf(before).map(({ dispatch }) => dispatch.division)).toEqual([
    'network',
    'network',
  ]);
});

it('gives the one target of all lanes, and refuses several', () => {
  expect(onlyTarget(planOf(SHARED, SHARED))).toBe(SHARED);
  expect(() => onlyTarget(planOf(SHARED, OTHER))).toThrow();
});
