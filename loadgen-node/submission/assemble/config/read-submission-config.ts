import { dirname, isAbsolute, join } from 'node:path';
import { isMap, isNode, isSeq } from 'yaml';
import type { z } from 'zod';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readNamedText } from '../../../../shared/base/files/read-file.ts';
import { parseYaml } from '../../../../shared/base/text/yaml-text.ts';
import { type SubmissionEntry, submissionSchema } from './config-schema.ts';

/** A configuration file that was read: its values, and where they stand. */
export interface SubmissionConfig {
  readonly entry: SubmissionEntry;
  /** Path of a file that the configuration names: relative ones lie beside it. */
  resolve(path: string): string;
  /** `file:line:column` of a value's key, or of the nearest thing around it that is there. @param path Below `submission` */
  placeOf(path: YamlPath): string;
}

/**
 * Reads the configuration of `longhaul submission build`. Only its form is checked here.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, is not YAML), `ERR_CONFIG_INVALID` with every
 * wrong value, one per line.
 */
export function readSubmissionConfig(file: string): SubmissionConfig {
  const { document, problems, placeOf: placeAt } = parseYaml(file, readTextFile(file));
  if (problems.length > 0) throw new MlperfError('ERR_CONFIG_FILE', problems.join('\n'));
  const placeOf = (path: YamlPath): string => placeAt(offsetOf(document.contents, path));
  const value: unknown = document.toJS();
  const checked = submissionSchema.safeParse(value);
  if (!checked.success) {
    const lines = checked.error.issues.flatMap((issue) => linesOf(issue, value, placeOf));
    throw new MlperfError('ERR_CONFIG_INVALID', lines.join('\n'));
  }
  return {
    entry: checked.data.submission,
    resolve: (path) => (isAbsolute(path) ? path : join(dirname(file), path)),
    placeOf: (path) => placeOf(['submission', ...path]),
  };
}

/** Reads a text that the configuration names. @throws MlperfError `ERR_CONFIG_FILE` */
export function readTextFile(path: string): string {
  return readNamedText(path, FILE_BYTES_MAX.document);
}

/** Where the last key of a path stands in the text, or the last that is there. */
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

function linesOf(
  issue: z.core.$ZodIssue,
  value: unknown,
  placeOf: (path: YamlPath) => string,
): string[] {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  const where = path.length === 0 ? 'the file' : path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${placeOf([...path, key])}: unknown key "${key}" in ${where}`);
  }
  if (issue.code === 'invalid_key') {
    const why = issue.issues[0]?.message ?? 'is wrong';
    return [`${placeOf(path)}: the name "${String(path.at(-1))}" ${why}`];
  }
  const given = path.reduce<unknown>((one, key) => Object(one)[key], value);
  const isMissing = path.length > 0 && given === undefined;
  return [`${placeOf(path)}: ${where} ${isMissing ? 'is missing: it ' : ''}${issue.message}`];
}

/** Keys and positions that lead to a value: `['results', 0, 'scenario']`. */
type YamlPath = readonly (string | number)[];

/** Where problems are gathered: a problem of a run that is the result of three divisions is told once. */
interface Found {
  readonly placeOf: (path: YamlPath) => string;
  /** Problems of a result that is too short, or not good enough, become warnings. */
  readonly isDryRun: boolean;
  readonly errors: Set<string>;
  readonly warnings: Set<string>;
}

/** What keeps a tree from being built, all of it, and what the submitter should know besides; of one place and below it. */
export class Problems {
  readonly #found: Found;
  readonly #path: YamlPath;

  private constructor(found: Found, path: YamlPath) {
    this.#found = found;
    this.#path = path;
  }

  /** No problems yet. @param isDryRun Problems of a result that is too short, or not good enough, become warnings. */
  static none(placeOf: (path: YamlPath) => string, isDryRun: boolean): Problems {
    return new Problems({ placeOf, isDryRun, errors: new Set(), warnings: new Set() }, []);
  }

  get warnings(): readonly string[] {
    return [...this.#found.warnings];
  }

  /** The same problems, for a place below this one. */
  at(...path: YamlPath): Problems {
    return new Problems(this.#found, [...this.#path, ...path]);
  }

  error(text: string): void {
    this.#found.errors.add(`${this.#found.placeOf(this.#path)}: ${text}`);
  }

  /** Something that a tree for trying things out may lack. */
  unfinished(text: string): void {
    if (this.#found.isDryRun) this.warn(text);
    else this.error(`${text} (a tree to try things out: --dry-run-lengths)`);
  }

  warn(text: string): void {
    this.#found.warnings.add(`${this.#found.placeOf(this.#path)}: ${text}`);
  }

  /** Runs a reader; what it refuses is a problem of this place. Other errors pass. */
  async attempt<T>(read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof MlperfError)) throw error;
      this.error(error.message);
      return undefined;
    }
  }

  /** @throws MlperfError `ERR_CONFIG_INVALID` with every error, one per line. */
  throwIfAny(): void {
    const { errors } = this.#found;
    if (errors.size > 0) throw new MlperfError('ERR_CONFIG_INVALID', [...errors].join('\n'));
  }
}
