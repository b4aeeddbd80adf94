import { type DetailLog, readDetailLog } from '../../run-folder/detail-log.ts';
import type { TreeListing } from './tree-listing.ts';

/** Reads a detail log from the file system. @throws MlperfError `ERR_OUTPUT` when it cannot be read. */
export type DetailLogReader = (path: string) => Promise<DetailLog>;

/** Logs above this size, in bytes, are not kept: those of whole runs are smaller. */
const KEPT_BYTES_MAX = 2 ** 20;

/** Detail logs of a tree. What several checks ask for is read once, unless it is so large that memory would tell. */
export class DetailLogs {
  readonly #listing: TreeListing;
  readonly #readLog: DetailLogReader;
  readonly #kept = new Map<string, Promise<DetailLog>>();

  constructor(listing: TreeListing, readLog: DetailLogReader = readDetailLog) {
    this.#listing = listing;
    this.#readLog = readLog;
  }

  /** @param file Path in the tree. @throws MlperfError `ERR_OUTPUT` when it cannot be read. */
  read(file: string): Promise<DetailLog> {
    const known = this.#kept.get(file);
    if (known !== undefined) return known;
    const log = this.#readLog(this.#listing.pathOf(file));
    if ((this.#listing.bytesOf(file) ?? 0) <= KEPT_BYTES_MAX) this.#kept.set(file, log);
    return log;
  }
}
