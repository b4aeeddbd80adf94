import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';

/** Keys and positions that lead to a value: `['results', 0, 'scenario']`. */
export type YamlPath = readonly (string | number)[];

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
