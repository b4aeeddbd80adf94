import { joined } from '../../../shared/host/machine-source.ts';
import type { NicFacts } from '../../../shared/host/network-facts.ts';
import type { AcceleratorFacts, SystemFacts } from '../../../shared/host/system-facts.ts';
import type { Suite } from '../../../shared/rules/rows/model-row.ts';
import { ECC_TEXTS, TODO_MARK } from '../tree/system-fields.ts';
import { isCard } from './facts-file.ts';

/**
 * Value of an accelerator's field without accelerators; the official tools refuse an empty text.
 */
const NONE = 'N/A';

/** Wording for the submitter if the machine does not report its ECC or modules. */
const ECC_WANTED = `"${ECC_TEXTS.on}" or "${ECC_TEXTS.off}"`;
const MODULES_WANTED = 'modules, "12 x 32GB 2Rx4 PC4-2666V-R"';

/** Fields of a description that one machine decides: key, and text from the facts. */
const FIELDS: Readonly<Record<string, (facts: SystemFacts, suite: Suite) => string>> = {
  host_processor_model_name: ({ processor }) =>
    told(processor.model, 'name of the processor, as its maker calls it'),
  host_processors_per_node: ({ processor }) => told(processor.sockets, 'number of processors, "2"'),
  host_processor_core_count: ({ processor: { cores, sockets, threads } }) => {
    const seen = threads === null ? '' : ` (${threads} hardware threads were seen)`;
    if (cores === null || sockets === null) return todo(`cores of one processor, "26"${seen}`);
    return cores % sockets === 0 ? `${cores / sockets}` : `${cores} in ${sockets} processors`;
  },
  host_processor_frequency: ({ processor: { baseMhz, maxMhz } }) =>
    present([mhzText(baseMhz, 'base'), mhzText(maxMhz, 'max')]).join(', '),
  host_processor_caches: ({ processor }) =>
    processor.caches
      .map(({ name, bytes, count, sharedByThreads }) => {
        const shared = sharedByThreads === 1 ? '' : `, each for ${sharedByThreads} threads`;
        return `${name}: ${count}x ${inUnits(bytes / 1024, 1024, ['KB', 'MB'])}${shared}`;
      })
      .join('; '),
  host_memory_capacity: ({ memory: { modules, totalBytes } }) => {
    const installed = modules.reduce((sum, { bytes }) => sum + bytes, 0);
    if (installed > 0) return memoryText(installed);
    if (totalBytes === null) return todo('installed memory, "384GB"');
    // The kernel reserves a part: the nominal size is larger.
    return `${memoryText(totalBytes)} as the operating system sees it`;
  },
  host_memory_configuration: memoryConfiguration,
  host_storage_capacity: ({ storage }) => {
    // As disks are labelled: powers of 1000.
    const textOf = (bytes: number): string => inUnits(bytes / 1e9, 1000, [' GB', ' TB']);
    const sizes = present(storage.map(({ bytes }) => bytes && textOf(bytes)));
    const isWhole = sizes.length === storage.length;
    return told(isWhole && countedText(sizes), 'capacity of the disks, "800GB"');
  },
  host_storage_type: ({ storage }) => {
    const kinds = present(storage.map(({ kind }) => kind));
    const isWhole = kinds.length === storage.length;
    return told(isWhole && joined(kinds, ' + '), 'kind of the disks: "NVMe SSD", "SSD", "HDD"');
  },
  host_networking: ({ network }) => {
    const fabrics = network.interfaces
      .filter(isCard)
      .map(({ fabric }) => fabric ?? 'unknown fabric');
    const wanted = 'what the host is networked with, "Gig Ethernet", "Infiniband"';
    return told(joined(fabrics, ' + '), wanted);
  },
  host_network_card_count: ({ network }) => {
    const cards = countedText(network.interfaces.filter(isCard).map(nicText));
    const wanted = 'network cards with their rates, "1 100GbE + 1 10GbE"';
    return told(cards.replace(/^(?!\d+x |$)/, '1x '), wanted);
  },
  framework: ({ software }) => {
    const runtime = software.components.find(isRuntime);
    const text = runtime && `ONNX Runtime ${runtime.version} (onnxruntime-node)`;
    return told(text, 'framework that runs the model, with its version');
  },
  operating_system: ({ software: { operatingSystem, kernel } }) => {
    const seen = kernel === null ? '' : `; the kernel is ${kernel}`;
    if (operatingSystem === null) return todo(`name and version, "Ubuntu 22.04"${seen}`);
    return present([operatingSystem, kernel]).join(', ');
  },
  other_software_stack: ({ software, accelerators }) => {
    const others = software.components.filter((one) => !isRuntime(one));
    const all = [
      ...others.map(({ name, version }) => `${name === 'node' ? 'Node.js' : name} ${version}`),
      ...accelerators.map(({ driver }) => driver && `accelerator driver ${driver}`),
    ];
    return told(joined(all, ', '), 'software beside the framework, with versions');
  },
};

const isRuntime = ({ name }: { readonly name: string }): boolean => name === 'onnxruntime-node';

/**
 * A field of accelerators: text without any, instruction for the submitter if unknown, and text
 * from the facts (null: unknown).
 */
type AcceleratorField = readonly [
  none: string,
  wanted: string,
  textOf: (
    all: readonly AcceleratorFacts[],
    first: AcceleratorFacts,
    suite: Suite,
  ) => string | null,
];

