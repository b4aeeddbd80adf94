import {
  cleanText,
  FactFolder,
  joined,
  type MachineSource,
  positiveValue,
} from './machine-source.ts';
import { memoryFacts } from './memory-facts.ts';
import { networkFacts, type PciNames, readPciDevice, readPciNames } from './network-facts.ts';
import { processorFacts } from './processor-facts.ts';
import {
  type AcceleratorFacts,
  type EccFacts,
  type SystemFacts,
  systemFactsSchema,
} from './system-facts.ts';

/**
 * Reads what there is to read of a machine. Never rejects for what it cannot read.
 *
 * Not for timed work: some hundred to some thousand small files are read one after the other, and `nvidia-smi` is
 * started where there is one.
 */
export async function gatherSystemFacts(
  source: MachineSource,
  components: SystemFacts['software']['components'],
): Promise<SystemFacts> {
  const kernelFolder = new FactFolder(source, '/proc/sys/kernel');
  const names = await readPciNames(source);
  const { kind, release } = source.os;
  const facts: SystemFacts = {
    hostname: cleanText(source.os.hostname),
    bootId: await kernelFolder.line('random/boot_id'),
    enclosure: await enclosureFacts(source),
    processor: await processorFacts(source),
    memory: await memoryFacts(source),
    storage: await storageFacts(new FactFolder(source, '/sys/block')),
    ...(await acceleratorFacts(source, names)),
    software: {
      operatingSystem: await operatingSystem(source),
      kernel: cleanText(`${kind} ${(await kernelFolder.line('osrelease')) ?? release}`),
      components,
    },
    network: await networkFacts(source, names),
  };
  return systemFactsSchema.parse(facts);
}

