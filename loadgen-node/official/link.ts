import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { z } from 'zod';
import {
  asMlperfError,
  configInvalid,
  type MlperfError,
  messageOf,
  notInstalled,
  withReason,
} from '../../shared/base/errors/mlperf-error.ts';
import { dataFile } from '../../shared/base/files/package-files.ts';
import { makeFolder } from '../../shared/base/files/read-file.ts';
import { type BridgeAddon, loadAddon } from './addon.ts';
import type { LoadgenCheckout } from './checkout.ts';
import { otherFiles } from './known-loadgens.ts';

const BUILD = z.strictObject({
  version: z.string(),
  gitRevision: z.string(),
  gitStatus: z.string(),
  buildDate: z.string(),
  sha1OfFiles: z.string(),
  compiler: z.string(),
  library: z.string(),
});

/** File beside a linked LoadGen: its version, and the hashes that identify it. */
const MANIFEST = z.strictObject({
  /** The checkout at the time of linking. */
  inferenceDir: z.string(),
  commit: z.string().nullable(),
  tree: z.string().nullable(),
  tag: z.string().nullable(),
  changes: z.array(z.string()),
  hasBuiltInConf: z.boolean(),
  /** SHA-256 of the user's static library, of the bridge's source, and of the linked module. */
  librarySha256: z.string(),
  bridgeSha256: z.string(),
  addonSha256: z.string(),
  /** As reported by the library. */
  build: BUILD,
  /** Tag from the user's list, with that list's name and SHA-256; absent without a list. */
  listed: z.strictObject({ tag: z.string(), file: z.string(), sha256: z.string() }).optional(),
});

export type LinkManifest = Readonly<z.infer<typeof MANIFEST>>;

/** A linked LoadGen. */
export interface LinkedLoadgen {
  readonly folder: string;
  readonly addonPath: string;
  readonly manifest: LinkManifest;
}

const BRIDGE = 'loadgen-node/official/native/bridge.cc';
const ADDON_FILE = 'bridge.node';
const MANIFEST_FILE = 'manifest.json';

/** SHA-256 of a file. */
export function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function loadgenFolder(cacheFolder: string): string {
  return join(cacheFolder, 'loadgen');
}

/**
 * Links the user's unmodified LoadGen with the bridge to Node.js.
 * @param compiler C++ compiler: g++ or clang++.
 * @throws MlperfError `ERR_CONFIG_INVALID` if it cannot be linked, `ERR_NOT_INSTALLED` without a
 *   compiler
 */
export function linkLoadgen(
  checkout: LoadgenCheckout,
  { compiler, cacheFolder }: { readonly compiler: string; readonly cacheFolder: string },
): LinkedLoadgen {
  const source = dataFile(BRIDGE);
  const librarySha256 = sha256Of(checkout.library);
  const bridgeSha256 = sha256Of(source);
  const name = `${checkout.tag ?? checkout.commit?.slice(0, 10) ?? 'unknown'}-${librarySha256.slice(0, 12)}-${bridgeSha256.slice(0, 12)}`;
  const folder = join(loadgenFolder(cacheFolder), name);
  const scratch = loadgenFolder(cacheFolder);
  withReason(`cannot write ${scratch}`, () => makeFolder(scratch));
  const addonPath = join(folder, ADDON_FILE);
  // A process in a test may have the old file open. Node.js only loads files with this extension,
  // and each path once.
  const made = join(scratch, `${name}.${process.pid}.node`);
  const build = withFile(made, () => {
    compile(compiler, source, checkout, made);
    const addon = loadLinked(made, checkout.library);
    requireOwnHeaders(addon, checkout, scratch);
    withReason(`cannot write ${folder}`, () => makeFolder(folder));
    renameSync(made, addonPath);
    return addon.build();
  });
  const { folder: inferenceDir, commit, tree, tag, changes, hasBuiltInConf } = checkout;
  const manifest: LinkManifest = {
    inferenceDir,
    commit: commit ?? null,
    tree: tree ?? null,
    tag: tag ?? null,
    changes: [...changes],
    hasBuiltInConf,
    librarySha256,
    bridgeSha256,
    addonSha256: sha256Of(addonPath),
    build,
  };
  return rewriteManifest({ folder, addonPath, manifest }, {});
}

/** Adds information to a linked LoadGen's manifest. @throws MlperfError `ERR_OUTPUT` */
export function rewriteManifest(
  { manifest, ...linked }: LinkedLoadgen,
  more: Partial<LinkManifest>,
): LinkedLoadgen {
  const path = join(linked.folder, MANIFEST_FILE);
  const all = { ...manifest, ...more };
  // Written atomically: a run may read it at the same time.
  const draft = `${path}.${process.pid}`;
  withReason(`cannot write ${path}`, () =>
    withFile(draft, () => {
      writeFileSync(draft, `${JSON.stringify(all, null, 2)}\n`);
      renameSync(draft, path);
    }),
  );
  return { ...linked, manifest: all };
}

