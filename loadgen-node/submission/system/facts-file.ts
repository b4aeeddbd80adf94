import { z } from 'zod';
import { type SystemFacts, systemFactsSchema } from '../../../shared/host/system-facts.ts';
import { readJsonFile } from '../../loadgen/conformance/read-json-file.ts';

/** Version of the form of a facts file; another one is not read. */
export const FACTS_SCHEMA_VERSION = 1;

/** What `longhaul system describe` read of the machines of a system: `NAME.facts.json` beside `NAME.json`. */
export interface FactsFile {
  readonly schemaVersion: typeof FACTS_SCHEMA_VERSION;
  /** Version of longhaul that wrote the file. */
  readonly longhaulVersion: string;
  /** The machine on which the command ran: the LoadGen node, or with `--local` the only one. */
  readonly loadgen: GatheredFacts;
  /** The SUT nodes in the order of `--sut`; none with `--local`. */
  readonly sutNodes: readonly SutNodeFacts[];
}

/** Facts of a machine and when they were read. */
export interface GatheredFacts {
  /** ISO 8601, by the clock of that machine. */
  readonly gatheredAt: string;
  readonly facts: SystemFacts;
}

/** What is known of one SUT node. */
export interface SutNodeFacts {
  /** `host:port` as the LoadGen node reaches it. */
  readonly address: string;
  /** Its answer to Name; null where it told none beside its facts. */
  readonly name: string | null;
  /** Null where the node told none. */
  readonly gathered: GatheredFacts | null;
  /** Why there are no facts, in words; null where there are. */
  readonly whyMissing: string | null;
  readonly link: LinkFacts;
}

/** The link from the LoadGen node to one SUT node, as far as the two machines can see it. */
export interface LinkFacts {
  /** IP addresses of a connection's two ends, without ports; null where none came about. */
  readonly localAddress: string | null;
  readonly remoteAddress: string | null;
  /** The end at the LoadGen node. */
  readonly loadgen: LinkEnd;
  /** The end at the SUT node; nothing is known of it where an address is translated on the way. */
  readonly sut: LinkEnd;
  /** TCP connections that carry queries to this node, by the settings of the QDL. */
  readonly dataConnections: number;
  /** TCP connections beside them: Name, Ready, Describe. */
  readonly controlConnections: number;
  /** True where both ends are one machine (equal boot id, or a loopback address); null where it is unknown. */
  readonly isSameMachine: boolean | null;
}

/** One end of a link; nothing where the link stays within one machine. */
export interface LinkEnd {
  /** The interface that has the address; null where none has. */
  readonly interface: string | null;
  /** The cards behind it: itself, or what a bond, bridge or VLAN is made of; none where it is software only. */
  readonly nics: readonly string[];
  /** Of the interface, in 10^6 bit/s; null where the kernel tells none. */
  readonly speedMbps: number | null;
}

const linkEnd: z.ZodType<LinkEnd> = z.object({
  interface: z.string().nullable(),
  nics: z.array(z.string()),
  speedMbps: z.number().positive().nullable(),
});

const gathered: z.ZodType<GatheredFacts> = z.object({
  gatheredAt: z.iso.datetime(),
  facts: systemFactsSchema,
});

const factsFileSchema: z.ZodType<FactsFile> = z.object({
  schemaVersion: z.literal(
    FACTS_SCHEMA_VERSION,
    `must be ${FACTS_SCHEMA_VERSION}: gather the facts again with this version of longhaul`,
  ),
  longhaulVersion: z.string(),
  loadgen: gathered,
  sutNodes: z.array(
    z.object({
      address: z.string(),
      name: z.string().nullable(),
      gathered: gathered.nullable(),
      whyMissing: z.string().nullable(),
      link: z.object({
        localAddress: z.string().nullable(),
        remoteAddress: z.string().nullable(),
        loadgen: linkEnd,
        sut: linkEnd,
        dataConnections: z.int().positive(),
        controlConnections: z.int().min(0),
        isSameMachine: z.boolean().nullable(),
      }),
    }),
  ),
});

/** Path of the facts of a description: `systems/a.json` → `systems/a.facts.json`. */
export function factsPathOf(descriptionPath: string): string {
  return `${descriptionPath.replace(/\.json$/i, '')}.facts.json`;
}

/**
 * Reads the facts beside a description.
 * @throws MlperfError `ERR_CONFIG_FILE` (missing, not JSON), `ERR_CONFIG_INVALID` (damaged, other version)
 */
export function readFactsFile(path: string): FactsFile {
  return readJsonFile(path, factsFileSchema);
}
