/** One of the packages that a release makes, and where what it holds begins. */
export interface Role {
  /** Name of the package. */
  readonly name: string;
  /** `description` of its package.json. */
  readonly about: string;
  /** Verbs that its command line has: what they reach is in the package, and nothing else. */
  readonly verbs: readonly string[] | 'all';
  /** `import ... from 'NAME'` works, with types (docs/api.md). */
  readonly isLibrary: boolean;
  /** Page in this folder that becomes the package's README.md; undefined: the project's own. */
  readonly readme: string | undefined;
  /** Which files beside the compiled ones: all that npm packs of a clone, or the pages that its help names. */
  readonly pages: 'all' | 'named';
  /** Packages that an installation goes on without when they cannot be installed. */
  readonly optional: readonly string[];
  /** Packages that are not installed with it; a user may add them. Only what is loaded when it is needed can be here. */
  readonly leftOut: readonly string[];
  /** Beginnings of files, and names of packages, that may not come in by an import that somebody adds. */
  readonly forbidden: readonly string[];
}

/**
 * Its install script needs a server that not every network reaches, and then npm installs nothing at all. Where it is
 * optional npm goes on without it, and the verb that needs it says in one line how it is installed.
 */
const ONNX_RUNTIME = 'onnxruntime-node';

/** The packages. A verb more in one of them is a word more here. */
export const ROLES: readonly Role[] = [
  {
    name: 'longhaul',
    about: 'MLPerf Inference Network division: a LoadGen node measures SUT nodes over gRPC',
    verbs: 'all',
    isLibrary: true,
    readme: undefined,
    pages: 'all',
    optional: [ONNX_RUNTIME],
    leftOut: [],
    forbidden: [],
  },
  {
    name: 'longhaul-loadgen',
    about: 'The LoadGen node of longhaul (MLPerf Inference Network division): without ONNX Runtime',
    verbs: 'all',
    isLibrary: true,
    readme: 'longhaul-loadgen.md',
    pages: 'all',
    optional: [],
    leftOut: [ONNX_RUNTIME],
    forbidden: [],
  },
  {
    name: 'longhaul-sut',
    about:
      'A SUT node of longhaul (MLPerf Inference Network division): serves ONNX models over gRPC',
    verbs: ['sut', 'prepare', 'config', 'health', 'self-check'],
    isLibrary: false,
    readme: 'longhaul-sut.md',
    pages: 'named',
    optional: [ONNX_RUNTIME],
    leftOut: [],
    forbidden: [
      'loadgen-node/loadgen/engine/',
      'loadgen-node/present/live/',
      'apache-arrow',
      'age-encryption',
      'tar',
    ],
  },
];
