import { z } from 'zod';

/**
 * What could be read of one machine, without root and without other programs. Null: nobody could read it;
 * nothing is guessed. There is no MAC address and no serial number in it.
 */
export interface SystemFacts {
  readonly hostname: string | null;
  /** Changes at every start of the machine. Equal on two sides of a link: one machine. */
  readonly bootId: string | null;
  readonly enclosure: EnclosureFacts;
  readonly processor: ProcessorFacts;
  readonly memory: MemoryFacts;
  /** Disks; without those that can be removed and those that are only made of others. */
  readonly storage: readonly StorageFacts[];
  readonly accelerators: readonly AcceleratorFacts[];
  /** Where was looked for accelerators; null: there is nothing to look at, so that none is not known to be none. */
  readonly acceleratorsHow: string | null;
  readonly software: SoftwareFacts;
  readonly network: NetworkFacts;
}

/** What the facts were read in: hardware, a virtual machine, a container. */
export interface EnclosureFacts {
  /** Maker and product as the firmware tells them; in a virtual machine those of the hypervisor. */
  readonly vendor: string | null;
  readonly product: string | null;
  /** Kind of virtual machine (`KVM`), or `unknown hypervisor`; null where no sign of one was found. */
  readonly virtualMachine: string | null;
  /** What showed it. */
  readonly virtualMachineHow: string | null;
  /** Kind of container (`docker`), or `unknown container`; null where no sign of one was found. */
  readonly container: string | null;
  readonly containerHow: string | null;
  /** What the container may use; null where it has no limit. */
  readonly cpuLimit: number | null;
  readonly memoryLimitBytes: number | null;
}

/** All processors of a machine together. */
export interface ProcessorFacts {
  readonly model: string | null;
  /** As Node.js names it: `x64`, `arm64`. */
  readonly architecture: string | null;
  readonly sockets: number | null;
  /** Cores and hardware threads of all sockets together. */
  readonly cores: number | null;
  readonly threads: number | null;
  readonly numaNodes: number | null;
  readonly baseMhz: number | null;
  readonly maxMhz: number | null;
  /** From which file or text the frequencies are. */
  readonly frequencyHow: string | null;
  readonly caches: readonly CacheFacts[];
}

/** Caches of one kind. */
export interface CacheFacts {
  /** `L1d`, `L1i`, `L2`, `L3`. */
  readonly name: string;
  /** Of one of them. */
  readonly bytes: number;
  /** How many of them the machine has. */
  readonly count: number;
  /** Hardware threads that share one. */
  readonly sharedByThreads: number;
}

/** Whether errors of a memory are corrected. */
export interface EccFacts {
  /** Null: it could not be read. */
  readonly state: 'on' | 'off' | null;
  /** What was read, and where; or why nothing could be. */
  readonly how: string | null;
}

/** The memory of the host processors. */
export interface MemoryFacts {
  /** Memory that the kernel has: less than what is installed. */
  readonly totalBytes: number | null;
  readonly modules: readonly MemoryModuleFacts[];
  /** Where the modules were read. */
  readonly modulesHow: string | null;
  readonly ecc: EccFacts;
}

/** One memory module. */
export interface MemoryModuleFacts {
  /** Where it sits, as the firmware or the kernel names it. */
  readonly slot: string | null;
  readonly bytes: number;
  /** For example `DDR5`. */
  readonly type: string | null;
  /** Million transfers per second, as configured. */
  readonly speedMts: number | null;
}

/** Kinds of disk as a system description names them. */
export const STORAGE_KINDS = ['NVMe SSD', 'SSD', 'HDD', 'flash card', 'virtual disk'] as const;

/** One disk. */
export interface StorageFacts {
  readonly name: string;
  readonly kind: (typeof STORAGE_KINDS)[number] | null;
  readonly model: string | null;
  readonly bytes: number | null;
}

/** One accelerator. */
export interface AcceleratorFacts {
  readonly model: string | null;
  readonly memoryBytes: number | null;
  readonly ecc: EccFacts;
  readonly maxMhz: number | null;
  /** For example `PCIe 5.0 x16`. */
  readonly hostInterconnect: string | null;
  /** Version of its driver. */
  readonly driver: string | null;
  /** Where it was read. */
  readonly how: string | null;
}

