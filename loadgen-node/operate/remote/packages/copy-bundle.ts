import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { create, extract } from 'tar';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { distFolder } from '../../../../shared/base/files/package-files.ts';
import { describeFile, type LocalFile, type PackageDocument, type Tarball } from './tarball.ts';
import { isVersionInRange } from './version-range.ts';

/** Where longhaul lies in a bundle. */
export const BUNDLED_PACKAGE = 'node_modules/longhaul';

/** Of this package's own folder, which may be a clone: what an installation has. */
const OWN_FILES = /^(package\.json|LICENSE|dist|proto|deploy|docs)(\/|$)/;
const OWN_LEFT_OUT =
  /^(dist\/test|dist\/\.tsbuildinfo|docs\/pictures)(\/|$)|\.map$|\.tsbuildinfo$|(?<!\.d)\.ts$/;
/** Libraries of ONNX Runtime by platform and architecture. */
const RUNTIME_LIBRARIES = /\/onnxruntime-node\/bin\/napi-v\d+\/(\w+)(?:\/(\w+))?/;

/** What a bundle is made of, known before it is made. */
export interface BundlePlan {
  readonly document: PackageDocument;
  /** Of everything in it: equal keys need no copy. */
  readonly key: string;
  /** Writes the bundle. @param folder Empty; the caller removes it. */
  make(folder: string): Promise<LocalFile>;
}

/**
 * longhaul with the dependencies of this installation, for hosts of the same platform.
 * @param tarball The package; undefined: this installation's own files.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_NOT_INSTALLED`
 */
export function planBundle(tarball: Tarball | undefined): BundlePlan {
  const root = dirname(distFolder());
  const document = tarball?.document ?? readDocument(root);
  if (tarball !== undefined) checkDependencies(document, root, tarball.path);
  const folders = dependencyFolders(root, document);
  const parts = [
    tarball?.sha256 ?? ownDigest(root),
    `${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`,
    ...folders.map((folder) => `${bundlePath(root, folder)}@${readDocument(folder).version}`),
  ];
  const key = createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24);
  return { document, key, make: (folder) => makeBundle(folder, root, folders, tarball) };
}

function readDocument(folder: string): PackageDocument {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageDocument;
}

/** The manifest of a build names each of its files with its digest. */
function ownDigest(root: string): string {
  const hash = createHash('sha256');
  for (const file of ['package.json', join('dist', 'manifest.json')]) {
    const path = join(root, file);
    if (!existsSync(path)) {
      const message = `${path} is missing: in a clone run "npm run build", or name a "package"`;
      throw new MlperfError('ERR_NOT_INSTALLED', message);
    }
    hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}

/** A tarball may name exact versions where a clone has ranges: what counts is what is installed here. */
function checkDependencies(
  { dependencies, optionalDependencies, peerDependencies }: PackageDocument,
  root: string,
  path: string,
): void {
  const asked = { ...peerDependencies, ...dependencies, ...optionalDependencies };
  for (const [name, range] of Object.entries(asked)) {
    const folder = resolvePackage(name, root);
    // dependencyFolders says what is missing and needed.
    if (folder === undefined) continue;
    const { version } = readDocument(folder);
    if (isVersionInRange(version, range)) continue;
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `install: copy takes the dependencies of this installation, and ${path} needs ${name} ${range}, not ${version}: use that version here too, or "install: npm"`,
    );
  }
}

/** Folders of all that a package needs, none of them inside another one. */
function dependencyFolders(root: string, document: PackageDocument): string[] {
  const found = new Set<string>();
  const visit = (from: string, needs: PackageDocument): void => {
    for (const name of neededBy(needs)) {
      const folder = resolvePackage(name, from);
      if (folder === undefined && isOptional(name, needs)) continue;
      if (folder === undefined) {
        const message = `${name} is not installed here, so it cannot be copied: run "npm ci", or use "install: npm"`;
        throw new MlperfError('ERR_NOT_INSTALLED', message);
      }
      if (found.has(folder)) continue;
      found.add(folder);
      visit(folder, readDocument(folder));
    }
  };
  visit(root, document);
  const all = [...found].sort();
  return all.filter((folder) => !all.some((other) => folder.startsWith(`${other}/`)));
}

function neededBy(needs: PackageDocument): string[] {
  const { dependencies, peerDependencies, optionalDependencies } = needs;
  return Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
}

/** npm names an optional dependency among the others as well. */
function isOptional(name: string, needs: PackageDocument): boolean {
  const isNeeded = needs.dependencies?.[name] !== undefined;
  return !isNeeded || needs.optionalDependencies?.[name] !== undefined;
}

/** As Node.js looks for a package. */
function resolvePackage(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}

/** In a clone dependencies lie below the package, in an installation beside it: on the host as here. */
function bundlePath(root: string, folder: string): string {
  if (folder.startsWith(`${root}/`)) return join(BUNDLED_PACKAGE, relative(root, folder));
  return join('node_modules', folder.slice(folder.lastIndexOf('/node_modules/') + 14));
}

async function makeBundle(
  folder: string,
  root: string,
  folders: readonly string[],
  tarball: Tarball | undefined,
): Promise<LocalFile> {
  const stage = join(folder, 'stage');
  const own = join(stage, BUNDLED_PACKAGE);
  mkdirSync(own, { recursive: true });
  if (tarball !== undefined) await extract({ file: tarball.path, cwd: own, strip: 1 });
  else
    for (const name of ['package.json', 'LICENSE', 'dist', 'proto', 'deploy', 'docs'])
      link(root, name, own);
  for (const one of folders) {
    const target = join(stage, bundlePath(root, one));
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(one, target);
  }
  const file = join(folder, 'bundle.tgz');
  // Links are followed: the host gets files.
  const options = { file, cwd: stage, gzip: { level: 1 }, follow: true, portable: true };
  await create({ ...options, filter: (path) => isWanted(path) }, ['node_modules']);
  return await describeFile(file);
}

function link(root: string, name: string, own: string): void {
  const source = join(root, name);
  if (existsSync(source)) symlinkSync(source, join(own, name));
}

function isWanted(path: string): boolean {
  const [, platform, arch] = RUNTIME_LIBRARIES.exec(path) ?? [];
  if (platform !== undefined && platform !== process.platform) return false;
  if (arch !== undefined && arch !== process.arch) return false;
  if (!path.startsWith(`${BUNDLED_PACKAGE}/`)) return true;
  const own = path.slice(BUNDLED_PACKAGE.length + 1);
  if (own.startsWith('node_modules')) return true;
  return OWN_FILES.test(own) && !OWN_LEFT_OUT.test(own);
}
