import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** LoadGen at a tag of MLCommons' repository `inference`. */
interface KnownLoadgen {
  /** Git tree hash of the folder `loadgen`. */
  readonly tree: string;
  /** {@link sourceDigest} of its files. */
  readonly sources: string;
  /** SHA-1 of the header that cmake generates from its mlperf.conf; undefined before v5.0. */
  readonly header?: string | undefined;
}

function known(tree: string, sources: string, header?: string): KnownLoadgen {
  return { tree, sources, header };
}

/** Known tags by hashes. No document states by hash which of them a round approves. */
const KNOWN_LOADGENS: Readonly<Record<string, KnownLoadgen>> = {
  'v4.0': known(
    '30e00ea06d6af2790bedaba6bbf8d502defba0b3',
    'c47121864f35c6c69a33ef696abb7ff94da88030b1146fe3a938e53bfb930000',
  ),
  'v4.1': known(
    '4f1ea1cda061939536ed8145edd486761b2a29f5',
    '46f4269a773c43b2a61c1e5f23343e36626c289c873f685dfba01f2b8f6f0eed',
  ),
  'v5.0': known(
    'd625f372aa5e63710e3cfbe5b4bf0c1102074069',
    'c382da48e0b08f631e8e5cd58556f296f75e4cfd064e8b95edfe57ebc37a171c',
    '3d6fc18ef366524e751b68039699e0e48951167d',
  ),
  'v5.0.1': known(
    '86e279abd652206c6de47b64d5845534a7e7dbcb',
    'a9506e2f0617fa8fbf35e2255027146075d308c01a73e9c79e48b7ad017f75a8',
    'c690b6e14608f81770cb839b2f883702de4a2191',
  ),
  'v5.1': known(
    '78ed43686dc9902ab3f5863fca64ef2acd1cf38a',
    '1db4afce0801700cf0a08460ba13f83e0a2f231c799e68d0c2c04ac8d3a99263',
    '51241da2de1ea24df477499796f83abbada19e1f',
  ),
  'v5.1.1': known(
    '55dfc0f2deff6729a602c593c8104b20fdc5d350',
    '78e3faeeb933ff3123554cea8baaa962a0b2411b85855fe586469bda51dc799c',
    '1cd5c9510eb0593e2721a3f3383e2e9d8a74d7ec',
  ),
  'v6.0.0pre': known(
    'e69aa5a4643b42fdf28d23575324b07541b4563b',
    '0221aa77b0741d184a1146ba1712249e20bb3ad82d56c54c105b05efd5143a51',
    'e5eb5e553bdeefb8e22274f51b3688ffe59c293c',
  ),
};

/** Trees of untagged LoadGens on the branch: known, but not approved revisions. */
export const UNTAGGED: Readonly<Record<string, string>> = {
  '6f1f0ae556867df8079d0bb0b43d5a1ec1de677b': '6.0.17',
};

/** Tag whose folder `loadgen` has this tree; undefined if unknown. */
export function tagOfTree(tree: string | undefined): string | undefined {
  return Object.entries(KNOWN_LOADGENS).find(([, one]) => one.tree === tree)?.[0];
}

/** From v5.0 on, cmake writes mlperf.conf as a C++ text beside the sources. */
export const GENERATED_HEADER = '/mlperf_conf.h';

/**
 * Tag whose LoadGen has these files; undefined if unknown.
 * @param sha1s As for {@link sourceDigest}. Builds without cmake may not list the header.
 */
export function tagOfFiles(sha1s: Readonly<Record<string, unknown>>): string | undefined {
  const digest = sourceDigest(sha1s);
  const header = sha1s[GENERATED_HEADER];
  return Object.entries(KNOWN_LOADGENS).find(
    ([, one]) =>
      one.sources === digest &&
      (header === undefined || one.header === undefined || header === one.header),
  )?.[0];
}

/** The header that cmake generates from an mlperf.conf. */
export function headerOfConf(conf: string): string {
  const escaped = conf.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n"\n"');
  return `const char* mlperf_conf =\n"${escaped}";\n`;
}

/** Files that decide LoadGen's behaviour; a build's libraries and caches may be beside them. */
const SOURCE = /\.(?:cc|h)$|^\/mlperf\.conf$/;

/** True for a source file that is not generated from another one. */
export function isSource(path: string): boolean {
  return SOURCE.test(path) && path !== GENERATED_HEADER;
}

/**
 * SHA-256 of LoadGen's own list of its sources.
 * @param sha1s SHA-1 by path, as in `loadgen_file_sha1`; may include files that are not sources.
 */
export function sourceDigest(sha1s: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(sha1s)
    .filter(([path]) => isSource(path))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, sha1]) => `${String(sha1)} ${path}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/** SHA-1 by path. @param list List in LoadGen's library, one line per file. */
export function sha1sOfList(list: string): Record<string, string> {
  const lines = list.split('\n').filter((line) => line !== '');
  return Object.fromEntries(lines.map((line) => line.split(' ').reverse() as [string, string]));
}

/**
 * Files of the library's own list that changed in the folder; the generated header is checked by
 * its source.
 */
export function otherFiles(list: string, folder: string): string[] {
  const others = list
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([sha1, path = '']) => sha1 !== sha1Of(join(folder, path)))
    .map(([, path = '']) => path);
  return isHeaderOfConf(folder) ? others : [...new Set([...others, GENERATED_HEADER])];
}

/** True if the compiled header matches the mlperf.conf beside it, or if there is none. */
function isHeaderOfConf(folder: string): boolean {
  const [header, conf] = [join(folder, GENERATED_HEADER), join(folder, 'mlperf.conf')];
  if (!existsSync(header) || !existsSync(conf)) return true;
  return readFileSync(header, 'utf8') === headerOfConf(readFileSync(conf, 'utf8'));
}

function sha1Of(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  return createHash('sha1').update(readFileSync(path)).digest('hex');
}
