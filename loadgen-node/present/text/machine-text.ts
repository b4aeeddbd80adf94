import { formatNs } from '../../../shared/base/text.ts';
import { isLoopback } from '../../../shared/domain/node-address.ts';
import type { HostEvidence } from '../../../shared/host/host-facts.ts';
import type { NetworkAudit } from '../../observe/network-audit.ts';
import { formatNumber } from './figure-text.ts';

/** A machine in one line: `host-a: AMD EPYC, 2 cores, 23.5 GiB, Linux 6.1`. */
export function hostText(host: HostEvidence): string {
  const { cpuModel, cpuCount, memoryBytes } = host;
  const cores = `${cpuCount} ${cpuCount === 1 ? 'core' : 'cores'}`;
  const memory = `${formatNumber(memoryBytes / 2 ** 30)} GiB`;
  return `${host.hostname}: ${cpuModel}, ${cores}, ${memory}, ${host.operatingSystem}`;
}

/**
 * The link between LoadGen and its nodes, from the audit. `kind`: one word, for comparisons;
 * `text`: with times.
 */
export function linkWords({ nameCalls }: NetworkAudit): { kind: string | null; text: string } {
  const asked = nameCalls.flatMap(({ nodes }) => nodes);
  const addresses = asked.flatMap(({ remoteAddress }) => remoteAddress ?? []);
  const least = (of: (node: (typeof asked)[number]) => number | null): string =>
    formatNs(Math.min(...asked.flatMap((node) => of(node) ?? [])));
  const connect = `TCP connect ${least((node) => node.tcpConnectNs)}`;
  const times = `${connect}, question and answer ${least((node) => node.roundTripNs)}`;
  if (addresses.length === 0) return { kind: null, text: 'not known' };
  const isLocal = addresses.every(isLoopback);
  const kind = isLocal ? 'loopback' : 'a network';
  const where = isLocal ? 'loopback: one machine' : `to ${[...new Set(addresses)].join(', ')}`;
  return { kind, text: `${where}; at best ${times}` };
}
