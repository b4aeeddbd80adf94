import { dirname, isAbsolute, join } from 'node:path';
import { isMap, isNode, isSeq } from 'yaml';
import { z } from 'zod';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { inOurWords } from '../../../../shared/base/files/json-form.ts';
import { FILE_BYTES_MAX, readNamedText } from '../../../../shared/base/files/read-file.ts';
import { parseYaml } from '../../../../shared/base/files/yaml-text.ts';
import { meantHint, nearest } from '../../../../shared/base/text.ts';
import { ONLY_JUDGED, ROUNDS } from '../../../../shared/rules/rounds/rounds.ts';
import { GIVEN_TEST_IDS, TEST_IDS, type TestId } from '../../../../shared/rules/rows/model-row.ts';
import { parseRate } from '../../../samples/bandwidth-formulas.ts';
import { SUBMISSION_DIVISIONS } from '../../rules/submission-rounds.ts';

/** A parsed configuration file: values and their positions. */
export interface SubmissionConfig {
  readonly entry: SubmissionEntry;
  /** Path of a file named in the configuration; relative to the configuration's folder. */
  resolve(path: string): string;
  /**
   * `file:line:column` of a value's key, or of its nearest existing parent. @param path Below
   * `submission`
   */
  placeOf(path: YamlPath): string;
}

/**
 * Reads the configuration of `longhaul submission build`. Checks only its form.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, is not YAML), `ERR_CONFIG_INVALID`
 *   listing every wrong value, one per line.
 */
export function readSubmissionConfig(file: string): SubmissionConfig {
  const { document, problems, placeOf: placeAt } = parseYaml(file, readTextFile(file));
  if (problems.length > 0) throw new MlperfError('ERR_CONFIG_FILE', problems.join('\n'));
  const placeOf = (path: YamlPath): string => placeAt(offsetOf(document.contents, path));
  const value: unknown = document.toJS();
  const checked = submissionSchema.safeParse(value, { error: inOurWords });
  if (!checked.success) {
    const { issues } = checked.error;
    const lines = issues
      .filter((issue) => !(isMissing(issue, value) && isMisspelt(issue, issues)))
      .flatMap((issue) => linesOf(issue, value, placeOf));
    throw new MlperfError('ERR_CONFIG_INVALID', lines.join('\n'));
  }
  return {
    entry: checked.data.submission,
    resolve: (path) => (isAbsolute(path) ? path : join(dirname(file), path)),
    placeOf: (path) => placeOf(['submission', ...path]),
  };
}

/** Reads a text file named in the configuration. @throws MlperfError `ERR_CONFIG_FILE` */
export function readTextFile(path: string): string {
  return readNamedText(path, FILE_BYTES_MAX.document);
}

/** Position in the text of a path's last existing key. */
function offsetOf(root: unknown, path: YamlPath): number {
  let found = root;
  let inner = root;
  for (const key of path) {
    const pair = isMap(inner)
      ? inner.items.find((one) => String(one.key) === String(key))
      : undefined;
    const item = isSeq(inner) ? inner.items[Number(key)] : undefined;
    if (pair === undefined && item === undefined) break;
    found = pair?.key ?? item;
    inner = pair === undefined ? item : pair.value;
  }
  return isNode(found) ? (found.range?.[0] ?? 0) : 0;
}

function isMissing({ path }: z.core.$ZodIssue, value: unknown): boolean {
  const given = path.reduce<unknown>((one, key) => Object(one)[key], value);
  return path.length > 0 && given === undefined;
}

/** True if a key is missing because an unknown key beside it is meant: that one's line says so. */
function isMisspelt({ path }: z.core.$ZodIssue, issues: readonly z.core.$ZodIssue[]): boolean {
  const parent = path.slice(0, -1).join('.');
  return issues.some(
    (other) =>
      other.code === 'unrecognized_keys' &&
      other.path.join('.') === parent &&
      other.keys.some((key) => nearest(key, [String(path.at(-1))]) !== undefined),
  );
}

function linesOf(issue: z.core.$ZodIssue, value: unknown, placeOf: (path: YamlPath) => string) {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  const where = path.length === 0 ? 'the file' : path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const hints = issue.message.split('\n');
    return issue.keys.map(
      (key, i) => `${placeOf([...path, key])}: unknown key "${key}" in ${where}; ${hints[i]}`,
    );
  }
  if (issue.code === 'invalid_key') {
    const why = issue.issues[0]?.message ?? 'is wrong';
    return [`${placeOf(path)}: the name "${String(path.at(-1))}" ${why}`];
  }
  const missing = isMissing(issue, value) ? 'is missing: it ' : '';
  return [`${placeOf(path)}: ${where} ${missing}${issue.message}`];
}

/** Keys and indices that lead to a value: `['results', 0, 'scenario']`. */
type YamlPath = readonly (string | number)[];

/** Problems so far, as sets: a run used for three divisions lists each problem once. */
interface Found {
  readonly placeOf: (path: YamlPath) => string;
  /** True: problems of a result that is too short, or not good enough, become warnings. */
  readonly isDryRun: boolean;
  readonly errors: Set<string>;
  readonly warnings: Set<string>;
}

