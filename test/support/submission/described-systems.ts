import {
  type FactsFile,
  linkFacts,
  type SutNodeFacts,
} from '../../../loadgen-node/submission/system/facts-file.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';

const GATHERED_AT = '2026-01-31T12:00:00.000Z';

/** A SUT node as `system describe` knows it after asking. */
export interface AskedNode {
  readonly name: string;
  /** Null: it told nothing. */
  readonly facts: SystemFacts | null;
  readonly localAddress?: string | null;
  readonly remoteAddress?: string | null;
  readonly dataConnections?: number;
}

/** What the command would have gathered of these machines. */
export function factsFile(loadgen: SystemFacts, nodes: readonly AskedNode[]): FactsFile {
  return {
    schemaVersion: 1,
    longhaulVersion: '0.1.0',
    loadgen: { gatheredAt: GATHERED_AT, facts: loadgen },
    sutNodes: nodes.map((node): SutNodeFacts => {
      const { name, facts, localAddress = null, remoteAddress = null, dataConnections = 1 } = node;
      const connection = { localAddress, remoteAddress, dataConnections };
      return {
        address: `${name}:50051`,
        name,
        gathered: facts === null ? null : { gatheredAt: GATHERED_AT, facts },
        whyMissing: facts === null ? 'it does not want to' : null,
        link: linkFacts(connection, loadgen, facts),
      };
    }),
  };
}
