import {
  composeDescription,
  type DescriptionParts,
  type MergeValues,
  type SystemDescription,
} from '../../../loadgen-node/submission/system/compose-description.ts';
import {
  type FactsFile,
  linkFacts,
  type SutNodeFacts,
} from '../../../loadgen-node/submission/system/facts-file.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import { gatherSystemFacts } from '../../../shared/host/system-facts.ts';
import { suiteFolder } from './folders.ts';
import { containerTree, laptopTree, plantMachine, serverTree } from './machines.ts';

const GATHERED_AT = '2026-01-31T12:00:00.000Z';

/** A SUT node as `submission system describe` knows it after asking. */
interface AskedNode {
  readonly name: string;
  /** Null: the node withholds them. */
  readonly facts: SystemFacts | null;
  readonly localAddress?: string | null;
  readonly remoteAddress?: string | null;
  readonly dataConnections?: number;
}

/** Facts file that `submission system describe` writes for these machines. */
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

const components = [
  { name: 'longhaul', version: '0.1.0' },
  { name: 'node', version: '20.20.2' },
  { name: '@grpc/grpc-js', version: '1.14.7' },
  { name: 'onnxruntime-node', version: '1.30.0' },
];
const sources = [serverTree(), laptopTree(), containerTree(), { files: {} }].map((tree) =>
  plantMachine(tree, suiteFolder()),
);
const facts = await Promise.all(sources.map((source) => gatherSystemFacts(source, components)));

/** A bonded server, a laptop, a container, and a machine without readable files. */
export const [server, laptop, container, nothing] = facts as [
  SystemFacts,
  SystemFacts,
  SystemFacts,
  SystemFacts,
];

const NO_MERGE: MergeValues = { values: {}, places: {}, unknown: [], problems: [] };

/** The server again as another machine: other boot, other addresses, perhaps other facts. */
export function twin(octet: number, changes: Partial<SystemFacts> = {}): SystemFacts {
  const interfaces = server.network.interfaces.map((nic) =>
    nic.name === 'bond0' ? { ...nic, addresses: [`10.0.0.${octet}/24`] } : nic,
  );
  const network = { ...server.network, interfaces };
  return { ...server, hostname: `node-${octet}`, bootId: `boot-${octet}`, network, ...changes };
}

/** The twin as a SUT node of the server. */
export const node = (octet: number, changes: Partial<SystemFacts> = {}): AskedNode => ({
  name: `sut-${octet}`,
  facts: twin(octet, changes),
  localAddress: '10.0.0.2',
  remoteAddress: `10.0.0.${octet}`,
});

/** Description of a system of the LoadGen node and these SUT nodes. */
export function describeSystem(
  loadgen: SystemFacts,
  nodes: readonly AskedNode[],
  changes: Partial<DescriptionParts> = {},
): SystemDescription {
  return composeDescription({
    division: nodes.length === 0 ? 'closed' : 'network',
    suite: 'datacenter',
    facts: factsFile(loadgen, nodes),
    session: { isTls: false },
    said: {},
    merged: NO_MERGE,
    ...changes,
  });
}

/** Fields that are still to be filled in. */
export const openKeys = (description: SystemDescription): string[] =>
  Object.keys(description).filter((key) => description[key]?.startsWith('TODO'));
