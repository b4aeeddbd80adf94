import { acceleratorFacts } from './accelerator-facts.ts';
import { enclosureFacts } from './enclosure-facts.ts';
import type { MachineSource } from './machine-source.ts';
import { memoryFacts } from './memory-facts.ts';
import { networkFacts } from './network-facts.ts';
import { readPciNames } from './pci-names.ts';
import { processorFacts } from './processor-facts.ts';
import { cleanText, FactFolder } from './read-values.ts';
import { type SystemFacts, systemFactsSchema } from './system-facts.ts';

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
