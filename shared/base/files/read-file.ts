import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import {
  configFileError,
  configInvalid,
  errorCodeOf,
  MlperfError,
  messageOf,
  outputError,
  withReason,
} from '../errors/mlperf-error.ts';
import { withoutByteOrderMark } from '../text.ts';
import { checkedForm } from './json-form.ts';

/** Largest size in bytes of a file named by a setting, by kind of file. */
export const FILE_BYTES_MAX: Readonly<
  Record<'secret' | 'settings' | 'pem' | 'document' | 'list', number>
> = {
  /** A token or a password: one line. */
  secret: 2 ** 16,
  /** Settings, inventories and descriptions that a person writes: some pages. */
  settings: 2 ** 20,
  /** Certificates and keys: all authorities of a system are about 0.3 MB. */
  pem: 2 ** 22,
  /** Files written by longhaul, and texts that a submission copies. */
  document: 2 ** 26,
  /** A list with one line per sample of a data set. */
  list: 2 ** 28,
};

/** Longest wait for the writer of a pipe, and for all its bytes. */
const WRITER_WAIT_MS = 1_000;
const PIPE_MS_MAX = 10_000;
const POLL_MS = 10;

const CHUNK_BYTES: number = 64 * 1024;

/**
 * Contents of pipes, by inode: a verb may read its file again, but a pipe delivers its bytes once.
 */
const piped = new Map<number, Buffer>();

/**
 * Reads a file named by a setting, up to a limit. A pipe, such as the shell's `<(...)`, is read
 * like a file, with bounded waits, so an endless pipe cannot block the program.
 * @param bytesMax One of {@link FILE_BYTES_MAX}.
 * @throws Error with a text to follow "cannot read FILE: ", or a system error: see
 * describeSystemError.
 */
export function readBounded(path: string, bytesMax: number): Buffer {
  // Opening a pipe without a writer would never return.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (stat.isFile() && stat.size > bytesMax) throw tooLarge(bytesMax);
    if (stat.isFile()) return readAll(() => readNext(file), bytesMax);
    const isPipe = stat.isFIFO();
    const content = piped.get(stat.ino) ?? readAll(patientReader(file, isPipe), bytesMax);
    if (isPipe) piped.set(stat.ino, content);
    return content;
  } finally {
    closeSync(file);
  }
}

/** {@link readBounded} as UTF-8 text, without its byte order mark. */
export function readBoundedText(path: string, bytesMax: number): string {
  const bytes = readBounded(path, bytesMax);
  const mark = bytes.toString('latin1', 0, 2);
  if (mark === '\xff\xfe' || mark === '\xfe\xff') {
    throw new Error('it is UTF-16 text: save it as UTF-8');
  }
  return withoutByteOrderMark(bytes.toString('utf8'));
}

/**
 * {@link readBoundedText} with a full message. @param what Kind of file, for the message. @throws
 * MlperfError `ERR_CONFIG_FILE`
 */
export function readNamedText(path: string, bytesMax: number, what = ''): string {
  return withReason(
    `cannot read ${what}${path}`,
    () => readBoundedText(path, bytesMax),
    'ERR_CONFIG_FILE',
  );
}

function readAll(next: () => Buffer, bytesMax: number): Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = next();
    if (chunk.length === 0) return Buffer.concat(chunks, bytes);
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
  }
}

/** The next bytes of a file; empty at its end. */
function readNext(file: number): Buffer {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  return buffer.subarray(0, readSync(file, buffer));
}

