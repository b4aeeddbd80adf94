import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { list } from 'tar';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../../shared/base/errors/to-mlperf-error.ts';

/** What a package.json says that matters here. */
export interface PackageDocument {
  readonly name: string;
  readonly version: string;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A file of this machine, to be compared with what arrives. */
export interface LocalFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A packed longhaul. */
export interface Tarball extends LocalFile {
  readonly document: PackageDocument;
}

/** @throws MlperfError `ERR_CONFIG_INVALID` when it is no package of longhaul */
export async function readTarball(path: string): Promise<Tarball> {
  const file = await describeFile(path);
  let text = '';
  try {
    await list({
      file: path,
      onReadEntry: (entry) => {
        if (entry.path === 'package/package.json') {
          entry.on('data', (data: Buffer) => {
            text += data.toString();
          });
        }
      },
    });
    const document = JSON.parse(text) as PackageDocument;
    mainOf(document);
    return { ...file, document };
  } catch (error) {
    const message = `${path} is no package of longhaul: make one by "npm pack"`;
    throw new MlperfError('ERR_CONFIG_INVALID', message, { cause: error });
  }
}

/** @throws MlperfError `ERR_CONFIG_INVALID` when it cannot be read */
export async function describeFile(path: string): Promise<LocalFile> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
    return { path, bytes: statSync(path).size, sha256: hash.digest('hex') };
  } catch (error) {
    const why = describeSystemError(error);
    throw new MlperfError('ERR_CONFIG_INVALID', `package ${path} cannot be read: ${why}`, {
      cause: error,
    });
  }
}

/** File of the program `longhaul` in a package. @throws Error when there is none */
export function mainOf({ bin }: PackageDocument): string {
  const main = typeof bin === 'string' ? bin : bin?.['longhaul'];
  if (main === undefined) throw new Error('no program longhaul');
  return main;
}
