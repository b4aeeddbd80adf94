import { readdirSync } from 'node:fs';

/** Name of the folder that the files directly in a package are. */
export const ROOT = '.';

/** Folders whose own folders each have a layer. */
export const SORTED_FOLDERS: readonly string[] = ['qdl/protocols'];

/** Folders of a folder of protocols that hold one: its value stands in `NAME-protocol.ts`. */
export function protocolFolders(of: string): string[] {
  const folders = readdirSync(of, { withFileTypes: true }).filter((one) => one.isDirectory());
  const files = new Set(readdirSync(of, { recursive: true, encoding: 'utf8' }));
  return folders.map(({ name }) => name).filter((name) => files.has(`${name}/${name}-protocol.ts`));
}

const PROTOCOL_FOLDERS = protocolFolders('qdl/protocols');

/**
 * Folders of each package, from the bottom layer to the top: a folder imports from lower layers
 * only. Folders in one row share a layer and do not import each other. A folder that is missing
 * here is refused.
 */
const LAYERS: Layers = {
  proto: [['descriptor', 'gen', 'inference', 'mlperf']],
  shared: [
    ['base'],
    ['domain'],
    ['rules'],
    ['config'],
    ['http2'],
    ['wire'],
    ['compression'],
    ['host'],
    ['evidence'],
    ['security'],
    ['benchmarks'],
  ],
  qdl: [
    ['settings'],
    ['connect'],
    ['http2'],
    ['dispatch'],
    ['protocols/tensors'],
    PROTOCOL_FOLDERS.map((name) => `protocols/${name}`),
    ['protocols'],
    [ROOT],
  ],
  'loadgen-node': [
    ['loadgen'],
    ['samples'],
    ['observe'],
    ['present'],
    ['official'],
    ['run'],
    ['search'],
    ['submission'],
    ['operate'],
    ['api'],
    ['cli'],
    [ROOT],
  ],
  'sut-node': [
    ['settings'],
    ['model'],
    ['pipeline'],
    ['benchmarks'],
    ['inference'],
    ['server'],
    ['operations'],
    ['in-process'],
    [ROOT],
  ],
};

/** Folders of loadgen-node that may import `qdl/index.ts`. */
const MAY_IMPORT_QDL: readonly string[] = ['run', 'operate', 'api'];

/** Packages that a package may import. */
const PACKAGES: Lists = {
  proto: [],
  shared: ['proto'],
  qdl: ['proto', 'shared'],
  'loadgen-node': ['proto', 'shared', 'qdl'],
  'sut-node': ['proto', 'shared'],
};

/** Names of protocols that no code asks for; that of longhaul's own is the program's. */
const PROTOCOLS: readonly string[] = PROTOCOL_FOLDERS.filter((name) => name !== 'native');

/** Words with a protocol's name in them that any file may use, with the reason. */
const PROTOCOL_WORDS: Reasons = {
  OipTensor: 'a data format: tensors and their types as the standard names them',
  OipDataType: 'a data format, as OipTensor',
  OIP_ELEMENT_BYTES: 'a data format, as OipTensor',
  isOipDataType: 'a data format, as OipTensor',
  OipModelRef: 'form of what servers report (shared/wire/oip)',
  OipModelFacts: 'form of what servers report (shared/wire/oip)',
  OipServerFacts: 'form of what servers report (shared/wire/oip)',
};

/** Files and folders (with a slash) that may name a protocol, with the reason. */
const PROTOCOL_PLACES: Reasons = {
  ...Object.fromEntries(PROTOCOLS.map((name) => [`qdl/protocols/${name}/`, 'its own folder'])),
  'shared/wire/oip/': 'its messages',
  'sut-node/': 'a SUT node is a server of it',
  'qdl/protocols/index.ts': 'the list of protocols',
  'shared/config/flag-names.ts': 'names of flags',
  'loadgen-node/api/create-qdl.ts': 'names of options of the library',
};

/** Names that several folders may export, with the reason. */
const SAME_NAMES: Reasons = {
  benchmark: 'each module of a benchmark is loaded by its path, and exports this name',
};

/** Folders with more than `filesAdvised` files, with the reason. */
const FULL_FOLDERS: Reasons = {
  'loadgen-node/cli': 'a file for each verb',
};

/** Verb files that may be longer than `verbLinesMax`, with the reason. */
const LONG_VERBS: Reasons = {};

export type Layers = Readonly<Record<string, readonly (readonly string[])[]>>;
type Lists = Readonly<Record<string, readonly string[]>>;
type Reasons = Readonly<Record<string, string>>;

export interface HouseRules {
  readonly layers: Layers;
  readonly mayImportQdl: readonly string[];
  readonly packages: Lists;
  readonly sameNames: Reasons;
  readonly protocols: readonly string[];
  readonly protocolWords: Reasons;
  readonly protocolPlaces: Reasons;
  /** Files of a package's entry: what they export again is no second export. */
  readonly entries: readonly string[];
  readonly fullFolders: Reasons;
  /** More files of a folder are told, with their reason. */
  readonly filesAdvised: number;
  /** Folders of generated or recorded files, which are not counted. */
  readonly uncounted: readonly string[];
  readonly longVerbs: Reasons;
  readonly verbLinesMax: number;
  /** Files of the command line that are no verb. */
  readonly notVerbs: readonly string[];
}

export const HOUSE_RULES: HouseRules = {
  layers: LAYERS,
  mayImportQdl: MAY_IMPORT_QDL,
  packages: PACKAGES,
  sameNames: SAME_NAMES,
  protocols: PROTOCOLS,
  protocolWords: PROTOCOL_WORDS,
  protocolPlaces: PROTOCOL_PLACES,
  entries: ['qdl/index.ts', 'qdl/protocols/index.ts', 'loadgen-node/index.ts'],
  fullFolders: FULL_FOLDERS,
  filesAdvised: 25,
  uncounted: ['proto/gen', 'test/golden'],
  longVerbs: LONG_VERBS,
  verbLinesMax: 80,
  notVerbs: [
    'loadgen-node/cli/command-line.ts',
    'loadgen-node/cli/verb.ts',
    'loadgen-node/cli/verbs.ts',
  ],
};
