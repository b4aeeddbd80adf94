import type { SamplePayloads } from '../shared/domain/system-under-test.ts';
import type { NameCall } from '../shared/evidence/evidence-schema.ts';
import { QueryDispatchLibrary } from './dispatch/query-dispatch-library.ts';
import { askNativeNames, NativeDriver } from './protocols/native/native-driver.ts';
import { askOipNames, OipDriver } from './protocols/oip/oip-driver.ts';
import type { DispatchSettings } from './settings/dispatch-settings.ts';

export { resolveNodeAddresses } from './dispatch/network-name.ts';
export type {
  NodeActivity,
  QdlNode,
  QueryDispatchLibrary,
} from './dispatch/query-dispatch-library.ts';
export { describeNodes, servedBenchmarks } from './protocols/native/describe-nodes.ts';
export { testLink } from './protocols/native/node/link-test.ts';
export { askSystems, probeNode } from './protocols/native/probe-node.ts';
export { compareOipWays } from './protocols/oip/compare-ways.ts';
export { describeOipModels } from './protocols/oip/node/model-facts.ts';
export { type OipProbe, probeOipServer } from './protocols/oip/probe-server.ts';
export { type OipTrial, tryOipRequest } from './protocols/oip/try-request.ts';
export {
  checkDispatchSettings,
  DISPATCH_POLICIES,
  DIVISIONS,
  type DispatchPolicy,
  type DispatchSettings,
  defaultDispatchSettings,
  NODE_LOSS_POLICIES,
  type NodeLossPolicy,
} from './settings/dispatch-settings.ts';

/** The QDL for a run, in the protocol that the settings name; connects nowhere before its first call. */
export function createQueryDispatchLibrary(
  settings: DispatchSettings,
  payloads: SamplePayloads,
): QueryDispatchLibrary {
  const { oip } = settings;
  const driver =
    oip === undefined ? new NativeDriver(settings, payloads) : new OipDriver(settings, oip);
  return new QueryDispatchLibrary(settings, payloads, driver);
}

/**
 * Asks the nodes for their names without a run and, where the settings name a benchmark, whether they serve another
 * one; a node that still loads its model passes. Waits at most as long as for the nodes to be ready.
 * @throws MlperfError as LoadGen's Name() would: unreachable, empty or repeated names; `ERR_SUT_REFUSED` for a node of
 *   another benchmark.
 */
export function askNames(settings: DispatchSettings): Promise<NameCall> {
  const callTimeoutMs = Math.min(settings.callTimeoutMs, settings.readyTimeoutMs);
  const asked = { ...settings, callTimeoutMs };
  return settings.oip === undefined ? askNativeNames(asked) : askOipNames(asked);
}
