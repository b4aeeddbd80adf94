import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { writeManifest } from '../../loadgen-node/run/judge/self-check.ts';
import { type DerivedPackage, derivePackages, writePackage } from './derive-package.ts';
import { type LicensedPackage, licencesOf, licenceTable } from './licences.ts';
import { installedEntries, readLock } from './lock-file.ts';
import { npm, output, type Revision } from './programs.ts';
import { ROLES } from './roles.ts';
import { resolvedOverrides, writeBills } from './software-bill.ts';

/** A package of a release, as `release.json` says it. */
export interface ReleasedPackage {
  readonly name: string;
  /** Its tarball in the folder of the release. */
  readonly file: string;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly files: number;
  /** Packages that an installation has, of all systems. */
  readonly dependencies: number;
}

/** What npm says of a tarball. */
interface PackReport {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/**
 * Writes the folder `release`, all of it or nothing: made beside it, moved into its place at the end.
 * @param root Folder of a clone that has been built.
 * @throws MlperfError of its parts; what stood in `release` before is there still.
 */
export function buildRelease(root: string, revision: Revision): readonly ReleasedPackage[] {
  const target = mkdtempSync(join(root, 'release-'));
  try {
    const packages = fill(target, root, revision);
    chmodSync(target, 0o755);
    const place = join(root, 'release');
    const old = `${target}-old`;
    if (existsSync(place)) renameSync(place, old);
    renameSync(target, place);
    rmSync(old, { recursive: true, force: true });
    return packages;
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

function fill(target: string, root: string, revision: Revision): readonly ReleasedPackage[] {
  const packed = packReport(['--dry-run'], root).files.map(({ path }) => path);
  const project = { root, packed, revision: revision.name };
  const lock = readLock(root);
  // Below the clone, so that the packages find its node_modules while they are tried.
  const scratch = join(target, 'scratch');
  const { version, overrides: asked = {} } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as { version: string; overrides?: object };
  const overrides = resolvedOverrides(asked, lock);
  const licences = new Map<string, LicensedPackage[]>();
  const packages = derivePackages(project, ROLES).map((derived) => {
    const { name } = derived.manifest;
    const folder = join(scratch, 'packages', name);
    writePackage(project, derived, folder);
    writeManifest(join(folder, 'dist'));
    tryProgram(folder);
    const report = packReport(['--pack-destination', target], folder);
    const entries = installedEntries(lock, derived.manifest);
    licences.set(name, licencesOf(root, entries));
    const subject = { manifest: derived.manifest, entries, overrides };
    writeBills(subject, { scratch: join(scratch, 'bills'), target });
    return released(derived, report, Object.keys(entries).length);
  });
  rmSync(scratch, { recursive: true });
  writeFileSync(join(target, 'licences.md'), licenceTable(licences));
  const about = { version, revision: revision.name, committedAt: revision.committedAt };
  const made = { node: process.versions.node, npm: npm(['--version'], root).trim() };
  const text = JSON.stringify({ ...about, ...made, packages }, null, 2);
  writeFileSync(join(target, 'release.json'), `${text}\n`);
  writeFileSync(join(target, 'SHA256SUMS'), checksums(target));
  return packages;
}

/** @throws MlperfError when the program of a package does not start, or is not what its manifest says */
function tryProgram(folder: string): void {
  const main = join(folder, 'dist', 'loadgen-node', 'main.js');
  output(process.execPath, [main, '--help'], folder);
  output(process.execPath, [main, 'self-check'], folder);
}

function packReport(args: readonly string[], folder: string): PackReport {
  mkdirSync(folder, { recursive: true });
  const text = npm(['pack', '--json', '--ignore-scripts', ...args], folder);
  return (JSON.parse(text) as [PackReport])[0];
}

function released(
  { manifest }: DerivedPackage,
  { filename, size, unpackedSize, files }: PackReport,
  dependencies: number,
): ReleasedPackage {
  return {
    name: manifest.name,
    file: filename,
    packedBytes: size,
    unpackedBytes: unpackedSize,
    files: files.length,
    dependencies,
  };
}

/** In the form of sha256sum, for `sha256sum --check`. */
function checksums(folder: string): string {
  return readdirSync(folder)
    .sort()
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => {
      const hash = createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex');
      return `${hash}  ${name}\n`;
    })
    .join('');
}
