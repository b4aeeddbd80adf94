import type { MemoryReading } from './edac-memory.ts';
import type { MachineSource } from './machine-source.ts';
import { cleanText } from './read-values.ts';
import type { EccFacts, MemoryModuleFacts } from './system-facts.ts';

const ENTRIES = '/sys/firmware/dmi/entries';

/** Memory types by number. Source: SMBIOS reference specification (DSP0134), Memory Device, Type. */
const TYPES: Readonly<Record<number, string>> = {
  20: 'DDR2',
  24: 'DDR3',
  26: 'DDR4',
  27: 'LPDDR',
  28: 'LPDDR2',
  29: 'LPDDR3',
  30: 'LPDDR4',
  32: 'HBM',
  33: 'HBM2',
  34: 'DDR5',
  35: 'LPDDR5',
  36: 'HBM3',
};

/** Error correction of an array by number. Source: DSP0134, Memory Array: Error Correction Types. */
const CORRECTIONS: Readonly<Record<number, string>> = {
  3: 'None',
  4: 'Parity',
  5: 'Single-bit ECC',
  6: 'Multi-bit ECC',
  7: 'CRC',
};

const ARRAY_TYPE = 16;
const DEVICE_TYPE = 17;

/** Reads the tables of the firmware on memory; on most systems root alone may. */
export async function dmiMemory(source: MachineSource): Promise<MemoryReading> {
  const modules: MemoryModuleFacts[] = [];
  const corrections: string[] = [];
  for (const entry of await source.names(ENTRIES)) {
    const type = Number(/^(\d+)-\d+$/.exec(entry)?.[1]);
    if (type !== ARRAY_TYPE && type !== DEVICE_TYPE) continue;
    const raw = await source.bytes(`${ENTRIES}/${entry}/raw`);
    const table = raw === null ? null : readTable(raw);
    if (table === null) continue;
    if (type === ARRAY_TYPE) corrections.push(CORRECTIONS[table.byte(6)] ?? 'unknown');
    else modules.push(...moduleOf(table));
  }
  return { modules, ecc: eccOf(corrections) };
}

/**
 * The table tells what an array can do, so `None` is off for sure, and anything else is not known to be on.
 */
function eccOf(corrections: readonly string[]): EccFacts {
  if (corrections.length === 0) return { state: null, how: 'DMI type 16 could not be read' };
  const how = `DMI type 16 says: ${[...new Set(corrections)].join(', ')}`;
  if (corrections.every((one) => one === 'None')) return { state: 'off', how };
  return { state: null, how: `${how}, which is what the memory can do, not that it is on` };
}

/** One table of the firmware; beyond its length all is 0. */
interface DmiTable {
  byte(offset: number): number;
  word(offset: number): number;
  /** Text by the number that a byte of the table gives; null for 0. */
  string(offset: number): string | null;
}

function readTable(raw: Uint8Array): DmiTable | null {
  const length = raw[1] ?? 0;
  if (length < 4 || raw.length < length) return null;
  const byte = (offset: number): number => (offset < length ? (raw[offset] ?? 0) : 0);
  const strings = Buffer.from(raw.subarray(length)).toString('latin1').split('\0');
  return {
    byte,
    word: (offset) => byte(offset) + 256 * byte(offset + 1),
    string: (offset) => (byte(offset) === 0 ? null : cleanText(strings[byte(offset) - 1])),
  };
}

/** None for an empty slot. */
function moduleOf(table: DmiTable): MemoryModuleFacts[] {
  const bytes = sizeOf(table);
  if (bytes === null) return [];
  const speed = table.word(0x20) || table.word(0x15);
  const isKnown = speed > 0 && speed < 0xffff;
  return [
    {
      slot: table.string(0x10),
      bytes,
      type: TYPES[table.byte(0x12)] ?? null,
      speedMts: isKnown ? speed : null,
    },
  ];
}

/** 0: the slot is empty; 0xffff: unknown; 0x7fff: see the field for large sizes, in MiB. */
function sizeOf(table: DmiTable): number | null {
  const size = table.word(0x0c);
  if (size === 0 || size === 0xffff) return null;
  if (size === 0x7fff) {
    const mib = (table.word(0x1c) + 65_536 * table.word(0x1e)) % 2 ** 31;
    return mib === 0 ? null : mib * 1024 ** 2;
  }
  return size >= 0x8000 ? (size - 0x8000) * 1024 : size * 1024 ** 2;
}
