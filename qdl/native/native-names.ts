import type { NameCall } from '../../shared/evidence/network-evidence.ts';
import { NetworkNames } from '../dispatch/network-name.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import { ControlClient } from './node/control-client.ts';
import { requireBenchmark } from './node/served-benchmark.ts';

/** As askNames, of nodes that speak longhaul's own protocol. */
export async function askNativeNames(settings: DispatchSettings): Promise<NameCall> {
  const clients = settings.nodes.map((address) => new ControlClient(address, settings));
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
