import { dmiMemory } from './dmi-memory.ts';
import { edacMemory } from './edac-memory.ts';
import type { MachineSource } from './machine-source.ts';
import { parseSize } from './read-values.ts';
import type { EccFacts, MemoryFacts } from './system-facts.ts';

/** Reads `/proc/meminfo`, and the memory modules and ECC from EDAC and, where it may be read, DMI. */
export async function memoryFacts(source: MachineSource): Promise<MemoryFacts> {
  const edac = await edacMemory(source);
  const dmi = await dmiMemory(source);
  const fromDmi = dmi.modules.length > 0;
  const modules = fromDmi ? dmi.modules : edac.modules;
  return {
    totalBytes: await totalBytes(source),
    modules,
    modulesHow: modules.length === 0 ? null : fromDmi ? 'DMI type 17' : 'EDAC',
    ecc: eccOf(edac.ecc, dmi.ecc),
  };
}

/** EDAC is what the memory controller does; DMI what the firmware says of it, and it never says "on". */
function eccOf(edac: EccFacts, dmi: EccFacts): EccFacts {
  if (edac.state !== null) return edac;
  if (dmi.state !== null) return dmi;
  return { state: null, how: [edac.how, dmi.how].filter((how) => how !== null).join('; ') };
}

async function totalBytes(source: MachineSource): Promise<number | null> {
  const meminfo = (await source.text('/proc/meminfo')) ?? '';
  const kib = /^MemTotal:\s*(\d+) kB$/m.exec(meminfo)?.[1];
  return kib === undefined ? source.os.memoryBytes || null : parseSize(`${kib}K`);
}