/** Reads bytes that may have to be waited for. */
function patientReader(file: number, isPipe: boolean): () => Buffer {
  const beganAtMs = performance.now();
  let hasWriter = !isPipe;
  return () => {
    for (;;) {
      const chunk = readReady(file);
      hasWriter ||= chunk === undefined || chunk.length > 0;
      if (chunk !== undefined && hasWriter) return chunk;
      const waitedMs = performance.now() - beganAtMs;
      if (!hasWriter && waitedMs > WRITER_WAIT_MS) {
        throw new Error('it is a pipe without a writer');
      }
      if (waitedMs > PIPE_MS_MAX) {
        throw new Error(`it did not end within ${PIPE_MS_MAX / 1000} s`);
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
    }
  };
}

/** Bytes available now; undefined if more may come later. */
function readReady(file: number): Buffer | undefined {
  try {
    return readNext(file);
  } catch (error) {
    if (errorCodeOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
}

function tooLarge(bytesMax: number): Error {
  return new Error(`it is larger than ${bytesMax} bytes, the limit for such a file`);
}

/** Reads bytes of a file; fewer if it ends earlier. */
export async function readPart(path: string, from: number, length: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/**
 * Makes a folder and its parents, like `mkdir -p`. Not `mkdirSync` with `recursive`: that never
 * returns if a file system refuses new folders with ENOENT (/proc).
 * @throws Error of the file system.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  const target = resolve(path);
  let folder = target;
  while (!isFolder(folder, folder === target ? 'EEXIST' : 'ENOTDIR')) {
    missing.push(folder);
    folder = dirname(folder);
  }
  for (const next of missing.reverse()) makeOne(next);
}

/** @throws Error `codeOfFile` if the path exists and is not a folder. */
function isFolder(path: string, codeOfFile: string): boolean {
  try {
    if (statSync(path).isDirectory()) return true;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false;
    // ENOTDIR: a parent is a file; the walk upwards finds it.
    if (errorCodeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
  throw Object.assign(new Error(`${path} is not a folder`), { code: codeOfFile, syscall: 'mkdir' });
}

function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error; // Another process made it first.
  }
}

/** Error codes of a path that leads nowhere; ELOOP: a symbolic link leads back to itself. */
export const NOWHERE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * Facts of the file or folder at a path; undefined if it leads nowhere.
 * @param stat `lstatSync`: does not follow a link at the end of the path.
 * @throws Error of the file system.
 */
export function statIfThere(
  path: string,
  stat: (path: string) => Stats = statSync,
): Stats | undefined {
  try {
    return stat(path);
  } catch (error) {
    if (NOWHERE.has(errorCodeOf(error))) return undefined;
    throw error;
  }
}

/**
 * Writes a text file that a user requested, completely or not at all. @throws MlperfError
 * `ERR_OUTPUT`
 */
export function writeText(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    removePart(path);
    throw outputError(`cannot write ${path}`, error);
  }
}

/** An incomplete file misleads, and takes space. */
function removePart(path: string): void {
  try {
    if (lstatSync(path).isFile()) rmSync(path);
  } catch {
    // The file is absent, or may not be deleted.
  }
}

/**
 * Folder for generated data sets and models: the user's cache folder by the XDG convention; without
 * a home folder (a container's user without an entry in /etc/passwd) one in the temporary folder.
 * @throws MlperfError `ERR_CACHE` if that folder belongs to another user: models are loaded from it
 */
export function defaultCacheFolder(): string {
  const xdg = process.env['XDG_CACHE_HOME'];
  if (xdg !== undefined && xdg !== '') return join(xdg, 'longhaul');
  let home: string;
  try {
    home = homedir();
  } catch {
    return ownTemporaryFolder();
  }
  return join(home, '.cache', 'longhaul');
}

/**
 * Made at once, so that no other user can make it. If that fails, the code that needs it reports
 * the error.
 */
function ownTemporaryFolder(): string {
  const userId = process.getuid?.();
  const folder = join(tmpdir(), `longhaul-cache-${userId}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    const { uid, mode } = lstatSync(folder, { throwIfNoEntry: false }) ?? {};
    if (uid === undefined || (uid === userId && ((mode ?? 0) & 0o022) === 0)) return folder;
    throw new MlperfError(
      'ERR_CACHE',
      `there is no home folder, and other users can write to ${folder}: set a cache folder by --cache-dir`,
    );
  }
  return folder;
}

/**
 * Reads a JSON file and checks its form.
 * @param bytesMax One of `FILE_BYTES_MAX`.
 * @param wrong Text after the path for a wrong form: what the file is not.
 * @throws MlperfError `ERR_CONFIG_FILE` (unreadable, not JSON), `ERR_CONFIG_INVALID` (wrong form)
 */
export function readJsonFile<T>(
  path: string,
  schema: z.ZodType<T>,
  bytesMax: number = FILE_BYTES_MAX.document,
  wrong = '',
): T {
  const checked = checkedForm(schema, parseJson(path, readNamedText(path, bytesMax)));
  if ('data' in checked) return checked.data;
  throw configInvalid(`${path}${wrong}: ${checked.wrong}`);
}

/** Form of any version, to report the version before its form is checked. */
const VERSIONED = z.looseObject({ schemaVersion: z.number() });

/** Texts of messages about a file with `schemaVersion`. */
export interface VersionedFile {
  /** Version that this longhaul reads. */
  readonly version: number;
  /** Text after the version: whose file it is, and the remedy for another version. */
  readonly other?: string;
  /** See {@link readJsonFile}. */
  readonly wrong?: string;
}

/**
 * {@link readJsonFile} for a file with `schemaVersion`, which is checked first.
 * @throws MlperfError as readJsonFile; `ERR_CONFIG_INVALID` for another version
 */
export function readVersionedFile<T>(
  path: string,
  schema: z.ZodType<T>,
  { version, other = '', wrong = '' }: VersionedFile,
): T {
  const { schemaVersion } = readJsonFile(path, VERSIONED, FILE_BYTES_MAX.document, wrong);
  if (schemaVersion === version) {
    return readJsonFile(path, schema, FILE_BYTES_MAX.document, wrong);
  }
  throw configInvalid(
    `${path} has version ${schemaVersion}; this longhaul reads version ${version}${other}`,
  );
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = messageOf(error);
    throw configFileError(`${path} is not JSON: ${why}`, error);
  }
}
