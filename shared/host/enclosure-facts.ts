import type { MachineSource } from './machine-source.ts';
import { FactFolder } from './read-values.ts';
import type { SystemFacts } from './system-facts.ts';

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
export async function enclosureFacts(source: MachineSource): Promise<SystemFacts['enclosure']> {
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
    ...{ vendor, product, virtualMachine, virtualMachineHow, container, containerHow },
    ...{ cpuLimit: null, memoryLimitBytes: null, ...limits },
  };
}

/** What was found, and by which sign; nulls for nothing. */
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
  // Sources of the mounts of files that an engine puts in; the machine itself mounts nothing there.
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
