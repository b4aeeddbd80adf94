import { z } from 'zod';
import { list, positive, quantity, wordOf, words } from './fact-kinds.ts';
import { cleanText, FactFolder, joined, type MachineSource } from './machine-source.ts';

/** Error correction of memory. */
export const ecc = z.object({
  /** Null: unreadable. */
  state: wordOf(['on', 'off']),
  /** The text that was read and its source; or why it is unreadable. */
  how: words,
});
type EccFacts = z.infer<typeof ecc>;

/**
 * `slot` as the firmware or the kernel names it, `type` such as `DDR5`, configured speed in 10^6
 * transfers/s.
 */
const memoryModule = z.object({ slot: words, bytes: positive, type: words, speedMts: quantity });

/** The memory of the host processors. */
export const memory = z.object({
  /** Memory that the kernel can use: less than is installed. */
  totalBytes: quantity,
  modules: list(memoryModule),
  /** Source of the modules. */
  modulesHow: words,
  ecc,
});

/** Modules and ECC from one source. */
interface MemoryReading {
  readonly modules: z.infer<typeof memoryModule>[];
  readonly ecc: EccFacts;
}

/**
 * Reads `/proc/meminfo`, and the memory modules and ECC from EDAC and, where it may be read, DMI.
 */
export async function memoryFacts(source: MachineSource): Promise<z.infer<typeof memory>> {
  const edac = await edacMemory(new FactFolder(source, CONTROLLERS));
  const dmi = await dmiMemory(source);
  const [modules, how] =
    dmi.modules.length > 0 ? [dmi.modules, 'DMI type 17'] : [edac.modules, 'EDAC'];
  // EDAC shows what the memory controller does. DMI is only the firmware's description, and never
  // states "on".
  const known = [edac.ecc, dmi.ecc].find(({ state }) => state !== null);
  const total = await new FactFolder(source).kib('proc/meminfo', 'MemTotal');
  return {
    totalBytes: total || source.os.memoryBytes || null,
    modules,
    modulesHow: modules.length === 0 ? null : how,
    ecc: known ?? { state: null, how: joined([edac.ecc.how, dmi.ecc.how], '; ') },
  };
}

const CONTROLLERS = '/sys/devices/system/edac/mc';

/** Modes of the kernel's EDAC that correct errors; EC and PARITY only detect them. */
const CORRECTING = /^(SECDED|S\d+ECD\d+ED)$/;

/**
 * Reads the memory controllers of the kernel's EDAC: modules, or in older kernels rows of chips.
 */
async function edacMemory(root: FactFolder): Promise<MemoryReading> {
  const controllers = await root.names(/^mc\d+$/);
  const places = await Promise.all(controllers.map((name) => placesOf(root, name)));
  const modules: MemoryReading['modules'] = [];
  const modes: string[] = [];
  for (const place of places.flat()) {
    const folder = root.in(place);
    const isRow = place.includes('/csrow');
    // Prefix of a module's files; rows of chips have none.
    const prefix = isRow ? '' : 'dimm_';
    const mib = await folder.number(isRow ? 'size_mb' : 'size');
    // An empty slot.
    if (mib === null) continue;
    const slot = (isRow ? null : await folder.line('dimm_label')) ?? place;
    const type = await folder.line(`${prefix}mem_type`);
    modules.push({ slot, bytes: mib * 1024 ** 2, type, speedMts: null });
    modes.push((await folder.line(`${prefix}edac_mode`)) ?? 'Unknown');
  }
  return { modules, ecc: edacEcc(controllers.length, modes) };
}

/** The finest available of three views of the same memory. */
async function placesOf(root: FactFolder, controller: string): Promise<string[]> {
  for (const view of [/^dimm\d+$/, /^rank\d+$/, /^csrow\d+$/]) {
    const entries = await root.in(controller).names(view);
    if (entries.length > 0) return entries.map((entry) => `${controller}/${entry}`);
  }
  return [];
}

