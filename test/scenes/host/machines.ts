import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type MachineSource,
  machineAt,
  type OsFacts,
} from '../../../shared/host/machine-source.ts';
import { tempFolder, writeTree } from './folders.ts';

/** Files and links of a machine, below a folder that stands for its root. */
export interface MachineTree {
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Path of a link → where it leads, as the kernel writes it: relative to the link. */
  readonly links?: Readonly<Record<string, string>>;
  readonly os?: Partial<OsFacts>;
}

/** A MAC address and serial numbers that lie in the trees and must not come out of them. */
export const SECRETS = ['02:fc:00:00:00:01', 'SERIAL-4711', 'ff:fe00'] as const;

/** Facts of a machine that Node.js knows nothing about. */
export const UNKNOWN_OS: OsFacts = {
  hostname: '',
  architecture: 'x64',
  kind: 'Linux',
  release: '',
  threads: 0,
  model: undefined,
  memoryBytes: 0,
  addresses: {},
};

/**
 * Writes a tree, by default into a folder of the running test; several tests share one in a
 * `suiteFolder()`.
 */
export function plantMachine(
  { files, links = {}, os }: MachineTree,
  root: string = tempFolder(),
): MachineSource {
  writeTree(files, root);
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(target, join(root, path));
  }
  return machineAt(root, { ...UNKNOWN_OS, ...os });
}

/** A machine of which one file has another content. */
export function withFile(source: MachineSource, path: string, content: string): MachineSource {
  return {
    ...source,
    text: (asked) => (asked === path ? Promise.resolve(content) : source.text(asked)),
  };
}

/** An address in the form of `os.networkInterfaces()`. */
export function ip(cidr: string): NonNullable<OsFacts['addresses'][string]>[number] {
  const address = cidr.split('/')[0] ?? '';
  const rest = { address, cidr, mac: SECRETS[0], internal: false, netmask: '' };
  return address.includes(':')
    ? { ...rest, family: 'IPv6', scopeid: 0 }
    : { ...rest, family: 'IPv4' };
}

