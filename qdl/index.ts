import type { SamplePayloads } from '../shared/domain/query-sample-library.ts';
import type { DispatchSettings } from './dispatch-settings.ts';
import { askNetworkName, type NetworkName } from './network-name.ts';
import { QueryDispatchLibrary } from './query-dispatch-library.ts';
import { SutNodeHandle } from './sut-node-handle.ts';

export { checkDispatchSettings } from './check-settings.ts';
export {
  DIVISIONS,
  type DispatchSettings,
  type Division,
  defaultDispatchSettings,
  NODE_LOSS_POLICIES,
  type NodeLossPolicy,
} from './dispatch-settings.ts';
export type { NetworkName } from './network-name.ts';
export { resolveNodeAddresses } from './node-addresses.ts';
export type { QueryDispatchLibrary } from './query-dispatch-library.ts';
export { DISPATCH_POLICIES, type DispatchPolicy } from './router/router.ts';

/** The QDL for a run; connects nowhere before its first call. */
export function createQueryDispatchLibrary(
  settings: DispatchSettings,
  payloads: SamplePayloads,
): QueryDispatchLibrary {
  return new QueryDispatchLibrary(settings, payloads);
}

/**
 * Asks the nodes for their names without a run. Nobody waits longer for it than for the nodes to be ready.
 * @throws MlperfError as LoadGen's Name() would: unreachable, empty or repeated names.
 */
export async function askNames(settings: DispatchSettings): Promise<NetworkName> {
  const callTimeoutMs = Math.min(settings.callTimeoutMs, settings.readyTimeoutMs);
  const nodes = settings.nodes.map(
    (address) => new SutNodeHandle(address, { ...settings, callTimeoutMs }),
  );
  try {
    return await askNetworkName(nodes.map((node) => node.control));
  } finally {
    for (const node of nodes) node.control.close();
  }
}
