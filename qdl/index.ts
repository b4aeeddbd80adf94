import type { SamplePayloads } from '../shared/domain/query-sample-library.ts';
import type { NameCall } from '../shared/evidence/network-evidence.ts';
import type { DispatchSettings } from './dispatch-settings.ts';
import { NetworkNames } from './network-name.ts';
import { ControlClient } from './node/control-client.ts';
import { requireBenchmark } from './node/served-benchmark.ts';
import { QueryDispatchLibrary } from './query-dispatch-library.ts';

export { checkDispatchSettings } from './check-settings.ts';
export {
  DIVISIONS,
  type DispatchSettings,
  type Division,
  defaultDispatchSettings,
  NODE_LOSS_POLICIES,
  type NodeLossPolicy,
} from './dispatch-settings.ts';
export { testLink } from './node/link-test.ts';
export { resolveNodeAddresses } from './node-addresses.ts';
export { askSystems } from './node-systems.ts';
export { probeNode } from './probe-node.ts';
export type { NodeActivity, QueryDispatchLibrary } from './query-dispatch-library.ts';
export { DISPATCH_POLICIES, type DispatchPolicy } from './router/router.ts';

/** The QDL for a run; connects nowhere before its first call. */
export function createQueryDispatchLibrary(
  settings: DispatchSettings,
  payloads: SamplePayloads,
): QueryDispatchLibrary {
  return new QueryDispatchLibrary(settings, payloads);
}

/**
 * Asks the nodes for their names without a run and, where the settings name a benchmark, whether they serve another
 * one; a node that still loads its model passes. Nobody waits longer for it than for the nodes to be ready.
 * @throws MlperfError as LoadGen's Name() would: unreachable, empty or repeated names; `ERR_SUT_REFUSED` for a node of
 *   another benchmark.
 */
export async function askNames(settings: DispatchSettings): Promise<NameCall> {
  const callTimeoutMs = Math.min(settings.callTimeoutMs, settings.readyTimeoutMs);
  const clients = settings.nodes.map(
    (address) => new ControlClient(address, { ...settings, callTimeoutMs }),
  );
  const names = new NetworkNames(clients, settings.division);
  try {
    await names.ask();
    if (settings.benchmark !== '') {
      const descriptions = await Promise.all(clients.map((client) => client.describe()));
      clients.forEach(({ address }, i) => {
        requireBenchmark(address, settings.benchmark, descriptions[i]);
      });
    }
    return (await names.calls())[0] as NameCall; // There was one call.
  } finally {
    for (const client of clients) client.close();
  }
}
