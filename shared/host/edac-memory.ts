import type { MachineSource } from './machine-source.ts';
import { readNumber, readText } from './read-values.ts';
import type { EccFacts, MemoryModuleFacts } from './system-facts.ts';

const CONTROLLERS = '/sys/devices/system/edac/mc';

/** Modes of the kernel's EDAC that correct errors; EC and PARITY only see them. */
const CORRECTING = /^(SECDED|S\d+ECD\d+ED)$/;

/** Modules and ECC as one source tells them. */
export interface MemoryReading {
  readonly modules: readonly MemoryModuleFacts[];
  readonly ecc: EccFacts;
}

/** Reads the memory controllers of the kernel's EDAC: modules, or in older kernels rows of chips. */
export async function edacMemory(source: MachineSource): Promise<MemoryReading> {
  const controllers = (await source.names(CONTROLLERS)).filter((name) => /^mc\d+$/.test(name));
  const modules: MemoryModuleFacts[] = [];
  const modes: string[] = [];
  for (const controller of controllers) {
    const folder = `${CONTROLLERS}/${controller}`;
    for (const entry of moduleEntries(await source.names(folder))) {
      const one = await readEntry(source, `${folder}/${entry}`, `${controller}/${entry}`);
      if (one === null) continue;
      modules.push(one.module);
      modes.push(one.mode ?? 'Unknown');
    }
  }
  return { modules, ecc: eccOf(controllers.length, modes) };
}

/** Three views of the same memory: the finest that is there. */
function moduleEntries(names: readonly string[]): readonly string[] {
  const views = [/^dimm\d+$/, /^rank\d+$/, /^csrow\d+$/];
  const found = views.map((view) => names.filter((name) => view.test(name)));
  return found.find((entries) => entries.length > 0) ?? [];
}

/** Null for a slot that is empty. */
async function readEntry(
  source: MachineSource,
  folder: string,
  place: string,
): Promise<{ readonly module: MemoryModuleFacts; readonly mode: string | null } | null> {
  const isRow = /csrow\d+$/.test(folder);
  const mib = await readNumber(source, `${folder}/${isRow ? 'size_mb' : 'size'}`);
  if (mib === null) return null;
  const key = isRow ? '' : 'dimm_';
  const label = isRow ? null : await readText(source, `${folder}/dimm_label`);
  const type = await readText(source, `${folder}/${key}mem_type`);
  const mode = await readText(source, `${folder}/${key}edac_mode`);
  return { module: { slot: label ?? place, bytes: mib * 1024 ** 2, type, speedMts: null }, mode };
}

function eccOf(controllers: number, modes: readonly string[]): EccFacts {
  if (controllers === 0)
    return { state: null, how: `EDAC has no memory controller (${CONTROLLERS})` };
  if (modes.length === 0)
    return { state: null, how: 'EDAC has a memory controller without modules' };
  const how = `EDAC mode ${[...new Set(modes)].join(', ')} of ${modes.length} modules`;
  if (modes.every((mode) => CORRECTING.test(mode))) return { state: 'on', how };
  // One module without it is memory without it.
  if (modes.includes('None')) return { state: 'off', how };
  return { state: null, how };
}
