import { posix } from 'node:path';
import { toldAddresses } from './ip-addresses.ts';
import type { MachineSource } from './machine-source.ts';
import { type PciNames, readPciDevice } from './pci-names.ts';
import { positiveValue, readNumber, readText } from './read-values.ts';
import type { NetworkFacts, NicFacts } from './system-facts.ts';

const INTERFACES = '/sys/class/net';

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
export async function networkFacts(source: MachineSource, names: PciNames): Promise<NetworkFacts> {
  const interfaces: NicFacts[] = [];
  for (const name of await source.names(INTERFACES)) {
    const folder = `${INTERFACES}/${name}`;
    // Beside interfaces there are control files there, such as bonding_masters.
    const type = await source.text(`${folder}/type`);
    if (type === null || type === LOOPBACK) continue;
    interfaces.push(await nicFacts(source, names, { name, folder, type }));
  }
  const congestion = '/proc/sys/net/ipv4/tcp_congestion_control';
  return { congestionControl: await readText(source, congestion), interfaces };
}

interface Interface {
  readonly name: string;
  readonly folder: string;
  readonly type: string;
}

async function nicFacts(
  source: MachineSource,
  names: PciNames,
  { name, folder, type }: Interface,
): Promise<NicFacts> {
  const entries = await source.names(folder);
  const driver = lastName(await source.target(`${folder}/device/driver`));
  const device = await pciFolder(source, `${folder}/device`);
  const pci = device === null ? null : await readPciDevice(source, device, names);
  const rdma = await source.names(`${folder}/device/infiniband`);
  const isSoftware = !entries.includes('device');
  const backing = isSoftware ? 'software' : 'hardware';
  const speed =
    (await readNumber(source, `${folder}/speed`)) ??
    (type === INFINIBAND ? await infinibandSpeed(source, folder, rdma) : null);
  return {
    name,
    fabric: await fabricOf(source, folder, { type, entries, isSoftware }),
    backing: driver !== null && HYPERVISOR_DRIVERS.has(driver) ? 'hypervisor' : backing,
    madeOf: entries.filter((entry) => entry.startsWith('lower_')).map((entry) => entry.slice(6)),
    driver,
    model: pci?.name ?? null,
    pciId: pci?.id ?? null,
    speedMbps: speed,
    duplex: known(await readText(source, `${folder}/duplex`)),
    mtu: await readNumber(source, `${folder}/mtu`),
    linkState: known(await readText(source, `${folder}/operstate`)),
    addresses: toldAddresses(source.os.addresses[name] ?? []),
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
async function pciFolder(source: MachineSource, device: string): Promise<string | null> {
  const bus = lastName(await source.target(`${device}/subsystem`));
  if (bus === 'pci') return device;
  const target = bus === 'virtio' ? await source.target(device) : null;
  // Not `device/..`: that would be the folder of the link itself.
  return target === null ? null : posix.dirname(target);
}

async function fabricOf(
  source: MachineSource,
  folder: string,
  one: { readonly type: string; readonly entries: readonly string[]; readonly isSoftware: boolean },
): Promise<NicFacts['fabric']> {
  if (one.type === INFINIBAND) return 'InfiniBand';
  if (one.entries.includes('wireless') || one.entries.includes('phy80211')) return '802.11';
  const uevent = (await source.text(`${folder}/uevent`)) ?? '';
  if (/^DEVTYPE=wwan$/m.test(uevent)) return '3GPP';
  // A tunnel looks like Ethernet, too; what carries it is not known here.
  return one.type === ETHERNET && !(one.isSoftware && !isMade(one.entries)) ? 'Ethernet' : null;
}

function isMade(entries: readonly string[]): boolean {
  return entries.some((entry) => entry.startsWith('lower_'));
}

/** The port's rate, as `100 Gb/sec (4X EDR)`. */
async function infinibandSpeed(
  source: MachineSource,
  folder: string,
  rdma: readonly string[],
): Promise<number | null> {
  const port = Number((await source.text(`${folder}/dev_port`)) ?? 0) + 1;
  const rate = await readText(source, `${folder}/device/infiniband/${rdma[0]}/ports/${port}/rate`);
  const gbps = positiveValue(/^(\d+(?:\.\d+)?) Gb\/sec/.exec(rate ?? '')?.[1]);
  return gbps === null ? null : gbps * 1000;
}
