import { isIPv6, SocketAddress } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { posix } from 'node:path';
import { z } from 'zod';
import { formOf, line, list, quantity, readFacts, rowsOf, wordOf, words } from './fact-kinds.ts';
import { cleanText, FactFolder, type MachineSource } from './machine-source.ts';

const fact = rowsOf<Look>();

/** Fabrics as `network_type` of a system description names them. */
const FABRICS = ['Ethernet', '802.11', 'InfiniBand', '3GPP'] as const;

/** One network interface. */
const NIC = {
  name: fact(line, ({ name }) => name),
  fabric: fact(wordOf(FABRICS), fabricOf),
  /**
   * `hardware`: a card; `hypervisor`: a virtual card, with the hypervisor's stated speed;
   * `software`: a bridge, a bond, a tunnel, one end of a container's link. Null: unknown to this
   * version.
   */
  backing: fact(wordOf(['hardware', 'hypervisor', 'software']), ({ driver, entries }) => {
    if (HYPERVISOR_DRIVERS.test(driver ?? '')) return 'hypervisor';
    return entries.includes('device') ? 'hardware' : 'software';
  }),
  /** Interfaces of the same machine below this one (of a bond, a bridge, a VLAN). */
  madeOf: fact(list(line), ({ entries }) =>
    entries.filter((entry) => entry.startsWith(LOWER)).map((entry) => entry.slice(LOWER.length)),
  ),
  driver: fact(words, ({ driver }) => driver),
  /** Maker and model by the list of PCI ids of the machine. */
  model: fact(words, ({ pci }) => pci?.name ?? null),
  /** `vendor:device` on the PCI bus, hexadecimal. */
  pciId: fact(words, ({ pci }) => pci?.id ?? null),
  /** Current link speed, 10^6 bit/s. */
  speedMbps: fact(
    quantity,
    async (look) => (await look.nic.number('speed')) ?? infinibandSpeed(look),
  ),
  duplex: fact(words, ({ nic }) => nic.line('duplex', KNOWN)),
  mtu: fact(quantity, ({ nic }) => nic.number('mtu')),
  /** `up`, `down`, or another state of the kernel. */
  linkState: fact(words, ({ nic }) => nic.line('operstate', KNOWN)),
  /**
   * IP addresses with prefix length: `10.0.0.2/24`. Without link-local IPv6 addresses; of those
   * that contain the MAC address only the prefix.
   */
  addresses: fact(list(line), ({ nic, name }) =>
    toldAddresses(nic.source.os.addresses[name] ?? []),
  ),
  /** True if the device also offers RDMA to the kernel. */
  hasRdma: fact(z.boolean(), ({ rdma }) => rdma.length > 0),
};

const nicForm = formOf(NIC);
export type NicFacts = z.infer<typeof nicForm>;

/** Inputs that several facts of an interface share. */
async function lookAt(nic: FactFolder, name: string, type: string, names: PciNames) {
  const device = await pciFolder(nic);
  return {
    ...{ nic, name, type },
    entries: await nic.names(),
    driver: lastName(await nic.target('device/driver')),
    pci: device && (await readPciDevice(device, names)),
    rdma: await nic.in('device/infiniband').names(),
  };
}

type Look = Awaited<ReturnType<typeof lookAt>>;

export const network = z.object({
  /** For example `cubic`. */
  congestionControl: words,
  /** Without loopback. */
  interfaces: list(nicForm),
});

/**
 * Kinds of link by the kernel's number. Source: Linux, if_arp.h: ARPHRD_ETHER, _INFINIBAND,
 * _LOOPBACK.
 */
const ETHERNET = '1';
const INFINIBAND = '32';
const LOOPBACK = '772';

/** Drivers of virtual cards. e1000 counts: every hypervisor has it, and real cards are obsolete. */
const HYPERVISOR_DRIVERS = /^(virtio_net|vmxnet3|hv_netvsc|xen_netfront|vif|e1000)$/;

/** Prefix of entries for the interfaces below this one: `lower_NAME`. */
const LOWER = 'lower_';

/** Any text but `unknown`. */
const KNOWN = /^(?!unknown$)(.*)$/s;

/**
 * Reads the interfaces in `/sys/class/net`. Offloads are left out: they need a system call that
 * Node.js lacks.
 */
export async function networkFacts(
  source: MachineSource,
  names: PciNames,
): Promise<z.infer<typeof network>> {
  const all = new FactFolder(source, '/sys/class/net');
  const interfaces: NicFacts[] = [];
  for (const name of await all.names()) {
    const type = await all.text(`${name}/type`);
    // The folder also has control files, such as bonding_masters.
    if (type === null || type === LOOPBACK) continue;
    interfaces.push(await readFacts(NIC, await lookAt(all.in(name), name, type, names)));
  }
  const ipv4 = new FactFolder(source, '/proc/sys/net/ipv4');
  return { congestionControl: await ipv4.line('tcp_congestion_control'), interfaces };
}

function lastName(path: string | null): string | null {
  return path?.split('/').at(-1) ?? null;
}

/** The device itself, or the one above a virtio device: the one with the numbers in its folder. */
async function pciFolder(nic: FactFolder): Promise<FactFolder | null> {
  const bus = lastName(await nic.target('device/subsystem'));
  if (bus === 'pci') return nic.in('device');
  const target = bus === 'virtio' ? await nic.target('device') : null;
  // Not `device/..`: that would be the folder of the link itself.
  return target === null ? null : new FactFolder(nic.source, posix.dirname(target));
}

