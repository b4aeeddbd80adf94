import type { MachineSource } from './machine-source.ts';
import { readNumber, readText } from './read-values.ts';
import type { EnclosureFacts } from './system-facts.ts';

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
export async function enclosureFacts(source: MachineSource): Promise<EnclosureFacts> {
  const vendor = await readText(source, '/sys/class/dmi/id/sys_vendor');
  const product =
    (await readText(source, '/sys/class/dmi/id/product_name')) ??
    (await readText(source, '/proc/device-tree/model'));
  const [virtualMachine, virtualMachineHow] = await virtualMachineOf(
    source,
    `${vendor ?? ''} ${product ?? ''}`.trim(),
  );
  const [container, containerHow] = await containerOf(source);
  const limits = container === null ? NO_LIMITS : await limitsOf(source);
  return {
    vendor,
    product,
    virtualMachine,
    virtualMachineHow,
    container,
    containerHow,
    ...limits,
  };
}

/** What was found, and by which sign; nulls for nothing. */
type Sign = readonly [found: string, how: string] | readonly [null, null];

const NO_SIGN: Sign = [null, null];

async function virtualMachineOf(source: MachineSource, machine: string): Promise<Sign> {
  const known = VIRTUAL_PRODUCTS.find(([pattern]) => pattern.test(machine));
  if (known !== undefined) return [known[1], `the firmware calls the machine "${machine}"`];
  const hypervisor = await readText(source, '/sys/hypervisor/type');
  if (hypervisor !== null) return [hypervisor, '/sys/hypervisor/type'];
  const cpuinfo = (await source.text('/proc/cpuinfo')) ?? '';
  if (/^flags\s*:.*\bhypervisor\b/m.test(cpuinfo)) {
    return ['unknown hypervisor', 'the processor has the flag "hypervisor"'];
  }
  return NO_SIGN;
}

async function containerOf(source: MachineSource): Promise<Sign> {
  const groups = (await source.text('/proc/self/cgroup')) ?? '';
  const byGroup = ENGINES.find(([pattern]) => pattern.test(groups));
  if (byGroup !== undefined) return [byGroup[1], '/proc/self/cgroup'];
  const mounts = injectedMounts((await source.text('/proc/self/mountinfo')) ?? '');
  const byMount = ENGINES.find(([pattern]) => pattern.test(mounts));
  if (byMount !== undefined) return [byMount[1], '/proc/self/mountinfo'];
  // Empty files: that they are there is the sign.
  if ((await source.bytes('/.dockerenv')) !== null) return ['docker', '/.dockerenv'];
  if ((await source.bytes('/run/.containerenv')) !== null) return ['podman', '/run/.containerenv'];
  const named = await readText(source, '/run/systemd/container');
  return named === null ? NO_SIGN : [named, '/run/systemd/container'];
}

/** Sources of the files that an engine puts in; the machine itself mounts nothing there. */
function injectedMounts(mountinfo: string): string {
  return mountinfo
    .split('\n')
    .map((line) => line.split(' '))
    .filter((fields) => INJECTED.test(fields[4] ?? ''))
    .map((fields) => fields[3])
    .join('\n');
}

type Limits = Pick<EnclosureFacts, 'cpuLimit' | 'memoryLimitBytes'>;

const NO_LIMITS: Limits = { cpuLimit: null, memoryLimitBytes: null };

/** Limits of the container's own control group: cgroup 2, then cgroup 1. */
async function limitsOf(source: MachineSource): Promise<Limits> {
  const groups = '/sys/fs/cgroup';
  const [quota, period] = ((await source.text(`${groups}/cpu.max`)) ?? '').split(' ').map(Number);
  const cpuLimit = quota !== undefined && period !== undefined && quota > 0 ? quota / period : null;
  const bytes =
    (await readNumber(source, `${groups}/memory.max`)) ??
    (await readNumber(source, `${groups}/memory/memory.limit_in_bytes`));
  // cgroup 1 writes a number near 2^63 where there is no limit.
  const isLimit = bytes !== null && bytes < 2 ** 60;
  return { cpuLimit, memoryLimitBytes: isLimit ? bytes : null };
}