interface Nic {
  readonly name: string;
  readonly pci: string;
  readonly driver: string;
  readonly vendor: string;
  readonly device: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A card on the PCI bus with its interface, linked as in `/sys`. */
function nicTree({
  name,
  pci,
  driver,
  vendor,
  device,
  attributes,
}: Nic): Required<Omit<MachineTree, 'os'>> {
  const folder = `sys/devices/pci0000:17/${pci}`;
  const all = { type: '1', mtu: '1500', operstate: 'up', address: SECRETS[0], ...attributes };
  const files = Object.entries(all).map(([key, value]) => [`${folder}/net/${name}/${key}`, value]);
  return {
    files: {
      [`${folder}/vendor`]: vendor,
      [`${folder}/device`]: device,
      [`sys/bus/pci/drivers/${driver}/module`]: '',
      ...Object.fromEntries(files),
    },
    links: {
      [`${folder}/subsystem`]: '../../../bus/pci',
      [`${folder}/driver`]: `../../../bus/pci/drivers/${driver}`,
      [`${folder}/net/${name}/device`]: '../..',
      [`sys/class/net/${name}`]: `../../devices/pci0000:17/${pci}/net/${name}`,
    },
  };
}

interface Cpu {
  readonly cpu: number;
  readonly socket: string;
  readonly siblings: string;
  /** Threads of the socket, which share the L3. */
  readonly shared: string;
}

function cpuFiles({ cpu, socket, siblings, shared }: Cpu): Record<string, string> {
  const folder = `sys/devices/system/cpu/cpu${cpu}`;
  const caches = [
    ['1', 'Data', '48K', siblings],
    ['1', 'Instruction', '32K', siblings],
    ['2', 'Unified', '2048K', siblings],
    ['3', 'Unified', '61440K', shared],
  ] as const;
  const files: Record<string, string> = {
    [`${folder}/topology/physical_package_id`]: socket,
    [`${folder}/topology/core_cpus_list`]: siblings,
  };
  for (const [i, [level, type, size, list]] of caches.entries()) {
    const index = `${folder}/cache/index${i}`;
    Object.assign(files, {
      [`${index}/level`]: level,
      [`${index}/type`]: type,
      [`${index}/size`]: size,
      [`${index}/shared_cpu_list`]: list,
    });
  }
  return files;
}

function edacFiles(controller: number, mode: string): Record<string, string> {
  const folder = `sys/devices/system/edac/mc/mc${controller}`;
  const files: Record<string, string> = { [`${folder}/mc_name`]: 'Intel_0000 Socket#0' };
  for (const dimm of [0, 1]) {
    Object.assign(files, {
      [`${folder}/dimm${dimm}/size`]: dimm === 0 ? '32768' : '0',
      [`${folder}/dimm${dimm}/dimm_mem_type`]: 'Registered-DDR5',
      [`${folder}/dimm${dimm}/dimm_edac_mode`]: mode,
      [`${folder}/dimm${dimm}/dimm_label`]: `CPU${controller}_DIMM_A${dimm}`,
    });
  }
  return files;
}

const PCI_IDS = `# a list as distributions have it
15b3  Mellanox Technologies
\t1017  MT27800 Family [ConnectX-5]
\t1021  MT2910 Family [ConnectX-7]
\t\t15b3 0023  a subsystem
8086  Intel Corporation
\t15d8  Ethernet Connection (4) I219-V
`;

/** Two sockets with two cores of two threads each, ECC on, a 100G card in a bond with its twin. */
export function serverTree(hostname = 'server'): MachineTree {
  const nics = ['a', 'b'].map((letter, i) =>
    nicTree({
      name: `ens1${letter}`,
      pci: `0000:17:00.${i}`,
      driver: 'mlx5_core',
      vendor: '0x15b3',
      device: '0x1021',
      attributes: { speed: '100000', duplex: 'full', mtu: '9000' },
    }),
  );
  const cpus = [0, 1, 2, 3, 4, 5, 6, 7].map((cpu) => {
    const socket = cpu % 4 < 2 ? 0 : 1;
    const shared = socket === 0 ? '0-1,4-5' : '2-3,6-7';
    return cpuFiles({ cpu, socket: `${socket}`, siblings: `${cpu % 4},${(cpu % 4) + 4}`, shared });
  });
  return {
    files: Object.assign(
      {
        'proc/cpuinfo':
          'model name\t: Intel(R) Xeon(R) Gold 6430  CPU @ 2.10GHz\nflags\t\t: fpu vme\n',
        'proc/meminfo': 'MemTotal:       65831000 kB\nMemFree: 1 kB\n',
        'proc/sys/kernel/random/boot_id': `boot-of-${hostname}`,
        'proc/sys/kernel/osrelease': '6.1.0-18-amd64',
        'proc/sys/net/ipv4/tcp_congestion_control': 'cubic',
        'proc/self/cgroup': '0::/user.slice/user-1000.slice/session-1.scope',
        'etc/os-release': 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
        'usr/share/misc/pci.ids': PCI_IDS,
        'sys/class/dmi/id/sys_vendor': 'Dell Inc.',
        'sys/class/dmi/id/product_name': 'PowerEdge R760',
        'sys/class/dmi/id/product_serial': SECRETS[1],
        'sys/devices/system/cpu/online': '0-7',
        'sys/devices/system/node/online': '0-1',
        'sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq': '3400000',
        'sys/devices/system/cpu/cpu0/cpufreq/base_frequency': '2100000',
        'sys/block/nvme0n1/size': '7501476528',
        'sys/block/nvme0n1/queue/rotational': '0',
        'sys/block/nvme0n1/device/model': 'SAMSUNG MZQL23T8HCLS',
        'sys/block/nvme0n1/device/serial': SECRETS[1],
        'sys/block/loop0/size': '1000',
        'sys/block/sdz/size': '1000',
        'sys/block/sdz/removable': '1',
        'sys/devices/virtual/net/bond0/type': '1',
        'sys/devices/virtual/net/bond0/speed': '200000',
        'sys/devices/virtual/net/bond0/operstate': 'up',
        'sys/devices/virtual/net/lo/type': '772',
        'sys/bus/pci/devices/0000:00:00.0/class': '0x060000',
        'sys/class/net/bonding_masters': 'bond0',
        'sys/devices/pci0000:17/0000:17:00.0/infiniband/mlx5_0/node_type': '1: CA',
      },
      edacFiles(0, 'SECDED'),
      edacFiles(1, 'S4ECD4ED'),
      ...cpus,
      ...nics.map(({ files }) => files),
    ),
    links: Object.assign(
      {
        'sys/class/net/bond0': '../../devices/virtual/net/bond0',
        'sys/class/net/lo': '../../devices/virtual/net/lo',
        'sys/devices/virtual/net/bond0/lower_ens1a': '../../../pci0000:17/0000:17:00.0/net/ens1a',
        'sys/devices/virtual/net/bond0/lower_ens1b': '../../../pci0000:17/0000:17:00.1/net/ens1b',
      },
      ...nics.map(({ links }) => links),
    ),
    os: {
      hostname,
      addresses: {
        bond0: [ip('10.0.0.2/24'), ip('fd00::2/64'), ip('fe80::1/64')],
        ens1a: [ip('2001:db8::fc:ff:fe00:1/64')],
      },
    },
  };
}

/** One socket, no ECC, wireless and wired, a disk that turns. */
export function laptopTree(): MachineTree {
  const wired = nicTree({
    name: 'enp0',
    pci: '0000:00:1f.6',
    driver: 'e1000e',
    vendor: '0x8086',
    device: '0x15d8',
    attributes: { operstate: 'down', duplex: 'unknown', speed: '-1' },
  });
  const wireless = nicTree({
    name: 'wlp1',
    pci: '0000:01:00.0',
    driver: 'iwlwifi',
    vendor: '0x8086',
    device: '0x2723',
    attributes: { uevent: 'DEVTYPE=wlan\nINTERFACE=wlp1', 'wireless/status': '0' },
  });
  return {
    files: {
      'proc/cpuinfo': 'model name : Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz\nflags : fpu\n',
      'proc/meminfo': 'MemTotal: 16000000 kB\n',
      'sys/devices/system/cpu/online': '0',
      'sys/devices/system/cpu/cpu0/topology/physical_package_id': '0',
      'sys/devices/system/cpu/cpu0/topology/core_cpus_list': '0',
      'sys/block/sda/size': '1953525168',
      'sys/block/sda/queue/rotational': '1',
      'sys/firmware/dmi/entries/16-0/raw': dmiTable(16, 0x17, { 6: 3 }),
      'sys/firmware/dmi/entries/17-0/raw': dmiTable(
        17,
        0x28,
        { 12: 0x00, 13: 0x40, 16: 1, 18: 0x1a, 21: 0x6a, 22: 0x0a },
        ['ChannelA-DIMM0', SECRETS[1]],
      ),
      'sys/firmware/dmi/entries/17-1/raw': dmiTable(17, 0x28, {}),
      ...wired.files,
      ...wireless.files,
    },
    links: { ...wired.links, ...wireless.links },
    os: { hostname: 'laptop', addresses: { wlp1: [ip('192.168.1.5/24')] } },
  };
}

/** A pod on a virtual machine: limits, one end of a link that has no card. */
export function containerTree(): MachineTree {
  return {
    files: {
      'proc/cpuinfo': 'model name : AMD EPYC 7R13\nflags : fpu hypervisor lm\n',
      'proc/meminfo': 'MemTotal: 32000000 kB\n',
      'proc/sys/kernel/random/boot_id': 'boot-of-pod',
      'proc/self/cgroup': '0::/',
      'proc/self/mountinfo':
        '601 594 259:1 /var/lib/kubelet/pods/0b1/etc-hosts /etc/hosts rw - xfs /dev/nvme0n1p1 rw\n' +
        '602 594 0:1 / /proc rw - proc proc rw\n',
      'etc/os-release': "PRETTY_NAME='Alpine Linux v3.20'\n",
      'sys/class/dmi/id/sys_vendor': 'QEMU',
      'sys/class/dmi/id/product_name': 'Standard PC (Q35 + ICH9, 2009)',
      'sys/fs/cgroup/cpu.max': '250000 100000',
      'sys/fs/cgroup/memory.max': '8589934592',
      'sys/block/vda/size': '209715200',
      'sys/devices/virtual/net/eth0/type': '1',
      'sys/devices/virtual/net/eth0/speed': '10000',
      'sys/devices/virtual/net/eth0/operstate': 'up',
    },
    links: { 'sys/class/net/eth0': '../../devices/virtual/net/eth0' },
    os: { hostname: 'pod', addresses: { eth0: [ip('10.244.0.9/24')] } },
  };
}

/** Neoverse cores, which have no name in the kernel, and packages that it does not know. */
export function armTree(): MachineTree {
  return {
    files: {
      'proc/cpuinfo': 'processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\nFeatures : fp\n',
      'sys/devices/system/cpu/online': '0-1',
      'sys/devices/system/cpu/cpu0/topology/physical_package_id': '-1',
      'sys/devices/system/cpu/cpu0/topology/thread_siblings_list': '0',
      'sys/devices/system/cpu/cpu1/topology/thread_siblings_list': '1',
      'sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq': '2600',
      'proc/device-tree/model': 'Some Board\0',
      'sys/block/mmcblk0/size': '62333952',
      'sys/block/mmcblk0boot0/size': '8192',
    },
    os: { hostname: 'arm', architecture: 'arm64', model: 'unknown' },
  };
}

/** A table of the firmware: type, length, bytes by offset, then texts. */
export function dmiTable(
  type: number,
  length: number,
  bytes: Readonly<Record<number, number>>,
  texts: readonly string[] = [],
): Uint8Array {
  const table = Buffer.alloc(length);
  table[0] = type;
  table[1] = length;
  for (const [offset, value] of Object.entries(bytes)) table[Number(offset)] = value;
  return Buffer.concat([table, Buffer.from(`${texts.join('\0')}\0\0`, 'latin1')]);
}
