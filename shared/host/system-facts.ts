import { z } from 'zod';

/** One line of text: another machine may send anything. */
export const lineSchema = z
  .string()
  .max(1024)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');
const line = lineSchema;
const words = line.nullable();
const positive = z.number().positive();
const amount = positive.nullable();

/** One of a few words; null for one that only a later version knows. */
const wordOf = <const T extends readonly [string, ...string[]]>(list: T) =>
  z.enum(list).nullable().catch(null);

/** A machine has fewer of anything; a node that is not ours may say what it likes. */
const LIST_LENGTH_MAX = 4096;
const list = <T extends z.ZodType>(schema: T) => z.array(schema).max(LIST_LENGTH_MAX);

/** Kinds of disk as a system description names them. */
const STORAGE_KINDS = ['NVMe SSD', 'SSD', 'HDD', 'flash card', 'virtual disk'] as const;
/** Fabrics as `network_type` of a system description names them. */
const FABRICS = ['Ethernet', '802.11', 'InfiniBand', '3GPP'] as const;

/** Whether errors of a memory are corrected. */
const ecc = z.object({
  /** Null: it could not be read. */
  state: wordOf(['on', 'off']),
  /** Text that was read, and where; or why it could not be read. */
  how: words,
});

/** One network interface. */
const nic = z.object({
  name: line,
  fabric: wordOf(FABRICS),
  /**
   * `hardware`: a card; `hypervisor`: a card that a hypervisor makes, whose speed is what that says;
   * `software`: a bridge, a bond, a tunnel, one end of a container's link. Null: a kind that this version does not know.
   */
  backing: wordOf(['hardware', 'hypervisor', 'software']),
  /** Interfaces of the same machine that this one is made of (a bond, a bridge, a VLAN). */
  madeOf: list(line),
  driver: words,
  /** Maker and model by the list of PCI ids of the machine. */
  model: words,
  /** `vendor:device` on the PCI bus, hexadecimal. */
  pciId: words,
  /** Of the link as it is now, in 10^6 bit/s. */
  speedMbps: amount,
  duplex: words,
  mtu: amount,
  /** `up`, `down`, or what else the kernel says. */
  linkState: words,
  /**
   * IP addresses with their prefix length: `10.0.0.2/24`. Without IPv6 addresses of the link alone; of those that hold
   * the MAC address only the prefix is told.
   */
  addresses: list(line),
  /** Whether the device also offers RDMA to the kernel. */
  hasRdma: z.boolean(),
});

/** Form of {@link SystemFacts}, as it comes from a file or from another machine. */
export const systemFactsSchema = z.object({
  hostname: words,
  /** Changes at every start of the machine. Equal on two sides of a link: one machine. */
  bootId: words,
  /** Where the facts were read: hardware, a virtual machine, a container. */
  enclosure: z.object({
    /** Maker and product as the firmware tells them; in a virtual machine those of the hypervisor. */
    vendor: words,
    product: words,
    /** Kind of virtual machine (`KVM`), or `unknown hypervisor`; null where no sign of one was found. */
    virtualMachine: words,
    /** The sign that showed it. */
    virtualMachineHow: words,
    /** Kind of container (`docker`), or `unknown container`; null where no sign of one was found. */
    container: words,
    containerHow: words,
    /** Limits of the container; null where it has no limit. */
    cpuLimit: amount,
    memoryLimitBytes: amount,
  }),
  /** All processors together. */
  processor: z.object({
    model: words,
    /** As Node.js names it: `x64`, `arm64`. */
    architecture: words,
    sockets: amount,
    /** Cores and hardware threads of all sockets together. */
    cores: amount,
    threads: amount,
    numaNodes: amount,
    baseMhz: amount,
    maxMhz: amount,
    /** From which file or text the frequencies are. */
    frequencyHow: words,
    /** One per kind (`L1d`, `L1i`, `L2`, `L3`): bytes of one, how many there are, hardware threads that share one. */
    caches: list(
      z.object({ name: line, bytes: positive, count: positive, sharedByThreads: positive }),
    ),
  }),
  /** The memory of the host processors. */
  memory: z.object({
    /** Memory that the kernel has: less than what is installed. */
    totalBytes: amount,
    /** `slot` as the firmware or the kernel names it, `type` such as `DDR5`, the configured speed in 10^6 transfers/s. */
    modules: list(z.object({ slot: words, bytes: positive, type: words, speedMts: amount })),
    /** Where the modules were read. */
    modulesHow: words,
    ecc,
  }),
  /** Disks; without those that can be removed and those that are only made of others. */
  storage: list(z.object({ name: line, kind: wordOf(STORAGE_KINDS), model: words, bytes: amount })),
  accelerators: list(
    z.object({
      model: words,
      memoryBytes: amount,
      ecc,
      maxMhz: amount,
      /** For example `PCIe 5.0 x16`. */
      hostInterconnect: words,
      /** Version of its driver. */
      driver: words,
      /** Where it was read. */
      how: words,
    }),
  ),
  /** Where accelerators were searched; null: there is no such place, so an empty list does not prove that there are none. */
  acceleratorsHow: words,
  software: z.object({
    /** For example `Debian GNU/Linux 12 (bookworm)`; inside a container that of the image. */
    operatingSystem: words,
    /** For example `Linux 6.1.0-18-amd64`; inside a container that of the machine. */
    kernel: words,
    /** longhaul itself, Node.js and the packages that matter to a measurement. */
    components: list(z.object({ name: line, version: line })),
  }),
  network: z.object({
    /** For example `cubic`. */
    congestionControl: words,
    /** Without loopback. */
    interfaces: list(nic),
  }),
});

/**
 * Facts of one machine that could be read without root and without other programs. Null: unreadable, never a
 * guess. There is no MAC address and no serial number in it.
 */
export type SystemFacts = z.infer<typeof systemFactsSchema>;
export type NicFacts = z.infer<typeof nic>;
export type EccFacts = z.infer<typeof ecc>;
export type MemoryModuleFacts = SystemFacts['memory']['modules'][number];
export type AcceleratorFacts = SystemFacts['accelerators'][number];
