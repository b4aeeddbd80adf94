import type { SamplePayloads } from '../shared/domain/system-under-test.ts';
import type { NameCall } from '../shared/evidence/evidence-schema.ts';
import { QueryDispatchLibrary } from './dispatch/query-dispatch-library.ts';
import { protocolNamed } from './protocols/index.ts';
import { checkCommonSettings, type DispatchSettings } from './settings/dispatch-settings.ts';

export type {
  ChannelEvents,
  ChannelPlace,
  CompletedSample,
  DispatchChannel,
  OutgoingPart,
} from './dispatch/dispatch-channel.ts';
export {
  askOnce,
  type NamedNode,
  NetworkNames,
  type NodeName,
  resolveNodeAddresses,
} from './dispatch/network-name.ts';
export { OutstandingTable } from './dispatch/outstanding-table.ts';
export type {
  NodeActivity,
  ProtocolDriver,
  QdlNode,
  QueryDispatchLibrary,
} from './dispatch/query-dispatch-library.ts';
export { nodeOfOneEnd } from './dispatch/run-ledger.ts';
export { servedBenchmarks } from './protocols/native/describe-nodes.ts';
export { testLink } from './protocols/native/node/link-test.ts';
export { askSystems, probeNode } from './protocols/native/probe-node.ts';
export {
  DISPATCH_POLICIES,
  DIVISIONS,
  type DispatchPolicy,
  type DispatchSettings,
  defaultDispatchSettings,
  NODE_LOSS_POLICIES,
  type NodeLossPolicy,
} from './settings/dispatch-settings.ts';

/**
 * Refuses settings that contradict each other or a rule of MLPerf.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function checkDispatchSettings(settings: DispatchSettings): void {
  checkCommonSettings(settings);
  protocolNamed(settings.protocol.name).check(settings);
}

/** A QDL for a run, for the protocol in the settings; it does not connect before its first call. */
export async function createQueryDispatchLibrary(
  settings: DispatchSettings,
  payloads: SamplePayloads,
): Promise<QueryDispatchLibrary> {
  const { open } = await protocolNamed(settings.protocol.name).load();
  return new QueryDispatchLibrary(settings, payloads, open(settings, payloads));
}

/**
 * Asks the nodes for their names without a run. If the settings name a benchmark, also checks that
 * the nodes serve it; a node that still loads its model passes. Waits at most the ready timeout.
 * @throws MlperfError as LoadGen's Name(): unreachable, empty or repeated names; `ERR_SUT_REFUSED`
 * for a node of another benchmark.
 */
export async function askNames(settings: DispatchSettings): Promise<NameCall> {
  const { askNames: ask } = await protocolNamed(settings.protocol.name).load();
  const callTimeoutMs = Math.min(settings.callTimeoutMs, settings.readyTimeoutMs);
  return await ask({ ...settings, callTimeoutMs });
}
