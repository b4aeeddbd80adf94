import type { NicFacts } from '../../../shared/host/network-facts.ts';
import type { AcceleratorFacts, SystemFacts } from '../../../shared/host/system-facts.ts';
import type { Suite } from '../../../shared/rules/rows/model-row.ts';
import { ECC_TEXTS, TODO_MARK } from '../tree/system-fields.ts';
import { isCard } from './facts-file.ts';

/** Value of an accelerator's field where there is none; the official tools refuse an empty text. */
const NONE = 'N/A';

/** Wording for the submitter where the machine does not show its ECC or modules. */
const ECC_WANTED = `"${ECC_TEXTS.on}" or "${ECC_TEXTS.off}"`;
const MODULES_WANTED = 'modules, "12 x 32GB 2Rx4 PC4-2666V-R"';

/** The fields of a description that one machine decides, by key. */
export function hostFields(facts: SystemFacts, suite: Suite): Record<string, string> {
  const { memory } = facts;
  return {
    ...processorFields(facts),
    host_memory_capacity: memoryCapacity(memory),
    host_memory_configuration: memoryConfiguration(memory, suite),
    ...storageFields(facts),
    ...networkCardFields(facts),
    ...acceleratorFields(facts, suite),
    ...softwareFields(facts),
  };
}

function processorFields({ processor }: SystemFacts): Record<string, string> {
  const { model, sockets, cores, threads, baseMhz, maxMhz, caches } = processor;
  const seen = threads === null ? '' : ` (${threads} hardware threads were seen)`;
  const coresText = (): string => {
    if (cores === null || sockets === null) return todo(`cores of one processor, "26"${seen}`);
    return cores % sockets === 0 ? `${cores / sockets}` : `${cores} in ${sockets} processors`;
  };
  return {
    host_processor_model_name: model ?? todo('name of the processor, as its maker calls it'),
    host_processors_per_node: sockets === null ? todo('number of processors, "2"') : `${sockets}`,
    host_processor_core_count: coresText(),
    host_processor_frequency: present([
      baseMhz && `${Math.round(baseMhz)}MHz base`,
      maxMhz && `${Math.round(maxMhz)}MHz max`,
    ]).join(', '),
    host_processor_caches: caches
      .map(({ name, bytes, count, sharedByThreads }) => {
        const shared = sharedByThreads === 1 ? '' : `, each for ${sharedByThreads} threads`;
        return `${name}: ${count}x ${cacheText(bytes)}${shared}`;
      })
      .join('; '),
  };
}

function memoryCapacity({ modules, totalBytes }: SystemFacts['memory']): string {
  const installed = modules.reduce((sum, { bytes }) => sum + bytes, 0);
  if (installed > 0) return memoryText(installed);
  if (totalBytes === null) return todo('installed memory, "384GB"');
  // The kernel keeps a part for itself: what is sold is larger.
  return `${memoryText(totalBytes)} as the operating system sees it`;
}

/**
 * Rule: inference_rules v4.1, "A Datacenter submission must use ECC in their DRAM and HBM
 * memories".
 */
function memoryConfiguration({ modules, ecc }: SystemFacts['memory'], suite: Suite): string {
  const texts = modules.map(({ bytes, type, speedMts }) =>
    present([memoryText(bytes), type, speedMts && `at ${speedMts} MT/s`]).join(' '),
  );
  const said = countedText(texts);
  if (ecc.state !== null) {
    const stated = `${ECC_TEXTS[ecc.state]} (${ecc.how ?? 'read from the system'})`;
    return present([said, stated]).join(', ');
  }
  const why = ecc.how === null ? '' : `; ECC: ${ecc.how}`;
  if (suite === 'datacenter') {
    return todo(`${said === '' ? MODULES_WANTED : `"${said}"`}, and ${ECC_WANTED}${why}`);
  }
  return said === '' ? todo(`${MODULES_WANTED}${why}`) : said;
}

