import type { MachineSource } from './machine-source.ts';
import { cleanText, type FactFolder } from './read-values.ts';

/** Lists of PCI ids where distributions put them. `lspci` reads the same ones. */
const LISTS = ['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids'];

/** Name of a PCI device by the list of the machine; null without one. Both ids are four lower-case hexadecimal digits. */
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

/** Which device a folder of `/sys` is, as `vendor:device` and by name; null where it is not on the PCI bus. */
export async function readPciDevice(
  folder: FactFolder,
  nameOf: PciNames,
): Promise<{ readonly id: string; readonly name: string | null } | null> {
  const vendor = pciNumber(await folder.text('vendor'));
  const device = pciNumber(await folder.text('device'));
  if (vendor === null || device === null) return null;
  return { id: `${vendor}:${device}`, name: nameOf(vendor, device) };
}

function pciNumber(text: string | null): string | null {
  return /^0x([0-9a-f]{4})$/i.exec(text ?? '')?.[1]?.toLowerCase() ?? null;
}