/** Runs `work`; removes the file if it fails. */
function withFile<T>(path: string, work: () => T): T {
  try {
    return work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for a library without some part of LoadGen */
function loadLinked(path: string, library: string): BridgeAddon {
  try {
    return loadAddon(path);
  } catch (error) {
    const why = messageOf((error as Error).cause ?? error).replace(`${path}: `, '');
    throw configInvalid(
      `${library} is not the whole LoadGen, or not of this checkout: ${why}. Build it again from the checkout, or name another one by --library`,
    );
  }
}

/** Headers used to compile the bridge. */
const BRIDGE_HEADERS = [
  '/loadgen.h',
  '/query_sample.h',
  '/query_sample_library.h',
  '/system_under_test.h',
  '/test_settings.h',
] as const;

/**
 * Checks that bridge and library agree on the memory layout of the settings.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the library was built with other headers than the
 *   checkout's
 */
function requireOwnHeaders(
  addon: BridgeAddon,
  { folder, library }: LoadgenCheckout,
  scratch: string,
): void {
  const loadgen = join(folder, 'loadgen');
  const { version, sha1OfFiles } = addon.build();
  const others = otherFiles(sha1OfFiles, loadgen).filter((path) =>
    (BRIDGE_HEADERS as readonly string[]).includes(path),
  );
  const remedy = `Give the checkout that ${library} (LoadGen ${version}) was built in as --inference-dir`;
  if (others.length > 0) {
    throw configInvalid(
      `${library} was built with other headers than those in ${loadgen}: ${others.join(', ')}. ${remedy}`,
    );
  }
  const conf = join(scratch, `${process.pid}.conf`);
  const differs = withFile(conf, () => {
    writeFileSync(conf, LAYOUT_CONF);
    return addon.layoutDiffers(conf);
  });
  if (!differs) return;
  throw configInvalid(
    `${library} has its settings in other places than ${join(loadgen, 'test_settings.h')} says, though it lists that header: ` +
      `the header was changed after cmake had configured. ${remedy}, and build it anew`,
  );
}

/** Settings near the end of LoadGen's struct, with the values that `layoutDiffers` checks. */
const LAYOUT_CONF = [
  '*.*.min_duration = 10007',
  '*.*.sample_concatenate_permutation = 1',
  '*.*.use_token_latencies = 1',
  '*.Server.ttft_latency = 17',
  '*.Server.tpot_latency = 19',
  '*.*.infer_token_latencies = 1',
  '*.*.token_latency_scaling_factor = 23',
  '',
].join('\n');

function compile(
  compiler: string,
  source: string,
  { folder, library, hasBuiltInConf }: LoadgenCheckout,
  output: string,
): void {
  const { include_dir: nodeHeaders } = createRequire(import.meta.url)('node-api-headers') as {
    include_dir: string;
  };
  const args = [
    // All symbols are bound at loading: a missing one is then a load error, not a crash during a
    // test.
    ...['-std=c++14', '-O2', '-fPIC', '-shared', '-pthread', '-Wl,-z,now'],
    ...(hasBuiltInConf ? ['-DCONF_TYPE'] : []),
    ...['-I', nodeHeaders, '-I', join(folder, 'loadgen'), source, library, '-o', output],
  ];
  try {
    execFileSync(compiler, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw linkError(compiler, library, error);
  }
}

function linkError(compiler: string, library: string, error: unknown): Error {
  const { code, stderr = '' } = error as { readonly code?: string; readonly stderr?: string };
  if (code === 'ENOENT') {
    return notInstalled(
      `the compiler ${compiler} is not installed: name another one by --cxx`,
      error,
    );
  }
  if (/recompile with -fPIC|can not be used when making a shared object/.test(stderr)) {
    return configInvalid(
      `${library} is not position-independent code, so that it cannot be loaded into Node.js. Build LoadGen again: ` +
        'cmake -DCMAKE_POSITION_INDEPENDENT_CODE=ON .. && cmake --build . (its sources stay as they are)',
    );
  }
  const lines = (stderr || messageOf(error)).trim().split('\n');
  return configInvalid(`${compiler} cannot link ${library}:\n${lines.slice(0, 20).join('\n')}`);
}

/** Name for `--engine cpp:NAME`: its tag (possibly from the user's list), otherwise its version. */
export function loadgenNameOf({ manifest: { tag, listed, build } }: LinkedLoadgen): string {
  return tag ?? listed?.tag ?? build.version;
}

/** False if another version of longhaul linked it, with another bridge. */
export function isOfThisBridge({ manifest }: LinkedLoadgen): boolean {
  return sha256Of(dataFile(BRIDGE)) === manifest.bridgeSha256;
}

/** The links of a cache folder. */
interface LinkedFolders {
  /**
   * The first is the default. Order: linked by this longhaul, known tag, newest version. For equal
   * names, the one by this longhaul, then the last linked.
   */
  readonly loadgens: readonly LinkedLoadgen[];
  /** Folders with an unreadable manifest, and the error. */
  readonly damaged: readonly { readonly folder: string; readonly error: MlperfError }[];
}

export function linkedLoadgens(cacheFolder: string): LinkedFolders {
  const root = loadgenFolder(cacheFolder);
  if (!existsSync(root)) return { loadgens: [], damaged: [] };
  const all: (LinkedLoadgen & { readonly isStale: number; readonly linkedMs: number })[] = [];
  const damaged: { folder: string; error: MlperfError }[] = [];
  for (const folder of readdirSync(root).map((name) => join(root, name))) {
    const path = join(folder, MANIFEST_FILE);
    if (!existsSync(path)) continue;
    try {
      const linked = { folder, addonPath: join(folder, ADDON_FILE), manifest: readManifest(path) };
      const isStale = Number(!isOfThisBridge(linked));
      all.push({ ...linked, isStale, linkedMs: statSync(path).mtimeMs });
    } catch (error) {
      damaged.push({ folder, error: asMlperfError(error) });
    }
  }
  all.sort((a, b) => a.isStale - b.isStale || b.linkedMs - a.linkedMs);
  const byName = new Map<string, (typeof all)[number]>();
  for (const one of all) if (!byName.has(loadgenNameOf(one))) byName.set(loadgenNameOf(one), one);
  const loadgens = [...byName.values()].sort(
    (a, b) =>
      a.isStale - b.isStale ||
      Number(a.manifest.tag === null) - Number(b.manifest.tag === null) ||
      versionNumber(b) - versionNumber(a),
  );
  return { loadgens, damaged };
}

function versionNumber({ manifest: { build } }: LinkedLoadgen): number {
  const [major = 0, minor = 0, patch = 0] = build.version.split('.').map(Number);
  return (major * 1000 + minor) * 1000 + patch;
}

/**
 * The linked LoadGen of a name, or the default one.
 * @param isPreferred Preferred ones if no name is given.
 * @throws MlperfError `ERR_NOT_INSTALLED` if there is none, or if its files changed since linking
 */
export function linkedLoadgen(
  cacheFolder: string,
  {
    name,
    isPreferred = () => false,
  }: {
    readonly name?: string | undefined;
    readonly isPreferred?: (manifest: LinkManifest) => boolean;
  } = {},
): LinkedLoadgen {
  const { loadgens: all, damaged } = linkedLoadgens(cacheFolder);
  const found =
    name === undefined
      ? (all.find(({ manifest }) => isPreferred(manifest)) ?? all[0])
      : all.find((one) => loadgenNameOf(one) === name || one.manifest.build.version === name);
  const how =
    'longhaul loadgen link --inference-dir DIR, where DIR is your checkout with LoadGen built in it';
  // A folder is named after its tag.
  const isNamed = (folder: string): boolean =>
    name === undefined || [`${name}-`, `v${name}-`].some((tag) => basename(folder).startsWith(tag));
  const bad = damaged.find(({ folder }) => isNamed(folder));
  if (found === undefined && bad !== undefined) throw bad.error;
  if (found === undefined && all.length > 0) {
    const names = all.map((one) => `cpp:${loadgenNameOf(one)}`).join(', ');
    throw notInstalled(`no C++ LoadGen ${name} is linked; there is ${names}. To link it: ${how}`);
  }
  if (found === undefined) throw notInstalled(`no C++ LoadGen is linked: ${how}`);
  const { addonPath, manifest } = found;
  const again = 'link it again: longhaul loadgen link --inference-dir DIR';
  if (!existsSync(addonPath) || sha256Of(addonPath) !== manifest.addonSha256) {
    throw notInstalled(`${addonPath} is not the file that was linked; ${again}`);
  }
  if (!isOfThisBridge(found)) {
    throw notInstalled(`${addonPath} was linked by another version of longhaul; ${again}`);
  }
  return found;
}

function readManifest(path: string): LinkManifest {
  try {
    return MANIFEST.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw notInstalled(
      `${path} cannot be read: ${messageOf(error)}; link LoadGen again: longhaul loadgen link --inference-dir DIR`,
      error,
    );
  }
}
