import type { MachineSource } from './machine-source.ts';
import { readNumber, readText } from './read-values.ts';
import type { StorageFacts } from './system-facts.ts';

const BLOCK = '/sys/block';

/** Disks that are made of others, or of memory, and drives for media. */
const NO_DISK = /^(loop|ram|zram|dm-|md|sr|fd|nbd|zd)/;

/** Makers of disks that a hypervisor makes. */
const HYPERVISOR_MAKER = /^(QEMU|VMware|VBOX|Msft|Xen|Google)\b/i;

/** The kernel counts sectors of 512 bytes, whatever the disk has. */
const SECTOR_BYTES = 512;

/** Reads `/sys/block`. */
export async function storageFacts(source: MachineSource): Promise<StorageFacts[]> {
  const disks: StorageFacts[] = [];
  for (const name of await source.names(BLOCK)) {
    // Hardware partitions of an eMMC (`mmcblk0boot0`) are no disks of their own.
    if (NO_DISK.test(name) || /^mmcblk\d+\D/.test(name)) continue;
    const folder = `${BLOCK}/${name}`;
    // A stick is not what a system stores on; a disk without sectors is a slot for one.
    if ((await source.text(`${folder}/removable`)) === '1') continue;
    const sectors = await readNumber(source, `${folder}/size`);
    if (sectors === null) continue;
    const maker = await readText(source, `${folder}/device/vendor`);
    const model = await readText(source, `${folder}/device/model`);
    const rotates = await source.text(`${folder}/queue/rotational`);
    disks.push({
      name,
      kind: kindOf(name, maker ?? '', rotates),
      model,
      bytes: sectors * SECTOR_BYTES,
    });
  }
  return disks;
}

function kindOf(name: string, maker: string, rotates: string | null): StorageFacts['kind'] {
  if (/^(vd|xvd)/.test(name) || HYPERVISOR_MAKER.test(maker)) return 'virtual disk';
  if (name.startsWith('nvme')) return 'NVMe SSD';
  if (name.startsWith('mmcblk')) return 'flash card';
  if (rotates === '1') return 'HDD';
  return rotates === '0' ? 'SSD' : null;
}
