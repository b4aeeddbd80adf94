import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import {
  dataSetError,
  describeSystemError,
  type MlperfError,
} from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../shared/base/files/read-file.ts';

/**
 * SHA-256 in lower-case hexadecimal by path, relative to the data set's folder, with forward
 * slashes.
 */
export type Checksums = ReadonlyMap<string, string>;

/** File name of the checksum list in its data set's folder. */
export const CHECKSUM_FILE = 'SHA256SUMS';

const LINE = /^(\\?)([0-9a-fA-F]{64}) [ *](.+)$/;

/**
 * A checksum list in sha256sum's format (`sha256sum -c` in the data set's folder), sorted by path
 * so that equal sets give equal lists.
 */
export function formatChecksumList(checksums: Checksums): string {
  const paths = [...checksums.keys()].sort();
  return paths.map((path) => `${lineOf(path, checksums.get(path) as string)}\n`).join('');
}

/** One digest for a whole data set: SHA-256 of its checksum list, in hexadecimal. */
export function digestOfList(checksums: Checksums): string {
  return createHash('sha256').update(formatChecksumList(checksums)).digest('hex');
}

/**
 * Reads a list of checksums.
 * @throws MlperfError `ERR_DATA_SET` with the file and the wrong line.
 */
export async function readChecksumList(path: string): Promise<Checksums> {
  let text: string;
  try {
    text = readBoundedText(path, FILE_BYTES_MAX.list);
  } catch (error) {
    const reason = describeSystemError(error);
    throw dataSetError(`list of checksums ${path}: ${reason}`, error);
  }
  return parseChecksumList(text, path);
}

/**
 * Parses a checksum list.
 * @param file Name of the list, for messages.
 * @throws MlperfError `ERR_DATA_SET` with the wrong line.
 */
export function parseChecksumList(text: string, file: string): Checksums {
  const checksums = new Map<string, string>();
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line === '') continue;
    const [, escapeMark, sha256, name] = LINE.exec(line) ?? [];
    const wrong = (what: string): MlperfError => dataSetError(`${file}, line ${i + 1}: ${what}`);
    if (sha256 === undefined || name === undefined) {
      const form = '64 hexadecimal digits, two spaces and a file name';
      throw wrong(`"${line.slice(0, 100)}" is not ${form}, as sha256sum writes them`);
    }
    const path = posix.normalize(escapeMark === '\\' ? unescaped(name) : name);
    if (posix.isAbsolute(path) || path.startsWith('..')) {
      throw wrong(`${name} is not below the data set's folder`);
    }
    if (checksums.has(path)) throw wrong(`${path} is listed twice`);
    checksums.set(path, sha256.toLowerCase());
  }
  if (checksums.size === 0) {
    throw dataSetError(`${file} lists no file`);
  }
  return checksums;
}

/**
 * A line; names with a line break or backslash are escaped, and a leading backslash marks such a
 * line, as in GNU's tools.
 */
function lineOf(path: string, sha256: string): string {
  if (!/[\\\n\r]/.test(path)) return `${sha256}  ${path}`;
  const escaped = path.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `\\${sha256}  ${escaped}`;
}

function unescaped(name: string): string {
  const meanings: Readonly<Record<string, string>> = { n: '\n', r: '\r', '\\': '\\' };
  return name.replaceAll(/\\([nr\\])/g, (_, letter: string) => meanings[letter] as string);
}