/** Errors that prevent a tree from being built, and warnings, at one place of the configuration. */
export class Problems {
  readonly #found: Found;
  readonly #path: YamlPath;

  private constructor(found: Found, path: YamlPath) {
    this.#found = found;
    this.#path = path;
  }

  /**
   * An empty collection. @param isDryRun True: problems of a result that is too short, or not good
   * enough, become warnings.
   */
  static none(placeOf: (path: YamlPath) => string, isDryRun: boolean): Problems {
    return new Problems({ placeOf, isDryRun, errors: new Set(), warnings: new Set() }, []);
  }

  get warnings(): readonly string[] {
    return [...this.#found.warnings];
  }

  /** The same collection, for a place below this one. */
  at(...path: YamlPath): Problems {
    return new Problems(this.#found, [...this.#path, ...path]);
  }

  error(text: string): void {
    this.#found.errors.add(`${this.#found.placeOf(this.#path)}: ${text}`);
  }

  /** Adds a problem that a dry-run tree may have. */
  unfinished(text: string): void {
    if (this.#found.isDryRun) this.warn(text);
    else this.error(`${text} (a tree to try things out: --dry-run-lengths)`);
  }

  warn(text: string): void {
    this.#found.warnings.add(`${this.#found.placeOf(this.#path)}: ${text}`);
  }

  /** Runs a reader; an MlperfError becomes a problem of this place. Other errors are rethrown. */
  async attempt<T>(read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof MlperfError)) throw error;
      this.error(error.message);
      return undefined;
    }
  }

  /** @throws MlperfError `ERR_CONFIG_INVALID` listing every error, one per line. */
  throwIfAny(): void {
    const { errors } = this.#found;
    if (errors.size > 0) throw new MlperfError('ERR_CONFIG_INVALID', [...errors].join('\n'));
  }
}

const TEXT_MESSAGE = 'must be a text that is not empty (a number needs quotes)';
const text = z.string(TEXT_MESSAGE).trim().min(1, TEXT_MESSAGE);

const NAME_MESSAGE =
  'must be a name of letters, digits and _ . + - that begins with a letter or a digit';
const name = z.string(NAME_MESSAGE).regex(/^[A-Za-z0-9][A-Za-z0-9_.+-]*$/, NAME_MESSAGE);

/** @param hints Extra text for specific wrong words. */
const words = <const T extends readonly string[]>(
  list: T,
  hints: Readonly<Record<string, string>> = {},
) =>
  z.enum(list, {
    error: ({ input }) =>
      [`must be one of: ${list.join(', ')}`, hints[String(input)]]
        .flatMap((text) => text ?? [])
        .join('; '),
  });

const object = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) => {
      const known = Object.keys(shape);
      // A line per key; the reader of the issue adds the key and its place.
      if (issue.code === 'unrecognized_keys') {
        return issue.keys.map((key) => meantHint(key, known)).join('\n');
      }
      return issue.code === 'invalid_type' ? `must be a map of: ${known.join(', ')}` : undefined;
    },
  });

const list = <T extends z.ZodType>(of: T, what: string) => z.array(of, `must be a list of ${what}`);

const named = <T extends z.ZodType>(of: T) =>
  z
    .record(name, of, 'must be a map: a name, then what it names')
    .refine((map) => Object.keys(map).length > 0, 'must name at least one');

const SHA256_MESSAGE = 'must be the 64 hexadecimal digits of a SHA-256, in quotes';

/** Weights of a model: a file, or where to get them. */
const weights = object({
  file: text.optional(),
  source: text.optional(),
  sha256: z
    .string(SHA256_MESSAGE)
    .regex(/^[0-9a-fA-F]{64}$/, SHA256_MESSAGE)
    .optional(),
  /** Size of weights given only by reference. */
  bytes: z.int('must be a number of bytes').positive('must be above 0').optional(),
})
  .refine(
    ({ file, source }) => file !== undefined || source !== undefined,
    'must have "file", "source" or both',
  )
  .refine(
    ({ file, sha256 }) => file !== undefined || sha256 !== undefined,
    'must have "sha256": weights that are not in the tree are known by it',
  );

/**
 * Ways to provide a software component, and the identifier of each. Source: submission_rules,
 * "Possible methods to provide Software".
 */
export const SOFTWARE_METHODS = {
  included: { title: 'source code or binary in this tree', by: 'its place in the tree' },
  github: { title: 'public GitHub repository', by: 'commit or tag' },
  'github-pr': {
    title: 'public GitHub repository and pull requests',
    by: 'commit or tag, numbers of the pull requests',
  },
  binary: { title: 'binary that can be had', by: 'name and version, or URL' },
  'private-source': {
    title: 'private source code',
    by: 'identifier in the internal source control',
  },
  'redacted-source': {
    title: 'partly redacted source code',
    by: 'identifier in the internal source control',
  },
  'private-binary': { title: 'private binary', by: 'checksum' },
} as const;

