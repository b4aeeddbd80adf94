import type { MachineSource } from './machine-source.ts';
import { cleanText } from './read-values.ts';

/** Lists of PCI ids where distributions put them. `lspci` reads the same ones. */
const LISTS = ['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids'];

/** Names of PCI devices by the list of the machine; null without one. */
export interface PciNames {
  /** @param vendor Four hexadecimal digits in lower case, as `device`. */
  nameOf(vendor: string, device: string): string | null;
}

/** Reads the list, if there is one. */
export async function readPciNames(source: MachineSource): Promise<PciNames> {
  for (const path of LISTS) {
    const list = await source.text(path);
    if (list !== null) {
      const text = `\n${list}`;
      return { nameOf: (vendor, device) => nameIn(text, vendor, device) };
    }
  }
  return { nameOf: () => null };
}

/** A vendor's line begins with its id, its devices' lines with a tab and theirs. */
function nameIn(list: string, vendor: string, device: string): string | null {
  const begin = list.indexOf(`\n${vendor}  `);
  if (begin < 0) return null;
  const block = /^\n[^\n]*(?:\n[\t#][^\n]*)*/.exec(list.slice(begin))?.[0] ?? '';
  const maker = cleanText(block.slice(1).split('\n', 1)[0]?.slice(vendor.length));
  const at = block.indexOf(`\n\t${device}  `);
  const name =
    at < 0
      ? null
      : cleanText(
          block
            .slice(at + 2)
            .split('\n', 1)[0]
            ?.slice(device.length),
        );
  return maker === null || name === null ? null : `${maker} ${name}`;
}

/** A device of the PCI bus. */
export interface PciDevice {
  /** `vendor:device`. */
  readonly id: string;
  readonly name: string | null;
}

/** Reads which device a folder of `/sys` is; null where it is not on the PCI bus. */
export async function readPciDevice(
  source: MachineSource,
  folder: string,
  names: PciNames,
): Promise<PciDevice | null> {
  const vendor = pciNumber(await source.text(`${folder}/vendor`));
  const device = pciNumber(await source.text(`${folder}/device`));
  if (vendor === null || device === null) return null;
  return { id: `${vendor}:${device}`, name: names.nameOf(vendor, device) };
}

function pciNumber(text: string | null): string | null {
  return /^0x([0-9a-f]{4})$/i.exec(text ?? '')?.[1]?.toLowerCase() ?? null;
}
