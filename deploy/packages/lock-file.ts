import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';

/** An installed package, as package-lock.json has it (lockfileVersion 3). */
export interface LockEntry {
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly [key: string]: unknown;
}

/** Entries by where they are installed: `node_modules/a`, `node_modules/a/node_modules/b`. */
export type LockEntries = Readonly<Record<string, LockEntry>>;

/** Entries of the lock file in a folder. */
export function readLock(folder: string): LockEntries {
  const text = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  return (JSON.parse(text) as { packages: LockEntries }).packages;
}

/**
 * Version of a package that the project depends on itself.
 * @throws MlperfError `ERR_CONFIG_INVALID` when it does not
 */
export function lockedVersion(lock: LockEntries, name: string, importedBy: string): string {
  const root = lock[''];
  const isDirect = [root?.dependencies, root?.optionalDependencies].some(
    (table) => table?.[name] !== undefined,
  );
  const entry = lock[`node_modules/${name}`];
  if (isDirect && entry !== undefined) return entry.version;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `${importedBy} imports ${name}, which is not among the dependencies of package.json`,
  );
}

/** What a package asks to be installed. */
export interface WantedPackages {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/**
 * All entries that an installation has, by the rule that Node.js finds packages by: the nearest `node_modules` upwards.
 * @throws MlperfError `ERR_CONFIG_INVALID` for one that the lock file has not
 */
export function installedEntries(lock: LockEntries, wanted: WantedPackages): LockEntries {
  const reached: Record<string, LockEntry> = {};
  const waiting: (readonly [string, Partial<LockEntry>])[] = [['', { ...wanted }]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [path, entry] of neededBy(lock, ...next)) {
      if (reached[path] !== undefined) continue;
      reached[path] = entry;
      waiting.push([path, entry]);
    }
  }
  return Object.fromEntries(Object.entries(reached).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Entries that a package needs; without those that it may do without and that the lock file has not. */
function neededBy(
  lock: LockEntries,
  from: string,
  needs: Partial<LockEntry>,
): (readonly [string, LockEntry])[] {
  return needsOf(needs).flatMap(([name, isRequired]) => {
    const path = placeOf(lock, from, name);
    const entry = path === undefined ? undefined : lock[path];
    if (path !== undefined && entry !== undefined) return [[path, entry] as const];
    if (!isRequired) return [];
    const text = `${name}, which ${from === '' ? 'the package' : from} needs, is not in package-lock.json`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  });
}

/** Names, and whether an installation fails without. */
function needsOf(entry: Partial<LockEntry>): (readonly [string, boolean])[] {
  const peers = Object.keys(entry.peerDependencies ?? {}).filter(
    (name) => entry.peerDependenciesMeta?.[name]?.optional !== true,
  );
  const optional = Object.keys(entry.optionalDependencies ?? {});
  const required = [...Object.keys(entry.dependencies ?? {}), ...peers].filter(
    (name) => !optional.includes(name),
  );
  return [
    ...required.map((name) => [name, true] as const),
    ...optional.map((name) => [name, false] as const),
  ];
}

function placeOf(lock: LockEntries, folder: string, name: string): string | undefined {
  const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
  if (lock[path] !== undefined) return path;
  if (folder === '') return undefined;
  const end = folder.lastIndexOf('/node_modules/');
  return placeOf(lock, end < 0 ? '' : folder.slice(0, end), name);
}
