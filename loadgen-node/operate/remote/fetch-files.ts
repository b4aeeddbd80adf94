import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import type { ListedFile } from './agent/agent-words.ts';
import { ask, type HostSession, hostError } from './host-session.ts';

/** What was fetched. */
export interface Fetched {
  readonly files: number;
  readonly bytes: number;
}

/** Files of a folder of a host, with their digests. @throws MlperfError `ERR_HOST` when the folder is not there */
export async function listFolder(session: HostSession, path: string): Promise<ListedFile[]> {
  const events = await ask(session, { verb: 'list', path });
  return events.flatMap((event) => (event.event === 'files' ? event.files : []));
}

/**
 * Brings files of a host here and compares each with its digest there.
 * @throws MlperfError `ERR_HOST` when one is missing or another one, `ERR_OUTPUT`
 */
export async function fetchFiles(
  session: HostSession,
  path: string,
  files: readonly ListedFile[],
  target: string,
): Promise<Fetched> {
  if (files.length === 0) return { files: 0, bytes: 0 };
  const wanted = new Set(files.map((file) => file.path));
  try {
    mkdirSync(target, { recursive: true });
    const unpack = extract({
      cwd: target,
      filter: (name) => wanted.has(name.replace(/^\.\//, '')),
    });
    const unpacked = new Promise<void>((resolve, reject) => {
      unpack.once('close', resolve);
      unpack.once('error', reject);
    });
    // It is awaited below, after the transfer.
    unpacked.catch(() => {});
    const names = files.map((file) => file.path);
    const request = { verb: 'fetch', path, files: names } as const;
    const onOutput = (data: Buffer): void => void unpack.write(data);
    const end = await session.link.call(request, { onOutput }).ended;
    unpack.end();
    if (end.code !== 0) throw hostError(session.label, session.link.explain(end));
    await unpacked;
    for (const file of files) await compare(session, file, join(target, file.path));
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    throw new MlperfError('ERR_OUTPUT', `cannot write to ${target}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}

async function compare(
  { label }: HostSession,
  { path, bytes, sha256 }: ListedFile,
  local: string,
): Promise<void> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(local), hash);
  } catch (error) {
    throw new MlperfError('ERR_HOST', `${label}: ${path} did not arrive`, { cause: error });
  }
  if (statSync(local).size !== bytes || hash.digest('hex') !== sha256) {
    throw hostError(label, `${path} did not arrive as it is there (SHA-256)`);
  }
}
