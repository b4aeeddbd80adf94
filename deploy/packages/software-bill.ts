import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { PackageManifest } from './derive-package.ts';
import type { LockEntries } from './lock-file.ts';
import { npm } from './programs.ts';

/** Forms of a software bill of materials, and what npm calls them. */
const FORMATS = { cdx: 'cyclonedx', spdx: 'spdx' } as const;

/** What a bill is of. */
export interface BillSubject {
  readonly manifest: PackageManifest;
  /** All that an installation has; the bills must list exactly these. */
  readonly entries: LockEntries;
  /** `overrides` of the clone: why some of the entries are not in the range that asks for them. */
  readonly overrides: object;
}

/**
 * The clone's `overrides`, with the version itself where they mean that of another dependency (`$name`).
 * @param lock Entries of the clone.
 */
export function resolvedOverrides(overrides: object, lock: LockEntries): object {
  const resolve = (value: unknown): unknown => {
    if (typeof value !== 'string') return resolvedOverrides(value as object, lock);
    return value.startsWith('$') ? lock[`node_modules/${value.slice(1)}`]?.version : value;
  };
  return Object.fromEntries(Object.entries(overrides).map(([key, value]) => [key, resolve(value)]));
}

/**
 * Writes `sbom-NAME.cdx.json` and `sbom-NAME.spdx.json`: what an installation of a package has, by `npm sbom`.
 * @param scratch A folder for a package.json and a lock file of these alone.
 * @throws MlperfError `ERR_NOT_INSTALLED` when npm fails, `ERR_INTERNAL` when a bill lists something else
 */
export function writeBills(
  { manifest, entries, overrides }: BillSubject,
  { scratch, target }: { readonly scratch: string; readonly target: string },
): void {
  // npm names the bill's subject after the folder.
  const folder = join(scratch, manifest.name);
  mkdirSync(folder, { recursive: true });
  const packages = { '': manifest, ...withoutFlags(entries) };
  const { name, version } = manifest;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, overrides }));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ name, version, lockfileVersion: 3, requires: true, packages }),
  );
  for (const [ending, format] of Object.entries(FORMATS)) {
    const text = npm(['sbom', '--package-lock-only', '--sbom-format', format], folder);
    checkComplete(text, entries, `sbom of ${name} (${format})`);
    writeFileSync(join(target, `sbom-${name}.${ending}.json`), text);
  }
}

/** What the lock file says of the clone's own dependencies is not so here: none is for development. */
function withoutFlags(entries: LockEntries): LockEntries {
  return Object.fromEntries(
    Object.entries(entries).map(([path, { dev, devOptional, ...entry }]) => [path, entry]),
  );
}

interface Bill {
  readonly components?: readonly { readonly name: string; readonly version: string }[];
  readonly packages?: readonly { readonly name: string; readonly versionInfo: string }[];
}

function checkComplete(text: string, entries: LockEntries, what: string): void {
  const { components, packages } = JSON.parse(text) as Bill;
  const listed = new Set([
    ...(components ?? []).map(({ name, version }) => `${name}@${version}`),
    ...(packages ?? []).map(({ name, versionInfo }) => `${name}@${versionInfo}`),
  ]);
  const lacking = Object.entries(entries)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`)
    .filter((entry) => !listed.has(entry));
  if (lacking.length === 0) return;
  throw new MlperfError('ERR_INTERNAL', `${what} does not list ${lacking.join(', ')}`);
}
