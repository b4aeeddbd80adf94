import { posix } from 'node:path';
import { toldAddresses } from './ip-addresses.ts';
import type { MachineSource } from './machine-source.ts';
import { type PciNames, readPciDevice } from './pci-names.ts';
import { FactFolder, positiveValue } from './read-values.ts';
import type { NicFacts, SystemFacts } from './system-facts.ts';

/** Kinds of link by the kernel's number. Source: Linux, if_arp.h: ARPHRD_ETHER, _INFINIBAND, _LOOPBACK. */
const ETHERNET = '1';
const INFINIBAND = '32';
const LOOPBACK = '772';

/** Drivers of cards that a hypervisor makes. */
const HYPERVISOR_DRIVERS = new Set([
  'virtio_net',
  'vmxnet3',
  'hv_netvsc',
  'xen_netfront',
  'vif',
  'e1000', // Real ones left the shops with PCI; every hypervisor has one.
]);

/** Reads the interfaces in `/sys/class/net`. Offloads are left out: they cost a system call that Node.js does not have. */
export async function networkFacts(
  source: MachineSource,
  names: PciNames,
): Promise<SystemFacts['network']> {
  const all = new FactFolder(source, '/sys/class/net');
  const interfaces: NicFacts[] = [];
  for (const name of await all.names()) {
    const type = await all.text(`${name}/type`);
    // Beside interfaces there are control files there, such as bonding_masters.
    if (type === null || type === LOOPBACK) continue;
    interfaces.push(await nicFacts(all.in(name), name, type, names));
  }
  const congestionControl = await new FactFolder(source, '/proc/sys/net/ipv4').line(
    'tcp_congestion_control',
  );
  return { congestionControl, interfaces };
}

async function nicFacts(
  folder: FactFolder,
  name: string,
  type: string,
  names: PciNames,
): Promise<NicFacts> {
  const entries = await folder.names();
  const driver = lastName(await folder.target('device/driver'));
  const device = await pciFolder(folder);
  const pci = device === null ? null : await readPciDevice(device, names);
  const rdma = await folder.in('device/infiniband').names();
  const backing = entries.includes('device') ? 'hardware' : 'software';
  const madeOf = entries.filter((entry) => entry.startsWith('lower_'));
  return {
    name,
    fabric: await fabricOf(folder, type, entries),
    backing: driver !== null && HYPERVISOR_DRIVERS.has(driver) ? 'hypervisor' : backing,
    madeOf: madeOf.map((entry) => entry.slice('lower_'.length)),
    driver,
    model: pci?.name ?? null,
    pciId: pci?.id ?? null,
    speedMbps:
      (await folder.number('speed')) ??
      (type === INFINIBAND ? await infinibandSpeed(folder, rdma) : null),
    duplex: known(await folder.line('duplex')),
    mtu: await folder.number('mtu'),
    linkState: known(await folder.line('operstate')),
    addresses: toldAddresses(folder.source.os.addresses[name] ?? []),
    hasRdma: rdma.length > 0,
  };
}

function known(word: string | null): string | null {
  return word === 'unknown' ? null : word;
}

function lastName(path: string | null): string | null {
  return path?.split('/').at(-1) ?? null;
}

/** The device itself, or the one above a virtio device: either has its numbers in the folder. */
async function pciFolder(nic: FactFolder): Promise<FactFolder | null> {
  const bus = lastName(await nic.target('device/subsystem'));
  if (bus === 'pci') return nic.in('device');
  const target = bus === 'virtio' ? await nic.target('device') : null;
  // Not `device/..`: that would be the folder of the link itself.
  return target === null ? null : new FactFolder(nic.source, posix.dirname(target));
}

async function fabricOf(
  folder: FactFolder,
  type: string,
  entries: readonly string[],
): Promise<NicFacts['fabric']> {
  if (type === INFINIBAND) return 'InfiniBand';
  if (entries.includes('wireless') || entries.includes('phy80211')) return '802.11';
  if (/^DEVTYPE=wwan$/m.test((await folder.text('uevent')) ?? '')) return '3GPP';
  // A tunnel looks like Ethernet, too; what carries it is not known here.
  const isTunnel = !entries.some((entry) => entry === 'device' || entry.startsWith('lower_'));
  return type === ETHERNET && !isTunnel ? 'Ethernet' : null;
}

/** The port's rate, as `100 Gb/sec (4X EDR)`. */
async function infinibandSpeed(
  folder: FactFolder,
  rdma: readonly string[],
): Promise<number | null> {
  const port = Number((await folder.text('dev_port')) ?? 0) + 1;
  const rate = await folder.line(`device/infiniband/${rdma[0]}/ports/${port}/rate`);
  const gbps = positiveValue(/^(\d+(?:\.\d+)?) Gb\/sec/.exec(rate ?? '')?.[1]);
  return gbps === null ? null : gbps * 1000;
}
