import { type ReadDetailLog, readDetailLog } from '../../../loadgen/logs/read/detail-log.ts';
import type { TreeListing } from './tree-listing.ts';

/** Reads a detail log from the file system. @throws MlperfError `ERR_OUTPUT` when it cannot be read. */
export type DetailLogReader = (path: string) => Promise<ReadDetailLog>;

/** Logs with more characters of records than this are not kept: those of whole runs have fewer. */
const KEPT_CHARACTERS_MAX = 2 ** 20;

/** Detail logs of a tree. What several checks ask for is read once, unless keeping it would take much memory. */
export class DetailLogs {
  readonly #listing: TreeListing;
  readonly #readLog: DetailLogReader;
  readonly #kept = new Map<string, Promise<ReadDetailLog>>();

  constructor(listing: TreeListing, readLog: DetailLogReader = readDetailLog) {
    this.#listing = listing;
    this.#readLog = readLog;
  }

  /** @param file Path in the tree. @throws MlperfError `ERR_OUTPUT` when it cannot be read. */
  read(file: string): Promise<ReadDetailLog> {
    const known = this.#kept.get(file);
    if (known !== undefined) return known;
    const log = this.#readLog(this.#listing.pathOf(file));
    this.#kept.set(file, log);
    // Whoever awaits the log is told of an error; the next one is told the same.
    log.then(
      ({ recordCharacters }) => {
        if (recordCharacters > KEPT_CHARACTERS_MAX) this.#kept.delete(file);
      },
      () => {},
    );
    return log;
  }
}