/** What runs on the machine. */
export interface SoftwareFacts {
  /** For example `Debian GNU/Linux 12 (bookworm)`; inside a container that of the image. */
  readonly operatingSystem: string | null;
  /** For example `Linux 6.1.0-18-amd64`; inside a container that of the machine. */
  readonly kernel: string | null;
  /** longhaul itself, Node.js and the packages that matter to a measurement. */
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

/** How the machine speaks to others. */
export interface NetworkFacts {
  /** For example `cubic`. */
  readonly congestionControl: string | null;
  /** Without loopback. */
  readonly interfaces: readonly NicFacts[];
}

/** Fabrics as `network_type` of a system description names them. */
export const FABRICS = ['Ethernet', '802.11', 'InfiniBand', '3GPP'] as const;

/** What is behind a network interface. */
export const BACKINGS = ['hardware', 'hypervisor', 'software'] as const;

/** One network interface. */
export interface NicFacts {
  readonly name: string;
  readonly fabric: (typeof FABRICS)[number] | null;
  /**
   * `hardware`: a card; `hypervisor`: a card that a hypervisor makes, whose speed is what that says;
   * `software`: a bridge, a bond, a tunnel, one end of a container's link. Null: a kind that this version does not know.
   */
  readonly backing: (typeof BACKINGS)[number] | null;
  /** Interfaces of the same machine that this one is made of (a bond, a bridge, a VLAN). */
  readonly madeOf: readonly string[];
  readonly driver: string | null;
  /** Maker and model by the list of PCI ids of the machine. */
  readonly model: string | null;
  /** `vendor:device` on the PCI bus, hexadecimal. */
  readonly pciId: string | null;
  /** Of the link as it is now, in 10^6 bit/s. */
  readonly speedMbps: number | null;
  readonly duplex: string | null;
  readonly mtu: number | null;
  /** `up`, `down`, or what else the kernel says. */
  readonly linkState: string | null;
  /**
   * IP addresses with their prefix length: `10.0.0.2/24`. Without IPv6 addresses of the link alone; of those that hold
   * the MAC address only the prefix is told.
   */
  readonly addresses: readonly string[];
  /** Whether the device also offers RDMA to the kernel. */
  readonly hasRdma: boolean;
}

const text = z
  .string()
  .max(1024)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');
const words = text.nullable();
const positive = z.number().positive();
const amount = positive.nullable();
/** One of a few words; one that a later version has added is not known here. */
function wordOf<const T extends readonly [string, ...string[]]>(
  list: T,
): z.ZodType<T[number] | null> {
  return z.enum(list).nullable().catch(null);
}

const ecc: z.ZodType<EccFacts> = z.object({ state: wordOf(['on', 'off']), how: words });
/** A machine has fewer of anything; a node that is not ours may say what it likes. */
const LIST_LENGTH_MAX = 4096;
const list = <T>(schema: z.ZodType<T>): z.ZodType<T[]> => z.array(schema).max(LIST_LENGTH_MAX);

const enclosure: z.ZodType<EnclosureFacts> = z.object({
  vendor: words,
  product: words,
  virtualMachine: words,
  virtualMachineHow: words,
  container: words,
  containerHow: words,
  cpuLimit: amount,
  memoryLimitBytes: amount,
});

const processor: z.ZodType<ProcessorFacts> = z.object({
  model: words,
  architecture: words,
  sockets: amount,
  cores: amount,
  threads: amount,
  numaNodes: amount,
  baseMhz: amount,
  maxMhz: amount,
  frequencyHow: words,
  caches: list(
    z.object({ name: text, bytes: positive, count: positive, sharedByThreads: positive }),
  ),
});

const memory: z.ZodType<MemoryFacts> = z.object({
  totalBytes: amount,
  modules: list(z.object({ slot: words, bytes: positive, type: words, speedMts: amount })),
  modulesHow: words,
  ecc,
});

const storage: z.ZodType<StorageFacts> = z.object({
  name: text,
  kind: wordOf(STORAGE_KINDS),
  model: words,
  bytes: amount,
});

const accelerator: z.ZodType<AcceleratorFacts> = z.object({
  model: words,
  memoryBytes: amount,
  ecc,
  maxMhz: amount,
  hostInterconnect: words,
  driver: words,
  how: words,
});

const nic: z.ZodType<NicFacts> = z.object({
  name: text,
  fabric: wordOf(FABRICS),
  backing: wordOf(BACKINGS),
  madeOf: list(text),
  driver: words,
  model: words,
  pciId: words,
  speedMbps: amount,
  duplex: words,
  mtu: amount,
  linkState: words,
  addresses: list(text),
  hasRdma: z.boolean(),
});

/** Form of {@link SystemFacts}, as it comes from a file or from another machine. */
export const systemFactsSchema: z.ZodType<SystemFacts> = z.object({
  hostname: words,
  bootId: words,
  enclosure,
  processor,
  memory,
  storage: list(storage),
  accelerators: list(accelerator),
  acceleratorsHow: words,
  software: z.object({
    operatingSystem: words,
    kernel: words,
    components: list(z.object({ name: text, version: text })),
  }),
  network: z.object({ congestionControl: words, interfaces: list(nic) }),
});
