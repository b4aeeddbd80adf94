import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import type { LinkFacts } from './link-facts.ts';

/** What `longhaul system describe` read of the machines of a system: `NAME.facts.json` beside `NAME.json`. */
export interface FactsFile {
  /** Version of the form of the file. */
  readonly schemaVersion: 1;
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

/** Path of the facts of a description: `systems/a.json` → `systems/a.facts.json`. */
export function factsPathOf(descriptionPath: string): string {
  return `${descriptionPath.replace(/\.json$/i, '')}.facts.json`;
}

/** Name of a SUT node, or where it is. */
export function nameOf({ name, address }: Pick<SutNodeFacts, 'name' | 'address'>): string {
  return name ?? address;
}
