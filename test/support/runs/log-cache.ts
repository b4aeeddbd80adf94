import { statSync } from 'node:fs';
import {
  type ReadDetailLog,
  readDetailLog,
} from '../../../loadgen-node/loadgen/logs/read/detail-log.ts';

/** A reader of detail logs for trees in which one file at a time is changed: a file that stayed as it was is read once. */
export function cachedLogReader(): (path: string) => Promise<ReadDetailLog> {
  const known = new Map<string, Promise<ReadDetailLog>>();
  return (path) => {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    const key = `${ino} ${size} ${mtimeNs}`;
    const log = known.get(key) ?? readDetailLog(path);
    known.set(key, log);
    // A copy of the file has a path of its own.
    return log.then((one) => ({ ...one, path }));
  };
}