async function fabricOf(look: Look): Promise<(typeof FABRICS)[number] | null> {
  const { nic, type, entries } = look;
  if (type === INFINIBAND) return 'InfiniBand';
  if (entries.includes('wireless') || entries.includes('phy80211')) return '802.11';
  if ((await nic.text('uevent', /^(DEVTYPE=wwan)$/m)) !== null) return '3GPP';
  // A tunnel looks like Ethernet, but its carrier is unknown here.
  const isTunnel = !entries.some((entry) => entry === 'device' || entry.startsWith(LOWER));
  return type === ETHERNET && !isTunnel ? 'Ethernet' : null;
}

/** The port's rate, such as `100 Gb/sec (4X EDR)`. */
async function infinibandSpeed({ nic, type, rdma }: Look): Promise<number | null> {
  if (type !== INFINIBAND) return null;
  const port = Number((await nic.text('dev_port')) ?? 0) + 1;
  const rate = `device/infiniband/${rdma[0]}/ports/${port}/rate`;
  const gbps = await nic.number(rate, /^(\d+(?:\.\d+)?) Gb\/sec/);
  return gbps && gbps * 1000;
}

/** Places of the list of PCI ids in distributions; `lspci` reads the same. */
const LISTS = ['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids'];

/**
 * Name of a PCI device from the machine's list; null without one. Both ids are four lower-case
 * hexadecimal digits.
 */
export type PciNames = (vendor: string, device: string) => string | null;

/** Reads the list, if there is one. */
export async function readPciNames(source: MachineSource): Promise<PciNames> {
  for (const path of LISTS) {
    const list = await source.text(path);
    if (list !== null) return (vendor, device) => nameIn(`\n${list}`, vendor, device);
  }
  return () => null;
}

/** A vendor's line begins with its id, its devices' lines with a tab and theirs. */
function nameIn(list: string, vendor: string, device: string): string | null {
  const begin = list.indexOf(`\n${vendor}  `);
  if (begin < 0) return null;
  const block = /^\n[^\n]*(?:\n[\t#][^\n]*)*/.exec(list.slice(begin))?.[0] ?? '';
  const nameBehind = (start: string): string | null => {
    const at = block.indexOf(start);
    return at < 0 ? null : cleanText(block.slice(at + start.length).split('\n', 1)[0]);
  };
  const maker = nameBehind(`\n${vendor}  `);
  const name = nameBehind(`\n\t${device}  `);
  return maker === null || name === null ? null : `${maker} ${name}`;
}

/**
 * PCI device of a `/sys` folder, as `vendor:device` and by name; null if it is not on the PCI bus.
 */
export async function readPciDevice(folder: FactFolder, nameOf: PciNames) {
  const idIn = async (name: string): Promise<string | undefined> =>
    (await folder.text(name, /^0x([0-9a-f]{4})$/i))?.toLowerCase();
  const [vendor, device] = [await idIn('vendor'), await idIn('device')];
  if (vendor === undefined || device === undefined) return null;
  return { id: `${vendor}:${device}`, name: nameOf(vendor, device) };
}

/**
 * Addresses of an interface that may be reported, with prefix length. An IPv6 address made from the
 * MAC address would reveal it: only its prefix is reported. Link-local addresses are left out.
 */
export function toldAddresses(infos: readonly NetworkInterfaceInfo[]): string[] {
  return (
    infos
      // Link-local addresses begin with fe80::/10.
      .filter(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address))
      .map(({ address, cidr }) => {
        const length = cidr?.split('/')[1] ?? (isIPv6(address) ? '128' : '32');
        return holdsMac(address) ? `${prefixOf(address)}/64` : `${address}/${length}`;
      })
  );
}

/**
 * True if a connection's address is this interface address; for a reported prefix, if it lies in
 * the prefix.
 * @param told As {@link toldAddresses} returns it.
 */
export function isAddress(told: string, address: string): boolean {
  const [own = '', length] = told.split('/');
  const plain = bareAddress(address);
  if (own === plain) return true;
  const isPrefix = isIPv6(own) && length === '64' && own.endsWith('::');
  return isPrefix && isIPv6(plain) && prefixOf(plain) === own;
}

/** Without the IPv6 zone; IPv4-mapped addresses as IPv4. */
export function bareAddress(address: string): string {
  return address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
}

/** The eight groups of an IPv6 address, four hexadecimal digits each. */
function groupsOf(address: string): string[] {
  const { address: short } = new SocketAddress({ address: bareAddress(address), family: 'ipv6' });
  const [head = '', tail] = short.split('::');
  const split = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [split(head), split(tail ?? '')];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return groups.map((group) => group.padStart(4, '0'));
}

/**
 * An interface id made from the MAC address has ff:fe in its middle. Source: RFC 4291, appendix A.
 */
function holdsMac(address: string): boolean {
  if (!isIPv6(address) || address.includes('.')) return false;
  const groups = groupsOf(address);
  return groups[5]?.endsWith('ff') === true && groups[6]?.startsWith('fe') === true;
}

function prefixOf(address: string): string {
  if (address.includes('.')) return address;
  const groups = groupsOf(address).slice(0, 4);
  return `${groups.map((group) => group.replace(/^0{1,3}/, '')).join(':')}::`;
}
