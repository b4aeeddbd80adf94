import type { DispatchPolicy } from '../../settings/dispatch-settings.ts';
import { LeastOutstanding } from './least-outstanding.ts';
import { RoundRobin } from './round-robin.ts';
import type { RoutedChannel, Router } from './router.ts';
import { Weighted } from './weighted.ts';

const ROUTERS = {
  'least-outstanding': LeastOutstanding,
  'round-robin': RoundRobin,
  weighted: Weighted,
} as const satisfies Record<DispatchPolicy, unknown>;

/** The router of a policy over all streams of a run. */
export function createRouter<Channel extends RoutedChannel>(
  policy: DispatchPolicy,
  channels: readonly Channel[],
): Router<Channel> {
  return new ROUTERS[policy](channels);
}
