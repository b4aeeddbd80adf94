import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCodeOf, MlperfError, outputError } from '../../../shared/base/errors/mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/read-file.ts';
import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import type { RecordsAbout } from './arrow-schema.ts';
import type { RecordsWriter } from './records-writer.ts';
import {
  joinRecords,
  type PromptTokensOf,
  recordsOfSet,
  type SampleRecords,
} from './sample-records.ts';

/** The records of a completed run. */
export interface KeptRecords {
  /** Records of the requested parts; null if they could not be stored, or if there are none. */
  readonly records: SampleRecords | null;
  /** Rows of all parts in the file; null without a file. */
  readonly rowsInFile: number | null;
}

/**
 * Stores the records of a run's sets: in a file, read back at the end so that there are never two
 * copies in memory; or in memory if no file is requested. A disk failure costs the file, not the
 * run: the partial file is removed to make room for the logs, and the records stay in memory.
 */
export class RecordsKeeper {
  readonly #path: string | null;
  readonly #about: () => RecordsAbout;
  readonly #promptTokensOf: PromptTokensOf;
  #file: FileHandle | null;
  #writer: RecordsWriter | null = null;
  /** Records by part: of all sets, or of those after the disk failed. */
  readonly #inMemory: Map<number, SampleRecords> = new Map();
  #problem: MlperfError | null = null;

  private constructor(
    path: string | null,
    about: () => RecordsAbout,
    promptTokensOf: PromptTokensOf,
    file: FileHandle | null,
  ) {
    this.#path = path;
    this.#about = about;
    this.#promptTokensOf = promptTokensOf;
    this.#file = file;
  }

  /**
   * Opens the file, before anything is measured.
   * @param path Null: store in memory.
   * @param about Called at the first set, when the nodes' names are known.
   * @param promptTokensOf Called for each row while the samples of its set are loaded.
   * @throws MlperfError `ERR_OUTPUT`
   */
  static async open(
    path: string | null,
    about: () => RecordsAbout,
    promptTokensOf?: PromptTokensOf,
  ): Promise<RecordsKeeper> {
    if (path === null) return new RecordsKeeper(null, about, promptTokensOf, null);
    try {
      makeFolder(dirname(path));
    } catch {
      // Opening the logs fails next, with a better message.
      return new RecordsKeeper(null, about, promptTokensOf, null);
    }
    try {
      return new RecordsKeeper(path, about, promptTokensOf, await open(path, 'w'));
    } catch (error) {
      throw outputError(`cannot write the records ${path}`, error);
    }
  }

  /** Why a requested file is missing; null if it is not. */
  get problem(): MlperfError | null {
    return this.#problem;
  }

  /** Stores the records of a finished set. Never rejects because of the disk. */
  readonly keep = async (set: RecordedSet): Promise<void> => {
    if (this.#file !== null) {
      try {
        // Loaded here because it is slow and not needed before.
        const { RecordsWriter } = await import('./records-writer.ts');
        this.#writer ??= new RecordsWriter(this.#file, this.#about());
        await this.#writer.writeSet(set, this.#promptTokensOf);
        return;
      } catch (error) {
        this.#writer = null;
        await this.#close(error);
        this.#remove();
      }
    }
    this.#inMemory.set(set.part, recordsOfSet(set, this.#promptTokensOf));
  };

  /**
   * Completes the file.
   * @param parts Parts of the result.
   */
  async end(parts: readonly number[]): Promise<KeptRecords> {
    const rowsInFile = this.#writer?.rowCount ?? null;
    await this.#endFile();
    if (this.#path !== null && this.#writer !== null) {
      const records = await this.#readBack(this.#path, parts);
      return { records, rowsInFile: records === null ? null : rowsInFile };
    }
    const tables = parts.map((part) => this.#inMemory.get(part));
    const known = tables.filter((table) => table !== undefined);
    const isWhole = tables.length > 0 && known.length === tables.length;
    return { records: isWhole ? joinRecords(known) : null, rowsInFile: null };
  }

  /** Closes the file of a run that broke off. */
  async abandon(): Promise<void> {
    await this.#endFile();
  }

  async #readBack(path: string, parts: readonly number[]): Promise<SampleRecords | null> {
    const { RecordsReader } = await import('./records-reader.ts');
    try {
      const reader = await RecordsReader.open(path);
      try {
        return await reader.readAll(parts);
      } finally {
        await reader.close();
      }
    } catch (error) {
      if (!(error instanceof MlperfError)) throw error;
      this.#problem = error;
      return null;
    }
  }

  async #endFile(): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    try {
      await this.#writer?.end();
      await file.close();
      this.#file = null;
      // No set was timed: an empty file would look like a broken one.
      if (this.#writer === null) this.#remove();
    } catch (error) {
      // All rows are in the file, but not their index: it can be read like a truncated file.
      await this.#close(error);
    }
  }

  async #close(error: unknown): Promise<void> {
    if (errorCodeOf(error) === undefined) throw error;
    const file = this.#file;
    this.#file = null;
    this.#problem = outputError(`cannot write the records ${this.#path ?? ''}`, error);
    try {
      await file?.close();
    } catch {
      // Only the first error is reported.
    }
  }

  #remove(): void {
    if (this.#path === null) return;
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // If the file cannot be removed either, the first error already describes the disk's problem.
    }
  }
}