async function operatingSystem(source: MachineSource): Promise<string | null> {
  for (const path of ['/etc/os-release', '/usr/lib/os-release']) {
    const text = (await source.text(path)) ?? '';
    const name = /^PRETTY_NAME=(["']?)(.*)\1$/m.exec(text)?.[2];
    if (name !== undefined) return cleanText(name);
  }
  return null;
}

/**
 * Disks, without those that are made of others or of memory, drives for media, and hardware partitions of an eMMC
 * (`mmcblk0boot0`), which are no disks of their own.
 */
const DISK = /^(?!loop|ram|zram|dm-|md|sr|fd|nbd|zd|mmcblk\d+\D)/;

/** Makers of disks that a hypervisor makes. */
const HYPERVISOR_MAKER = /^(QEMU|VMware|VBOX|Msft|Xen|Google)\b/i;

/** The kernel counts sectors of 512 bytes, whatever the disk has. */
const SECTOR_BYTES = 512;

async function storageFacts(block: FactFolder): Promise<SystemFacts['storage']> {
  const disks: SystemFacts['storage'] = [];
  for (const name of await block.names(DISK)) {
    const disk = block.in(name);
    // A stick is not what a system stores on; a disk without sectors is a slot for one.
    if ((await disk.text('removable')) === '1') continue;
    const sectors = await disk.number('size');
    if (sectors === null) continue;
    const kind = kindOf(
      name,
      await disk.line('device/vendor'),
      await disk.text('queue/rotational'),
    );
    const model = await disk.line('device/model');
    disks.push({ name, kind, model, bytes: sectors * SECTOR_BYTES });
  }
  return disks;
}

function kindOf(
  name: string,
  maker: string | null,
  rotates: string | null,
): SystemFacts['storage'][number]['kind'] {
  if (/^(vd|xvd)/.test(name) || HYPERVISOR_MAKER.test(maker ?? '')) return 'virtual disk';
  if (name.startsWith('nvme')) return 'NVMe SSD';
  if (name.startsWith('mmcblk')) return 'flash card';
  if (rotates === '1') return 'HDD';
  return rotates === '0' ? 'SSD' : null;
}

/** Words in what the firmware tells of a machine → the hypervisor that says so. */
const VIRTUAL_PRODUCTS: readonly (readonly [RegExp, string])[] = [
  [/VMware/i, 'VMware'],
  [/VirtualBox|innotek/i, 'VirtualBox'],
  [/Microsoft Corporation.*Virtual Machine/i, 'Hyper-V'],
  [/Parallels/i, 'Parallels'],
  [/\bHVM domU\b|^Xen/i, 'Xen'],
  [/QEMU|\bKVM\b|Standard PC/i, 'KVM'],
  [/Google Compute Engine/i, 'KVM'],
  [/OpenStack|oVirt|RHEV|Nutanix/i, 'KVM'],
];

/** Words in a path that a container engine makes → its name. */
const ENGINES: readonly (readonly [RegExp, string])[] = [
  [/kubepods|\/kubelet\/pods\//, 'Kubernetes'],
  [/libpod|\/containers\/storage\//, 'podman'],
  [/\/docker[/-]|\/docker\/containers\//, 'docker'],
  [/containerd|\/crio-/, 'containerd'],
  [/\/lxc[/.]/, 'lxc'],
];

/** Files that an engine puts into a container, so that their mounts tell of it. */
const INJECTED = /^\/etc\/(hosts|hostname|resolv\.conf)$/;

/** Finds out whether the facts are those of hardware, a virtual machine or a container. */
async function enclosureFacts(source: MachineSource): Promise<SystemFacts['enclosure']> {
  const root = new FactFolder(source, '');
  const vendor = await root.line('sys/class/dmi/id/sys_vendor');
  const product =
    (await root.line('sys/class/dmi/id/product_name')) ??
    (await root.line('proc/device-tree/model'));
  const machine = `${vendor ?? ''} ${product ?? ''}`.trim();
  const [virtualMachine, virtualMachineHow] = await virtualMachineOf(root, machine);
  const [container, containerHow] = await containerOf(root);
  const limits = container === null ? {} : await limitsOf(root.in('sys/fs/cgroup'));
  return {
    vendor,
    product,
    virtualMachine,
    virtualMachineHow,
    container,
    containerHow,
    cpuLimit: null,
    memoryLimitBytes: null,
    ...limits,
  };
}

/** A finding and its sign; nulls without a finding. */
type Sign = readonly [found: string, how: string] | readonly [null, null];

async function virtualMachineOf(root: FactFolder, machine: string): Promise<Sign> {
  const known = VIRTUAL_PRODUCTS.find(([pattern]) => pattern.test(machine));
  if (known !== undefined) return [known[1], `the firmware calls the machine "${machine}"`];
  const hypervisor = await root.line('sys/hypervisor/type');
  if (hypervisor !== null) return [hypervisor, '/sys/hypervisor/type'];
  if (/^flags\s*:.*\bhypervisor\b/m.test((await root.text('proc/cpuinfo')) ?? '')) {
    return ['unknown hypervisor', 'the processor has the flag "hypervisor"'];
  }
  return [null, null];
}

async function containerOf(root: FactFolder): Promise<Sign> {
  const groups = (await root.text('proc/self/cgroup')) ?? '';
  const byGroup = ENGINES.find(([pattern]) => pattern.test(groups));
  if (byGroup !== undefined) return [byGroup[1], '/proc/self/cgroup'];
  // Sources of the mounts of files that a container engine puts in; the machine itself has no mounts there.
  const mounts = ((await root.text('proc/self/mountinfo')) ?? '')
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap((fields) => (INJECTED.test(fields[4] ?? '') ? [fields[3]] : []))
    .join('\n');
  const byMount = ENGINES.find(([pattern]) => pattern.test(mounts));
  if (byMount !== undefined) return [byMount[1], '/proc/self/mountinfo'];
  // Empty files: that they are there is the sign.
  for (const [engine, path] of [
    ['docker', '/.dockerenv'],
    ['podman', '/run/.containerenv'],
  ] as const) {
    if ((await root.source.bytes(path)) !== null) return [engine, path];
  }
  const named = await root.line('run/systemd/container');
  return named === null ? [null, null] : [named, '/run/systemd/container'];
}

/** Limits of the container's own control group: cgroup 2, then cgroup 1. */
async function limitsOf(
  group: FactFolder,
): Promise<Pick<SystemFacts['enclosure'], 'cpuLimit' | 'memoryLimitBytes'>> {
  const [quota = 0, period = 0] = ((await group.text('cpu.max')) ?? '').split(' ').map(Number);
  const bytes =
    (await group.number('memory.max')) ?? (await group.number('memory/memory.limit_in_bytes'));
  // cgroup 1 writes a number near 2^63 where there is no limit.
  const isLimit = bytes !== null && bytes < 2 ** 60;
  return {
    cpuLimit: quota > 0 && period > 0 ? quota / period : null,
    memoryLimitBytes: isLimit ? bytes : null,
  };
}

const QUERY = [
  'name',
  'memory.total',
  'ecc.mode.current',
  'clocks.max.sm',
  'pcie.link.gen.max',
  'pcie.link.width.max',
  'driver_version',
];

const PCI_DEVICES = '/sys/bus/pci/devices';
const NVIDIA = '10de:';

/**
 * Classes of PCI devices that compute: 3D controllers and processing accelerators. Display adapters are left out: they
 * are the console of a server. Source: PCI Code and ID Assignment Specification.
 */
const PCI_CLASSES = /^0x(0302|1200)/;

/** Asks `nvidia-smi`; other accelerators, or all without it, are seen on the PCI bus by their class alone. */
async function acceleratorFacts(
  source: MachineSource,
  names: PciNames,
): Promise<Pick<SystemFacts, 'accelerators' | 'acceleratorsHow'>> {
  const query = [`--query-gpu=${QUERY.join(',')}`, '--format=csv,noheader,nounits'];
  const table = await source.output('nvidia-smi', query);
  const lines = (table ?? '').split('\n').filter((line) => line.trim() !== '');
  const devices = await source.names(PCI_DEVICES);
  const looked = [table === null ? null : 'nvidia-smi', devices.length === 0 ? null : 'PCI bus'];
  const accelerators = lines.map(fromLine);
  for (const address of devices) {
    const folder = new FactFolder(source, `${PCI_DEVICES}/${address}`);
    if (!PCI_CLASSES.test((await folder.text('class')) ?? '')) continue;
    const device = await readPciDevice(folder, names);
    if (device === null) continue;
    // The tool has told all cards of its maker.
    if (lines.length > 0 && device.id.startsWith(NVIDIA)) continue;
    accelerators.push(await fromBus(folder, device.name ?? `PCI device ${device.id}`));
  }
  return { accelerators, acceleratorsHow: joined(looked, ', ') };
}

/** One line of `nvidia-smi`; it writes `[N/A]` for unknown values. */
function fromLine(line: string): AcceleratorFacts {
  const values = line.split(',').map((value) => cleanText(value));
  const value = (key: string): string | null => values[QUERY.indexOf(key)] ?? null;
  const number = (key: string): number | null => positiveValue(value(key));
  const mib = number('memory.total');
  const driver = value('driver_version');
  return {
    model: value('name'),
    memoryBytes: mib === null ? null : mib * 1024 ** 2,
    ecc: eccOf(value('ecc.mode.current')),
    maxMhz: number('clocks.max.sm'),
    hostInterconnect: pcieText(number('pcie.link.gen.max'), number('pcie.link.width.max')),
    driver: driver?.startsWith('[') === true ? null : driver,
    how: 'nvidia-smi',
  };
}

function eccOf(mode: string | null): EccFacts {
  const how = `nvidia-smi ecc.mode.current: ${mode ?? 'nothing'}`;
  if (mode === 'Enabled') return { state: 'on', how };
  return { state: mode === 'Disabled' ? 'off' : null, how };
}

function pcieText(generation: number | null, width: number | null): string | null {
  return generation === null || width === null ? null : `PCIe ${generation}.0 x${width}`;
}

/** Transfers per second of a lane in GT/s → generation of PCIe. */
const GENERATIONS: Readonly<Record<string, number>> = {
  '2.5': 1,
  '5.0': 2,
  '8.0': 3,
  '16.0': 4,
  '32.0': 5,
  '64.0': 6,
};

async function fromBus(folder: FactFolder, model: string): Promise<AcceleratorFacts> {
  const speed = await folder.line('max_link_speed');
  const generation = GENERATIONS[/^(\d+\.\d) GT\/s/.exec(speed ?? '')?.[1] ?? ''];
  return {
    model,
    memoryBytes: null,
    ecc: { state: null, how: 'the PCI bus does not tell it' },
    maxMhz: null,
    hostInterconnect: pcieText(generation ?? null, await folder.number('max_link_width')),
    driver: null,
    how: 'PCI bus',
  };
}