function edacEcc(controllers: number, modes: readonly string[]): EccFacts {
  const unknown = (how: string): EccFacts => ({ state: null, how });
  if (controllers === 0) return unknown(`EDAC has no memory controller (${CONTROLLERS})`);
  if (modes.length === 0) return unknown('EDAC has a memory controller without modules');
  const how = `EDAC mode ${joined(modes, ', ')} of ${modes.length} modules`;
  if (modes.every((mode) => CORRECTING.test(mode))) return { state: 'on', how };
  // One module without ECC means no ECC.
  return { state: modes.includes('None') ? 'off' : null, how };
}

/** Names by the numbers of a specification: `3 None, 4 Parity`. */
function numbered(table: string): ReadonlyMap<number, string> {
  const rows = [...table.matchAll(/(\d+) ([^,]+)/g)];
  return new Map(rows.map(([, number, name = '']) => [Number(number), name]));
}

/** Memory types. Source: SMBIOS reference specification (DSP0134), Memory Device, Type. */
const TYPES = numbered(
  '20 DDR2, 24 DDR3, 26 DDR4, 27 LPDDR, 28 LPDDR2, 29 LPDDR3, 30 LPDDR4, 32 HBM, 33 HBM2, 34 DDR5, 35 LPDDR5, 36 HBM3',
);

/** Error correction of an array. Source: DSP0134, Memory Array: Error Correction Types. */
const CORRECTIONS = numbered('3 None, 4 Parity, 5 Single-bit ECC, 6 Multi-bit ECC, 7 CRC');

/** Reads the firmware's tables on memory; on most systems only root may. */
async function dmiMemory(source: MachineSource): Promise<MemoryReading> {
  const entries = '/sys/firmware/dmi/entries';
  const modules: MemoryReading['modules'] = [];
  const corrections: string[] = [];
  for (const entry of await source.names(entries)) {
    // 16: a memory array; 17: a memory device.
    const type = /^(16|17)-\d+$/.exec(entry)?.[1];
    const table = type === undefined ? null : await source.bytes(`${entries}/${entry}/raw`);
    const length = table?.[1] ?? 0;
    if (table === null || length < 4 || table.length < length) continue;
    if (type === '16') corrections.push(CORRECTIONS.get(byteOf(table, 6)) ?? 'unknown');
    else modules.push(...moduleOf(table));
  }
  if (corrections.length === 0) {
    return { modules, ecc: { state: null, how: 'DMI type 16 could not be read' } };
  }
  const how = `DMI type 16 says: ${joined(corrections, ', ')}`;
  // The table states what an array can do: `None` proves ECC off, other values do not prove it on.
  const ecc: EccFacts = corrections.every((one) => one === 'None')
    ? { state: 'off', how }
    : { state: null, how: `${how}, which is what the memory can do, not that it is on` };
  return { modules, ecc };
}

/** A byte of a firmware table; 0 beyond the length in its second byte. */
function byteOf(table: Uint8Array, offset: number): number {
  return offset < (table[1] ?? 0) ? (table[offset] ?? 0) : 0;
}

function wordAt(table: Uint8Array, offset: number): number {
  return byteOf(table, offset) + 256 * byteOf(table, offset + 1);
}

/** Empty for an empty slot. */
function moduleOf(table: Uint8Array): MemoryReading['modules'] {
  const bytes = moduleBytes(table);
  if (bytes === null) return [];
  const speed = wordAt(table, 0x20) || wordAt(table, 0x15);
  // Texts follow the table; a byte refers to one by its number, from 1.
  const texts = Buffer.from(table.subarray(table[1])).toString('latin1').split('\0');
  const slot = cleanText(texts[byteOf(table, 0x10) - 1]);
  const type = TYPES.get(byteOf(table, 0x12)) ?? null;
  return [{ slot, bytes, type, speedMts: speed > 0 && speed < 0xffff ? speed : null }];
}

/** 0: the slot is empty; 0xffff: unknown; 0x7fff: see the field for large sizes, in MiB. */
function moduleBytes(table: Uint8Array): number | null {
  const size = wordAt(table, 0x0c);
  if (size === 0 || size === 0xffff) return null;
  if (size === 0x7fff) {
    const mib = (wordAt(table, 0x1c) + 65_536 * wordAt(table, 0x1e)) % 2 ** 31;
    return mib === 0 ? null : mib * 1024 ** 2;
  }
  return size >= 0x8000 ? (size - 0x8000) * 1024 : size * 1024 ** 2;
}
