import type { AcceleratorFacts, SystemFacts } from '../../../shared/host/system-facts.ts';
import type { Suite } from '../rules/submission-rounds.ts';
import { ECC_TEXTS } from '../tree/system-fields.ts';
import { cacheText, countedText, memoryText, nicText, storageText, todo } from './field-text.ts';
import { isCard } from './link-facts.ts';

/** What a machine without an accelerator writes; the official tools refuse an empty text. */
const NONE = 'N/A';

/** The fields of a description that one machine decides, by key. */
export function hostFields(facts: SystemFacts, suite: Suite): Record<string, string> {
  const { processor, memory, storage } = facts;
  return {
    ...processorFields(processor),
    host_memory_capacity: memoryCapacity(memory),
    host_memory_configuration: memoryConfiguration(memory, suite),
    ...storageFields(storage),
    ...networkCardFields(facts),
    ...acceleratorFields(facts, suite),
    ...softwareFields(facts),
  };
}

function processorFields(processor: SystemFacts['processor']): Record<string, string> {
  const { model, sockets, cores, threads, baseMhz, maxMhz, caches } = processor;
  const perSocket = cores === null || sockets === null ? null : cores / sockets;
  const seen = threads === null ? '' : ` (${threads} hardware threads were seen)`;
  const frequencies = [
    baseMhz === null ? '' : `${Math.round(baseMhz)}MHz base`,
    maxMhz === null ? '' : `${Math.round(maxMhz)}MHz max`,
  ];
  return {
    host_processor_model_name: model ?? todo('name of the processor, as its maker calls it'),
    host_processors_per_node: sockets === null ? todo('number of processors, "2"') : `${sockets}`,
    host_processor_core_count:
      perSocket === null
        ? todo(`cores of one processor, "26"${seen}`)
        : Number.isInteger(perSocket)
          ? `${perSocket}`
          : `${cores} in ${sockets} processors`,
    host_processor_frequency: frequencies.filter((text) => text !== '').join(', '),
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

/** Rule: inference_rules v4.1, "A Datacenter submission must use ECC in their DRAM and HBM memories". */
function memoryConfiguration({ modules, ecc }: SystemFacts['memory'], suite: Suite): string {
  const texts = modules.map(({ bytes, type, speedMts }) =>
    [memoryText(bytes), type ?? '', speedMts === null ? '' : `at ${speedMts} MT/s`]
      .filter((text) => text !== '')
      .join(' '),
  );
  const said = countedText(texts);
  if (ecc.state !== null) {
    const stated = `${ECC_TEXTS[ecc.state]} (${ecc.how ?? 'read from the system'})`;
    return said === '' ? stated : `${said}, ${stated}`;
  }
  const why = ecc.how === null ? '' : `; ECC: ${ecc.how}`;
  if (suite === 'datacenter') {
    const begin = said === '' ? 'modules, "12 x 32GB 2Rx4 PC4-2666V-R"' : `"${said}"`;
    return todo(`${begin}, and "${ECC_TEXTS.on}" or "${ECC_TEXTS.off}"${why}`);
  }
  return said === '' ? todo(`modules, "12 x 32GB 2Rx4 PC4-2666V-R"${why}`) : said;
}

function storageFields(disks: SystemFacts['storage']): Record<string, string> {
  const sizes = disks.map(({ bytes }) => bytes);
  const kinds = [...new Set(disks.map(({ kind }) => kind))];
  const isWhole = disks.length > 0 && !sizes.includes(null);
  return {
    host_storage_capacity: isWhole
      ? countedText(sizes.map((bytes) => storageText(bytes ?? 0)))
      : todo('capacity of the disks, "800GB"'),
    host_storage_type:
      disks.length > 0 && !kinds.includes(null)
        ? kinds.join(' + ')
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
  return {
    host_networking: [...new Set(cards.map(({ fabric }) => fabric ?? 'unknown fabric'))].join(
      ' + ',
    ),
    host_network_card_count: countedText(cards.map(nicText)).replace(/^(?!\d+x )/, '1x '),
  };
}

function acceleratorFields(
  { accelerators, acceleratorsHow }: SystemFacts,
  suite: Suite,
): Record<string, string> {
  const [first] = accelerators;
  if (first === undefined) return acceleratorsHow === null ? NOT_LOOKED : NO_ACCELERATOR;
  const named = accelerators.map(({ model }) => model ?? 'an accelerator without a name');
  const models = [...new Set(named)];
  const { memoryBytes, hostInterconnect, maxMhz } = first;
  return {
    accelerators_per_node: `${accelerators.length}`,
    accelerator_model_name: models.length === 1 ? models.join() : countedText(named),
    accelerator_memory_capacity:
      memoryBytes === null ? todo('memory of one accelerator, "32GB"') : memoryText(memoryBytes),
    accelerator_frequency: maxMhz === null ? '' : `${Math.round(maxMhz)}MHz max`,
    accelerator_host_interconnect: hostInterconnect ?? todo('"PCIe 5.0 x16"'),
    accelerator_interconnect:
      accelerators.length === 1 ? NONE : todo('link between accelerators, "6x 25GT/s NVLink"'),
    accelerator_interconnect_topology: '',
    accelerator_memory_configuration: acceleratorMemory(accelerators, suite),
    'accelerator_on-chip_memories': '',
  };
}

const NO_ACCELERATOR: Readonly<Record<string, string>> = {
  accelerators_per_node: '0',
  accelerator_model_name: NONE,
  accelerator_memory_capacity: NONE,
  accelerator_frequency: '',
  accelerator_host_interconnect: NONE,
  accelerator_interconnect: NONE,
  accelerator_interconnect_topology: '',
  accelerator_memory_configuration: NONE,
  'accelerator_on-chip_memories': '',
};

const NOT_LOOKED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(NO_ACCELERATOR).map(([key, value]) => {
    const wanted = key === 'accelerators_per_node' ? 'number of accelerators, "0"' : 'or "N/A"';
    return [key, value === '' ? '' : todo(`${wanted}; nothing shows whether there are any`)];
  }),
);

/** Fields of accelerators that no machine showed but somebody says are there: none of them is known. */
export const UNSEEN_ACCELERATORS: Readonly<Record<string, string>> = {
  accelerators_per_node: todo('number of accelerators, "8"'),
  accelerator_model_name: todo('model of the accelerators, "NVIDIA H200"'),
  accelerator_memory_capacity: todo('memory of one accelerator, "32GB"'),
  accelerator_host_interconnect: todo('"PCIe 5.0 x16"'),
  accelerator_interconnect: todo(
    'link between accelerators, "6x 25GT/s NVLink", "N/A" if there is none',
  ),
  accelerator_memory_configuration: todo(
    `kind of the accelerators' memory, "HBM2", and "${ECC_TEXTS.on}" or "${ECC_TEXTS.off}"`,
  ),
};

/** On only where it is on in all of them. */
function acceleratorMemory(accelerators: readonly AcceleratorFacts[], suite: Suite): string {
  const states = accelerators.map(({ ecc }) => ecc.state);
  const how = accelerators[0]?.ecc.how ?? '';
  if (states.includes('off')) return `${ECC_TEXTS.off} (${how})`;
  if (!states.includes(null)) return `${ECC_TEXTS.on} (${how})`;
  const ecc = suite === 'datacenter' ? `, and "${ECC_TEXTS.on}" or "${ECC_TEXTS.off}"` : '';
  return todo(`kind of the accelerators' memory, "HBM2"${ecc}; ECC: ${how}`);
}

function softwareFields({ software, accelerators }: SystemFacts): Record<string, string> {
  const { operatingSystem, kernel, components } = software;
  const runtime = components.find(({ name }) => name === 'onnxruntime-node');
  const others = components
    .filter((one) => one !== runtime)
    .map(({ name, version }) => `${name === 'node' ? 'Node.js' : name} ${version}`);
  const drivers = new Set(accelerators.map(({ driver }) => driver).filter((one) => one !== null));
  const stack = [...others, ...[...drivers].map((version) => `accelerator driver ${version}`)];
  return {
    framework:
      runtime === undefined
        ? todo('framework that runs the model, with its version')
        : `ONNX Runtime ${runtime.version} (onnxruntime-node)`,
    operating_system: osText(operatingSystem, kernel),
    other_software_stack:
      stack.length === 0 ? todo('software beside the framework, with versions') : stack.join(', '),
  };
}

function osText(name: string | null, kernel: string | null): string {
  if (name === null)
    return todo(
      `name and version, "Ubuntu 22.04"${kernel === null ? '' : `; the kernel is ${kernel}`}`,
    );
  return kernel === null ? name : `${name}, ${kernel}`;
}
