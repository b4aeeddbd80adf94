import { acceleratorFacts } from './accelerator-facts.ts';
import { enclosureFacts } from './enclosure-facts.ts';
import type { MachineSource } from './machine-source.ts';
import { memoryFacts } from './memory-facts.ts';
import { networkFacts } from './network-facts.ts';
import { readPciNames } from './pci-names.ts';
import { processorFacts } from './processor-facts.ts';
import { cleanText, readText } from './read-values.ts';
import { storageFacts } from './storage-facts.ts';
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
  const names = await readPciNames(source);
  const facts: SystemFacts = {
    hostname: cleanText(source.os.hostname),
    bootId: await readText(source, '/proc/sys/kernel/random/boot_id'),
    enclosure: await enclosureFacts(source),
    processor: await processorFacts(source),
    memory: await memoryFacts(source),
    storage: await storageFacts(source),
    ...(await acceleratorFacts(source, names)),
    software: {
      operatingSystem: await operatingSystem(source),
      kernel: await kernel(source),
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

async function kernel(source: MachineSource): Promise<string | null> {
  const { kind, release } = source.os;
  return cleanText(`${kind} ${(await readText(source, '/proc/sys/kernel/osrelease')) ?? release}`);
}
