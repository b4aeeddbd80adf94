import type { QdlNode } from '../../dispatch/query-dispatch-library.ts';
import type { WaitProgress } from '../../dispatch/ready-wait.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';
import { ControlClient } from './node/control-client.ts';
import { SutNodeHandle } from './sut-node-handle.ts';

/**
 * Models of SUT nodes over longhaul's own protocol, by Describe, without a run; waits until all are
 * ready.
 * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED`
 */
export async function describeNodes(
  settings: DispatchSettings,
  onWait: WaitProgress,
): Promise<readonly QdlNode[]> {
  const nodes = settings.nodes.map((address) => new SutNodeHandle(address, settings));
  try {
    const asked = nodes.map((node) => node.prepare(onWait));
    // Wait for every call, so that none outlives its connection.
    await Promise.allSettled(asked);
    await Promise.all(asked);
    return nodes;
  } finally {
    for (const { control } of nodes) control.close();
  }
}

/**
 * Benchmarks that a node serves, even while it loads its model; empty if it does not report them.
 * @param settings Connection settings; the nodes are ignored.
 * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_REFUSED`
 */
export async function servedBenchmarks(
  address: string,
  settings: DispatchSettings,
): Promise<readonly string[]> {
  const client = new ControlClient(address, settings);
  try {
    const { models = [] } = (await client.describe()) ?? {};
    return [...new Set(models.map(({ benchmark }) => benchmark))];
  } finally {
    client.close();
  }
}