function storageFields({ storage: disks }: SystemFacts): Record<string, string> {
  const sizes = disks.flatMap(({ bytes }) => (bytes === null ? [] : [storageText(bytes)]));
  const kinds = disks.flatMap(({ kind }) => kind ?? []);
  const isWhole = (known: readonly string[]): boolean =>
    disks.length > 0 && known.length === disks.length;
  return {
    host_storage_capacity: isWhole(sizes)
      ? countedText(sizes)
      : todo('capacity of the disks, "800GB"'),
    host_storage_type: isWhole(kinds)
      ? [...new Set(kinds)].join(' + ')
      : todo('kind of the disks: "NVMe SSD", "SSD", "HDD"'),
  };
}

function networkCardFields({ network }: SystemFacts): Record<string, string> {
  const cards = network.interfaces.filter(isCard);
  if (cards.length === 0) {
    return {
      host_networking: todo('what the host is networked with, "Gig Ethernet", "Infiniband"'),
      host_network_card_count: todo('network cards with their rates, "1 100GbE + 1 10GbE"'),
    };
  }
  const fabrics = new Set(cards.map(({ fabric }) => fabric ?? 'unknown fabric'));
  return {
    host_networking: [...fabrics].join(' + '),
    host_network_card_count: countedText(cards.map(nicText)).replace(/^(?!\d+x )/, '1x '),
  };
}

/**
 * Fields of accelerators: key, text where there is none, what the submitter has to write where
 * there are some.
 */
const ACCELERATOR_FIELDS = [
  ['accelerators_per_node', '0', 'number of accelerators, "8"'],
  ['accelerator_model_name', NONE, 'model of the accelerators, "NVIDIA H200"'],
  ['accelerator_memory_capacity', NONE, 'memory of one accelerator, "32GB"'],
  ['accelerator_frequency', '', ''],
  ['accelerator_host_interconnect', NONE, '"PCIe 5.0 x16"'],
  [
    'accelerator_interconnect',
    NONE,
    'link between accelerators, "6x 25GT/s NVLink", "N/A" if there is none',
  ],
  ['accelerator_interconnect_topology', '', ''],
  [
    'accelerator_memory_configuration',
    NONE,
    `kind of the accelerators' memory, "HBM2", and ${ECC_WANTED}`,
  ],
  ['accelerator_on-chip_memories', '', ''],
] as const;

const NO_ACCELERATOR: Readonly<Record<string, string>> = Object.fromEntries(
  ACCELERATOR_FIELDS.map(([key, none]) => [key, none]),
);

/** Fields of accelerators where it is unknown whether there are any. */
const NOT_LOOKED: Readonly<Record<string, string>> = Object.fromEntries(
  ACCELERATOR_FIELDS.map(([key, none]) => {
    const wanted = none === '0' ? 'number of accelerators, "0"' : 'or "N/A"';
    return [key, none && todo(`${wanted}; it is unknown whether there are any`)];
  }),
);

/**
 * Fields of accelerators that no machine showed but the user declares: all of them are unknown.
 */
export const UNSEEN_ACCELERATORS: Readonly<Record<string, string>> = Object.fromEntries(
  ACCELERATOR_FIELDS.map(([key, , wanted]) => [key, wanted && todo(wanted)]),
);

function acceleratorFields({ accelerators, acceleratorsHow }: SystemFacts, suite: Suite) {
  const [first] = accelerators;
  if (first === undefined) return acceleratorsHow === null ? NOT_LOOKED : NO_ACCELERATOR;
  const named = accelerators.map(({ model }) => model ?? 'an accelerator without a name');
  const isOneModel = new Set(named).size === 1;
  const { memoryBytes, hostInterconnect, maxMhz } = first;
  return {
    ...NO_ACCELERATOR,
    accelerators_per_node: `${accelerators.length}`,
    accelerator_model_name: isOneModel ? (named[0] ?? '') : countedText(named),
    accelerator_memory_capacity:
      memoryBytes === null ? todo('memory of one accelerator, "32GB"') : memoryText(memoryBytes),
    accelerator_frequency: maxMhz === null ? '' : `${Math.round(maxMhz)}MHz max`,
    accelerator_host_interconnect: hostInterconnect ?? todo('"PCIe 5.0 x16"'),
    accelerator_interconnect:
      accelerators.length === 1 ? NONE : todo('link between accelerators, "6x 25GT/s NVLink"'),
    accelerator_memory_configuration: acceleratorMemory(accelerators, suite),
  };
}

