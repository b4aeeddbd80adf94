import { z } from 'zod';
import type { ComponentVersion } from './component-versions.ts';
import { formOf, line, list, quantity, readFacts, rowsOf, wordOf, words } from './fact-kinds.ts';
import {
  cleanText,
  FactFolder,
  joined,
  type MachineSource,
  positiveValue,
} from './machine-source.ts';
import { ecc, memory, memoryFacts } from './memory-facts.ts';
import {
  network,
  networkFacts,
  type PciNames,
  readPciDevice,
  readPciNames,
} from './network-facts.ts';
import { processorFacts, processorForm } from './processor-facts.ts';

/** Environment of the facts: hardware, a virtual machine, a container. */
const enclosure = z.object({
  /** Maker and product from the firmware; in a virtual machine the hypervisor's. */
  vendor: words,
  product: words,
  /** Kind of virtual machine (`KVM`), or `unknown hypervisor`; null if no sign was found. */
  virtualMachine: words,
  /** The sign that showed it. */
  virtualMachineHow: words,
  /** Kind of container (`docker`), or `unknown container`; null if no sign was found. */
  container: words,
  containerHow: words,
  /** Limits of the container; null if unlimited. */
  cpuLimit: quantity,
  memoryLimitBytes: quantity,
});

/** Kinds of disk as a system description names them. */
const STORAGE_KINDS = ['NVMe SSD', 'SSD', 'HDD', 'flash card', 'virtual disk'] as const;
const disk = z.object({ name: line, kind: wordOf(STORAGE_KINDS), model: words, bytes: quantity });
type DiskFacts = z.infer<typeof disk>;

const accelerator = z.object({
  model: words,
  memoryBytes: quantity,
  ecc,
  maxMhz: quantity,
  /** For example `PCIe 5.0 x16`. */
  hostInterconnect: words,
  /** Version of the accelerator's driver. */
  driver: words,
  /** Source of the fact. */
  how: words,
});
export type AcceleratorFacts = z.infer<typeof accelerator>;

/** Inputs that several facts share. */
async function lookAt(source: MachineSource, components: readonly ComponentVersion[]) {
  const pciNames = await readPciNames(source);
  const root = new FactFolder(source);
  return { source, root, components, pciNames, found: await acceleratorFacts(source, pciNames) };
}

const fact = rowsOf<Awaited<ReturnType<typeof lookAt>>>();

const SOFTWARE = {
  /** For example `Debian GNU/Linux 12 (bookworm)`; inside a container that of the image. */
  operatingSystem: fact(
    words,
    async ({ root }) =>
      (await root.line('etc/os-release', PRETTY_NAME)) ??
      (await root.line('usr/lib/os-release', PRETTY_NAME)),
  ),
  /** For example `Linux 6.1.0-18-amd64`; inside a container that of the machine. */
  kernel: fact(words, async ({ root, source: { os } }) =>
    cleanText(`${os.kind} ${(await root.line('proc/sys/kernel/osrelease')) ?? os.release}`),
  ),
  /** longhaul, Node.js and the packages that affect a measurement. */
  components: fact(list(z.object({ name: line, version: line })), (look) => [...look.components]),
};

const SYSTEM_FACTS = {
  hostname: fact(words, ({ source }) => cleanText(source.os.hostname)),
  /** Changes at every boot. Equal on both ends of a link if they are one machine. */
  bootId: fact(words, ({ root }) => root.line('proc/sys/kernel/random/boot_id')),
  enclosure: fact(enclosure, ({ root }) => enclosureFacts(root)),
  processor: fact(processorForm, ({ source }) => processorFacts(source)),
  memory: fact(memory, ({ source }) => memoryFacts(source)),
  /** Disks without removable ones and those composed of others. */
  storage: fact(list(disk), ({ root }) => storageFacts(root.in('sys/block'))),
  accelerators: fact(list(accelerator), ({ found }) => found.accelerators),
  /**
   * Where accelerators were searched; null: there is no such place, so an empty list proves
   * nothing.
   */
  acceleratorsHow: fact(words, ({ found }) => found.acceleratorsHow),
  software: fact(formOf(SOFTWARE), (look) => readFacts(SOFTWARE, look)),
  network: fact(network, ({ source, pciNames }) => networkFacts(source, pciNames)),
};

/** Schema of {@link SystemFacts}, for a file or another machine's message. */
export const systemFactsSchema = formOf(SYSTEM_FACTS);

/**
 * Facts of one machine that are readable without root and other programs. Null: unreadable, never a
 * guess. No MAC address and no serial number.
 */
export type SystemFacts = z.infer<typeof systemFactsSchema>;

/**
 * Reads a machine's facts. Never rejects for unreadable ones.
 *
 * Not for timed work: it reads hundreds to thousands of small files in sequence, and starts
 * `nvidia-smi` if installed.
 */
export async function gatherSystemFacts(
  source: MachineSource,
  components: readonly ComponentVersion[],
): Promise<SystemFacts> {
  const facts = await readFacts(SYSTEM_FACTS, await lookAt(source, components));
  return systemFactsSchema.parse(facts);
}

