import type { DispatchChannel } from '../dispatch-channel.ts';
import { LeastOutstanding } from './least-outstanding.ts';
import { RoundRobin } from './round-robin.ts';
import type { DispatchPolicy, Router } from './router.ts';
import { Weighted } from './weighted.ts';

const ROUTERS = {
  'least-outstanding': LeastOutstanding,
  'round-robin': RoundRobin,
  weighted: Weighted,
} as const satisfies Record<DispatchPolicy, new (channels: readonly DispatchChannel[]) => Router>;

/** The router of a policy over all streams of a run. */
export function createRouter(policy: DispatchPolicy, channels: readonly DispatchChannel[]): Router {
  return new ROUTERS[policy](channels);
}