const ACCELERATOR_FIELDS: Readonly<Record<string, AcceleratorField>> = {
  accelerators_per_node: ['0', 'number of accelerators, "8"', ({ length }) => `${length}`],
  accelerator_model_name: [
    NONE,
    'model of the accelerators, "NVIDIA H200"',
    (all) => {
      const names = all.map(({ model }) => model ?? 'an accelerator without a name');
      return new Set(names).size === 1 ? (names[0] ?? '') : countedText(names);
    },
  ],
  accelerator_memory_capacity: [
    NONE,
    'memory of one accelerator, "32GB"',
    (_all, { memoryBytes }) => (memoryBytes === null ? null : memoryText(memoryBytes)),
  ],
  accelerator_frequency: ['', '', (_all, { maxMhz }) => mhzText(maxMhz, 'max')],
  accelerator_host_interconnect: [NONE, '"PCIe 5.0 x16"', (_all, first) => first.hostInterconnect],
  accelerator_interconnect: [
    NONE,
    'link between accelerators, "6x 25GT/s NVLink", "N/A" if there is none',
    ({ length }) => (length === 1 ? NONE : todo('link between accelerators, "6x 25GT/s NVLink"')),
  ],
  accelerator_interconnect_topology: ['', '', () => null],
  accelerator_memory_configuration: [
    NONE,
    `kind of the accelerators' memory, "HBM2", and ${ECC_WANTED}`,
    acceleratorMemory,
  ],
  'accelerator_on-chip_memories': ['', '', () => null],
};

/** Fields of accelerators that the user declares but no machine reported: all unknown. */
export const UNSEEN_ACCELERATORS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ACCELERATOR_FIELDS).map(([key, [, wanted]]) => [key, wanted && todo(wanted)]),
);

function acceleratorText(
  [none, wanted, textOf]: AcceleratorField,
  { accelerators, acceleratorsHow }: SystemFacts,
  suite: Suite,
): string {
  const [first] = accelerators;
  if (first !== undefined) return textOf(accelerators, first, suite) ?? (wanted && todo(wanted));
  if (acceleratorsHow !== null) return none;
  const number = none === '0' ? 'number of accelerators, "0"' : 'or "N/A"';
  return none && todo(`${number}; it is unknown whether there are any`);
}

/** The fields of a description that one machine decides, by key. */
export function hostFields(facts: SystemFacts, suite: Suite): Record<string, string> {
  const texts = Object.entries(FIELDS).map(([key, textOf]) => [key, textOf(facts, suite)]);
  const accelerators = Object.entries(ACCELERATOR_FIELDS).map(([key, field]) => [
    key,
    acceleratorText(field, facts, suite),
  ]);
  return Object.fromEntries([...texts, ...accelerators]);
}

/**
 * Rule: inference_rules v4.1, "A Datacenter submission must use ECC in their DRAM and HBM
 * memories".
 */
function memoryConfiguration({ memory: { modules, ecc } }: SystemFacts, suite: Suite): string {
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

/** ECC is on only if it is on in all of them. */
function acceleratorMemory(
  all: readonly AcceleratorFacts[],
  first: AcceleratorFacts,
  suite: Suite,
): string {
  const states = all.map(({ ecc }) => ecc.state);
  const how = first.ecc.how ?? '';
  if (states.includes('off')) return `${ECC_TEXTS.off} (${how})`;
  if (!states.includes(null)) return `${ECC_TEXTS.on} (${how})`;
  const ecc = suite === 'datacenter' ? `, and ${ECC_WANTED}` : '';
  return todo(`kind of the accelerators' memory, "HBM2"${ecc}; ECC: ${how}`);
}

/** Text for a value that could not be read. @param wanted What the submitter must write. */
export function todo(wanted: string): string {
  return `${TODO_MARK}: ${wanted}`;
}

/** A value, or a TODO if it could not be read. */
export function told(value: string | number | null | undefined | false, wanted: string): string {
  return value ? `${value}` : todo(wanted);
}

/** The non-empty texts. */
export function present(texts: readonly (string | number | false | null)[]): string[] {
  return texts.filter((text): text is string => typeof text === 'string' && text !== '');
}

function mhzText(mhz: number | null, which: string): string {
  return mhz === null ? '' : `${Math.round(mhz)}MHz ${which}`;
}

/** An amount in the largest unit that it reaches; each unit is `base` times the previous one. */
function inUnits(amount: number, base: number, [unit, ...larger]: readonly string[]): string {
  if (amount >= base && larger.length > 0) return inUnits(amount / base, base, larger);
  return `${Number(amount.toFixed(amount < 10 ? 2 : 1))}${unit}`;
}

/** Memory as labelled: powers of 1024, with the unit names of the rules' examples. */
export function memoryText(bytes: number): string {
  return inUnits(bytes / 1024 ** 2, 1024, [' MB', ' GB', ' TB']);
}

/** Rate of a link in `network_rate`'s form: `100G`, `2.5G`, `100M`. */
export function networkRateText(mbps: number): string {
  return inUnits(mbps, 1000, ['M', 'G']);
}

/** Text of a network card, with its link's rate: `ConnectX-6 Dx (mlx5_core), 100G`. */
function nicText(nic: NicFacts): string {
  const rate = nic.speedMbps && networkRateText(nic.speedMbps);
  return present([nicModelText(nic), rate]).join(', ');
}

/** Model and driver of a network card; the kind of card if the model is not known. */
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