const PRETTY_NAME = /^PRETTY_NAME=(["']?)(.*)\1$/m;

/**
 * Disks without composed ones, RAM disks, optical and floppy drives, and hardware partitions of an
 * eMMC (`mmcblk0boot0`).
 */
const DISK = /^(?!loop|ram|zram|dm-|md|sr|fd|nbd|zd|mmcblk\d+\D)/;

/** Makers of virtual disks. */
const HYPERVISOR_MAKER = /^(QEMU|VMware|VBOX|Msft|Xen|Google)\b/i;

/** The kernel counts sectors of 512 bytes, whatever the disk has. */
const SECTOR_BYTES = 512;

async function storageFacts(block: FactFolder): Promise<DiskFacts[]> {
  const disks: DiskFacts[] = [];
  for (const name of await block.names(DISK)) {
    const disk = block.in(name);
    const sectors = await disk.number('size');
    // A removable stick is no storage of a system; a disk without sectors is an empty slot.
    if (sectors === null || (await disk.text('removable')) === '1') continue;
    const kind = await kindOf(name, disk);
    const model = await disk.line('device/model');
    disks.push({ name, kind, model, bytes: sectors * SECTOR_BYTES });
  }
  return disks;
}

async function kindOf(name: string, disk: FactFolder): Promise<DiskFacts['kind']> {
  const maker = (await disk.line('device/vendor')) ?? '';
  if (/^(vd|xvd)/.test(name) || HYPERVISOR_MAKER.test(maker)) return 'virtual disk';
  if (name.startsWith('nvme')) return 'NVMe SSD';
  if (name.startsWith('mmcblk')) return 'flash card';
  const rotates = await disk.text('queue/rotational');
  return rotates === '1' ? 'HDD' : rotates === '0' ? 'SSD' : null;
}

/** Patterns in a text → what they indicate. */
type Signs = readonly (readonly [RegExp, string])[];

const signIn = (signs: Signs, text: string): string | undefined =>
  signs.find(([pattern]) => pattern.test(text))?.[1];

/** Words in the firmware's description → the hypervisor. */
const VIRTUAL_PRODUCTS: Signs = [
  [/VMware/i, 'VMware'],
  [/VirtualBox|innotek/i, 'VirtualBox'],
  [/Microsoft Corporation.*Virtual Machine/i, 'Hyper-V'],
  [/Parallels/i, 'Parallels'],
  [/\bHVM domU\b|^Xen/i, 'Xen'],
  [/QEMU|\bKVM\b|Standard PC|Google Compute Engine|OpenStack|oVirt|RHEV|Nutanix/i, 'KVM'],
];

/** Words in a path made by a container engine → its name. */
const ENGINES: Signs = [
  [/kubepods|\/kubelet\/pods\//, 'Kubernetes'],
  [/libpod|\/containers\/storage\//, 'podman'],
  [/\/docker[/-]|\/docker\/containers\//, 'docker'],
  [/containerd|\/crio-/, 'containerd'],
  [/\/lxc[/.]/, 'lxc'],
];

/** Files that an engine mounts into a container, so their mounts reveal it. */
const INJECTED = /^\/etc\/(hosts|hostname|resolv\.conf)$/;

/** Determines whether the facts are those of hardware, a virtual machine or a container. */
async function enclosureFacts(root: FactFolder): Promise<z.infer<typeof enclosure>> {
  const vendor = await root.line('sys/class/dmi/id/sys_vendor');
  const product =
    (await root.line('sys/class/dmi/id/product_name')) ??
    (await root.line('proc/device-tree/model'));
  const machine = `${vendor ?? ''} ${product ?? ''}`.trim();
  const [virtualMachine, virtualMachineHow] = await virtualMachineOf(root, machine);
  const [container, containerHow] = await containerOf(root);
  const limits = await limitsOf(root.in('sys/fs/cgroup'), container !== null);
  return { vendor, product, virtualMachine, virtualMachineHow, container, containerHow, ...limits };
}

/** A finding and its sign; nulls without one. */
type Sign = readonly [found: string, how: string] | readonly [null, null];

async function virtualMachineOf(root: FactFolder, machine: string): Promise<Sign> {
  const known = signIn(VIRTUAL_PRODUCTS, machine);
  if (known !== undefined) return [known, `the firmware calls the machine "${machine}"`];
  const hypervisor = await root.line('sys/hypervisor/type');
  if (hypervisor !== null) return [hypervisor, '/sys/hypervisor/type'];
  const flag = await root.text('proc/cpuinfo', /^flags\s*:.*\b(hypervisor)\b/m);
  if (flag === null) return [null, null];
  return ['unknown hypervisor', 'the processor has the flag "hypervisor"'];
}

async function containerOf(root: FactFolder): Promise<Sign> {
  const byGroup = signIn(ENGINES, (await root.text('proc/self/cgroup')) ?? '');
  if (byGroup !== undefined) return [byGroup, '/proc/self/cgroup'];
  // Mount sources of the files that a container engine injects; a plain machine has none there.
  const mounts = ((await root.text('proc/self/mountinfo')) ?? '')
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap((fields) => (INJECTED.test(fields[4] ?? '') ? [fields[3]] : []))
    .join('\n');
  const byMount = signIn(ENGINES, mounts);
  if (byMount !== undefined) return [byMount, '/proc/self/mountinfo'];
  // Empty files: their presence is the sign.
  if ((await root.source.bytes('/.dockerenv')) !== null) return ['docker', '/.dockerenv'];
  const podman = '/run/.containerenv';
  if ((await root.source.bytes(podman)) !== null) return ['podman', podman];
  const named = await root.line('run/systemd/container');
  return named === null ? [null, null] : [named, '/run/systemd/container'];
}

/** Limits of the container's own control group: cgroup 2, then cgroup 1. */
async function limitsOf(group: FactFolder, isContainer: boolean) {
  if (!isContainer) return { cpuLimit: null, memoryLimitBytes: null };
  const [quota = 0, period = 0] = ((await group.text('cpu.max')) ?? '').split(' ').map(Number);
  const bytes =
    (await group.number('memory.max')) ?? (await group.number('memory/memory.limit_in_bytes'));
  return {
    cpuLimit: quota > 0 && period > 0 ? quota / period : null,
    // cgroup 1 writes a number near 2^63 for no limit.
    memoryLimitBytes: bytes !== null && bytes < 2 ** 60 ? bytes : null,
  };
}

/** Fields queried from `nvidia-smi`, in the order of {@link fromLine}. */
const QUERY =
  'name,memory.total,ecc.mode.current,clocks.max.sm,pcie.link.gen.max,pcie.link.width.max,driver_version';

const PCI_DEVICES = '/sys/bus/pci/devices';
const NVIDIA = '10de:';

/**
 * PCI classes of devices that compute: 3D controllers and processing accelerators. Display adapters
 * are left out: they are a server's console. Source: PCI Code and ID Assignment Specification.
 */
const PCI_CLASSES = /^0x(0302|1200)/;

/**
 * Queries `nvidia-smi`; other accelerators, or all without it, are found on the PCI bus by class
 * only.
 */
async function acceleratorFacts(source: MachineSource, names: PciNames) {
  const query = [`--query-gpu=${QUERY}`, '--format=csv,noheader,nounits'];
  const table = await source.output('nvidia-smi', query);
  const lines = (table ?? '').split('\n').filter((line) => line.trim() !== '');
  const devices = await source.names(PCI_DEVICES);
  const looked = [table === null ? null : 'nvidia-smi', devices.length === 0 ? null : 'PCI bus'];
  const accelerators = lines.map(fromLine);
  for (const address of devices) {
    const folder = new FactFolder(source, `${PCI_DEVICES}/${address}`);
    if (!PCI_CLASSES.test((await folder.text('class')) ?? '')) continue;
    const device = await readPciDevice(folder, names);
    // nvidia-smi has already reported all cards of NVIDIA.
    if (device === null || (lines.length > 0 && device.id.startsWith(NVIDIA))) continue;
    accelerators.push(await fromBus(folder, device.name ?? `PCI device ${device.id}`));
  }
  return { accelerators, acceleratorsHow: joined(looked, ', ') };
}

/** One line of `nvidia-smi`; it writes `[N/A]` for unknown values. */
function fromLine(line: string): AcceleratorFacts {
  const values = line.split(',').map((value) => cleanText(value));
  const [model = null, mib, mode = null, maxMhz, generation, width, driver = null] = values;
  const memoryMib = positiveValue(mib);
  const state = mode === 'Enabled' ? 'on' : mode === 'Disabled' ? 'off' : null;
  return {
    model,
    memoryBytes: memoryMib && memoryMib * 1024 ** 2,
    ecc: { state, how: `nvidia-smi ecc.mode.current: ${mode ?? 'nothing'}` },
    maxMhz: positiveValue(maxMhz),
    hostInterconnect: pcieText(positiveValue(generation), positiveValue(width)),
    driver: driver?.startsWith('[') === true ? null : driver,
    how: 'nvidia-smi',
  };
}

function pcieText(generation: number | null, width: number | null): string | null {
  return generation === null || width === null ? null : `PCIe ${generation}.0 x${width}`;
}

/** Transfers per second of a lane in GT/s, by generation of PCIe. */
const LANE_SPEEDS = ['', '2.5', '5.0', '8.0', '16.0', '32.0', '64.0'];

async function fromBus(folder: FactFolder, model: string): Promise<AcceleratorFacts> {
  const speed = (await folder.line('max_link_speed', /^(\d+\.\d) GT\/s/)) ?? '';
  const generation = LANE_SPEEDS.indexOf(speed);
  const width = await folder.number('max_link_width');
  return {
    model,
    memoryBytes: null,
    ecc: { state: null, how: 'the PCI bus does not report it' },
    maxMhz: null,
    hostInterconnect: pcieText(generation > 0 ? generation : null, width),
    driver: null,
    how: 'PCI bus',
  };
}
