import {
  askNames,
  askSystems,
  checkDispatchSettings,
  type DispatchSettings,
  defaultDispatchSettings,
  resolveNodeAddresses,
} from '../../../qdl/index.ts';
import type { SettingValues } from '../../../shared/config/setting.ts';
import { type CONNECTION_OPTIONS, toConnectionSettings } from '../plan/connection-options.ts';

/** How the nodes are spoken to. */
interface AskingValues extends SettingValues<typeof CONNECTION_OPTIONS> {
  readonly streams: number;
  readonly connections: number;
}

/**
 * Asks SUT nodes what machines they are, over the connections that a run would have. Names are asked first, as in a run,
 * which refuses addresses that are of one node.
 * @returns The answers of all nodes, and whether the connections had TLS.
 * @throws MlperfError where a node does not answer
 */
export async function askNodeSystems(addresses: readonly string[], values: AskingValues) {
  const settings: DispatchSettings = {
    ...defaultDispatchSettings(await resolveNodeAddresses(addresses)),
    streamsPerNode: values.streams,
    connectionsPerNode: values.connections,
    ...toConnectionSettings(values),
  };
  checkDispatchSettings(settings);
  const { nodes } = await askNames(settings);
  const names = nodes.map(({ name }) => name);
  return { nodes: await askSystems(settings, names), isTls: settings.security.tls === true };
}