/** On only where it is on in all of them. */
function acceleratorMemory(accelerators: readonly AcceleratorFacts[], suite: Suite): string {
  const states = accelerators.map(({ ecc }) => ecc.state);
  const how = accelerators[0]?.ecc.how ?? '';
  if (states.includes('off')) return `${ECC_TEXTS.off} (${how})`;
  if (!states.includes(null)) return `${ECC_TEXTS.on} (${how})`;
  const ecc = suite === 'datacenter' ? `, and ${ECC_WANTED}` : '';
  return todo(`kind of the accelerators' memory, "HBM2"${ecc}; ECC: ${how}`);
}

function softwareFields({ software, accelerators }: SystemFacts): Record<string, string> {
  const { operatingSystem, kernel, components } = software;
  const runtime = components.find(({ name }) => name === 'onnxruntime-node');
  const others = components
    .filter((one) => one !== runtime)
    .map(({ name, version }) => `${name === 'node' ? 'Node.js' : name} ${version}`);
  const drivers = new Set(present(accelerators.map(({ driver }) => driver)));
  const stack = [...others, ...[...drivers].map((version) => `accelerator driver ${version}`)];
  const seen = kernel === null ? '' : `; the kernel is ${kernel}`;
  return {
    framework:
      runtime === undefined
        ? todo('framework that runs the model, with its version')
        : `ONNX Runtime ${runtime.version} (onnxruntime-node)`,
    operating_system:
      operatingSystem === null
        ? todo(`name and version, "Ubuntu 22.04"${seen}`)
        : present([operatingSystem, kernel]).join(', '),
    other_software_stack:
      stack.length === 0 ? todo('software beside the framework, with versions') : stack.join(', '),
  };
}

/** Text for a value that could not be read. @param wanted What the submitter has to write. */
export function todo(wanted: string): string {
  return `${TODO_MARK}: ${wanted}`;
}

/** The texts that say something. */
export function present(texts: readonly (string | number | null)[]): string[] {
  return texts.filter((text): text is string => typeof text === 'string' && text !== '');
}

/** Memory as it is sold: powers of 1024, named as the examples of the rules name them. */
export function memoryText(bytes: number): string {
  if (bytes >= 1024 ** 4) return `${rounded(bytes / 1024 ** 4)} TB`;
  return bytes >= 1024 ** 3
    ? `${rounded(bytes / 1024 ** 3)} GB`
    : `${rounded(bytes / 1024 ** 2)} MB`;
}

/** Disks as they are sold: powers of 1000. */
function storageText(bytes: number): string {
  return bytes >= 1e12 ? `${rounded(bytes / 1e12)} TB` : `${rounded(bytes / 1e9)} GB`;
}

/** Caches, as the examples of the rules write them. */
function cacheText(bytes: number): string {
  return bytes >= 1024 ** 2 ? `${rounded(bytes / 1024 ** 2)}MB` : `${rounded(bytes / 1024)}KB`;
}

/** Rate of a link as `network_rate` names it: `100G`, `2.5G`, `100M`. */
export function networkRateText(mbps: number): string {
  return mbps >= 1000 ? `${rounded(mbps / 1000)}G` : `${rounded(mbps)}M`;
}

/**
 * A card by its model, or what stands for it, and the rate of its link: `ConnectX-6 Dx (mlx5_core),
 * 100G`.
 */
function nicText(nic: NicFacts): string {
  const rate = nic.speedMbps === null ? '' : `, ${networkRateText(nic.speedMbps)}`;
  return `${nicModelText(nic)}${rate}`;
}

/** A card by its model and driver. */
export function nicModelText({ model, pciId, driver, backing, fabric }: NicFacts): string {
  const made = backing === 'hypervisor' ? 'card of a hypervisor' : `${fabric ?? 'network'} card`;
  const name = model ?? (pciId === null ? made : `${made} ${pciId}`);
  return driver === null ? name : `${name} (driver ${driver})`;
}

/** Equal texts counted: `2x A + B`. */
function countedText(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => (count === 1 ? text : `${count}x ${text}`)).join(' + ');
}

function rounded(amount: number): string {
  return String(Number(amount.toFixed(amount < 10 ? 2 : 1)));
}
