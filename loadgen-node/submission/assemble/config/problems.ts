import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import type { YamlPath } from './placed-yaml.ts';

/** What keeps a tree from being built, all of it, and what the submitter should know besides. */
export class Problems {
  readonly #placeOf: (path: YamlPath) => string;
  readonly #isDryRun: boolean;
  readonly #errors: string[] = [];
  readonly #warnings: string[] = [];

  /** @param isDryRun Problems of a result that is too short, or not good enough, become warnings. */
  constructor(placeOf: (path: YamlPath) => string, isDryRun: boolean) {
    this.#placeOf = placeOf;
    this.#isDryRun = isDryRun;
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  error(path: YamlPath, text: string): void {
    push(this.#errors, `${this.#placeOf(path)}: ${text}`);
  }

  /** Something that a tree for trying things out may lack. */
  unfinished(path: YamlPath, text: string): void {
    if (this.#isDryRun) this.warn(path, text);
    else this.error(path, `${text} (a tree to try things out: --dry-run-lengths)`);
  }

  warn(path: YamlPath, text: string): void {
    push(this.#warnings, `${this.#placeOf(path)}: ${text}`);
  }

  /** Runs a reader; what it refuses is a problem of this place. Other errors pass. */
  async attempt<T>(path: YamlPath, read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof MlperfError)) throw error;
      this.error(path, error.message);
      return undefined;
    }
  }

  /** @throws MlperfError `ERR_CONFIG_INVALID` with every error, one per line. */
  throwIfAny(): void {
    if (this.#errors.length > 0) {
      throw new MlperfError('ERR_CONFIG_INVALID', this.#errors.join('\n'));
    }
  }
}

/** A problem of a run that is the result of three divisions is told once. */
function push(list: string[], text: string): void {
  if (!list.includes(text)) list.push(text);
}