/** A software component of an implementation, as stated by the submitter. */
const software = object({
  name: text,
  version: text.optional(),
  method: words(Object.keys(SOFTWARE_METHODS) as (keyof typeof SOFTWARE_METHODS)[]),
  /** Identifier for the method: commit, tag, pull requests, URL or checksum. */
  identifier: text.optional(),
  /** For a binary: kind of release. */
  release: words(['production', 'beta', 'other']).optional(),
});

/** Code of one model. */
const implementation = object({
  code: list(text, 'paths').default([]),
  scripts: list(text, 'paths').default([]),
  run_commands: text.optional(),
  weights: list(weights, 'weights'),
  software: list(software, 'components').default([]),
  /** A text, inline or in a separate file. */
  calibration: object({ text: text.optional(), file: text.optional() }).refine(
    (entry) => (entry.text === undefined) !== (entry.file === undefined),
    'must have either "text" or "file"',
  ),
  starting_weights_filename: text,
  weight_data_types: text,
  weight_transformations: text,
  input_data_types: text,
  retraining: text,
  batching: text.optional(),
});

const RATE_MESSAGE = 'must be the rate of one link such as 100G, 25 Gbit/s or 800 Mbit/s';

/**
 * A link between two ends: `loadgen`, a component's id, a SUT node's name, or `sut` for every SUT
 * node.
 */
const link = object({
  from: name,
  to: name,
  media: text,
  /** Rate of one link. */
  rate: z.string(RATE_MESSAGE).refine((rate) => parseRate(rate) !== undefined, RATE_MESSAGE),
  /** Number of parallel links. */
  count: z.int('must be a number of links').positive('must be 1 or more').default(1),
});

/** Network of the machines, which only the submitter knows. */
const network = object({
  sut_nodes: list(name, 'names of the SUT nodes').min(1, 'must name at least one SUT node'),
  /** Devices between the LoadGen node and the SUT nodes that data passes through. */
  components: list(
    object({
      id: name,
      kind: words(['switch', 'router', 'load-balancer', 'access-point', 'other']),
      name: text,
    }),
    'components',
  ).default([]),
  links: list(link, 'links').min(1, 'must have at least one link'),
  notes: text.optional(),
});

/** A description file, and facts that no machine can report. */
const system = object({
  file: text,
  network: network.optional(),
  /** Data path from the NIC to the accelerator. */
  data_path: text.optional(),
  /** Specification or measurement showing that the path sustains the bandwidth. */
  data_path_evidence: text.optional(),
});

const scenario = words(['Server', 'Offline', 'SingleStream', 'MultiStream', 'Interactive']);
const division = words(SUBMISSION_DIVISIONS);
const TESTS = [...TEST_IDS, ...GIVEN_TEST_IDS];
const tests = object(
  Object.fromEntries(TESTS.map((test) => [test, text.optional()])) as Record<
    TestId,
    z.ZodOptional<typeof text>
  >,
);

/** Runs that form the result of a scenario. */
const result = object({
  division: division.optional(),
  divisions: list(division, 'divisions')
    .min(1, 'must name a division')
    .refine((all) => new Set(all).size === all.length, 'must not name a division twice')
    .optional(),
  system: name,
  implementation: name,
  /** Folder name of the model. */
  model: name,
  /** Open division: the round's model that `model` replaces. */
  reference_model: name.optional(),
  scenario,
  performance: text.optional(),
  accuracy: text.optional(),
  /** Folder with TESTnn folders, or one folder per test. */
  compliance: z
    .union([text, tests], 'must be a folder, or a map such as { TEST01: folder, TEST04: folder }')
    .optional(),
  /** Folders of the tests' raw logs, if they are not beside the tests as TESTnn-run. */
  compliance_runs: tests.optional(),
  /** Scenario of the measured result from which this one is inferred. */
  inferred_from: scenario.optional(),
  user_conf: text.optional(),
  batching: text.optional(),
})
  .refine(
    (entry) => (entry.division === undefined) !== (entry.divisions === undefined),
    'must have either "division" or "divisions"',
  )
  .refine(
    ({ inferred_from, performance, accuracy }) =>
      inferred_from === undefined
        ? performance !== undefined && accuracy !== undefined
        : performance === undefined && accuracy === undefined,
    'must have "performance" and "accuracy", or "inferred_from" and neither of them',
  )
  .transform(({ division: one, divisions, ...rest }) => ({
    ...rest,
    divisions: divisions ?? (one === undefined ? [] : [one]),
  }));

/** Schema of the configuration file of `longhaul submission build`; unknown keys are refused. */
const submissionSchema = object({
  submission: object({
    submitter: name,
    round: words(ROUNDS, ONLY_JUDGED).default('v4.1'),
    systems: named(system),
    implementations: named(implementation),
    results: list(result, 'results').min(1, 'must have at least one result'),
  }),
});

/** Value of the key `submission`. */
export type SubmissionEntry = z.infer<typeof submissionSchema>['submission'];
export type SoftwareEntry = z.infer<typeof software>;
export type WeightsEntry = z.infer<typeof weights>;
export type ImplementationEntry = z.infer<typeof implementation>;
export type NetworkEntry = z.infer<typeof network>;
export type SystemEntry = z.infer<typeof system>;
export type ResultEntry = z.infer<typeof result>;
