import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { type Closure, closureOf, type ParsedFiles } from './closure.ts';
import { type LockEntries, lockedVersion, readLock, type WantedPackages } from './lock-file.ts';
import type { Role } from './roles.ts';

/** Where every package begins: the program, and the library for those that are one. */
const PROGRAM = 'loadgen-node/main.js';
const LIBRARY = ['loadgen-node/index.js', 'loadgen-node/index.d.ts'];

/** Fields of the clone's package.json that every package has as they are. */
const SHARED_FIELDS = ['version', 'keywords', 'license', 'type', 'engines', 'bin'] as const;
const LIBRARY_FIELDS = ['exports', 'types'] as const;

/** package.json of a derived package. */
export interface PackageManifest extends WantedPackages {
  readonly name: string;
  readonly version: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly longhaul: {
    readonly revision: string;
    readonly lacks: Readonly<Record<string, readonly string[]>>;
  };
  readonly [field: string]: unknown;
}

/** A package before it is packed. */
export interface DerivedPackage {
  readonly role: Role;
  readonly manifest: PackageManifest;
  /** Files below the project's folder, with `/`; README.md and package.json are written. */
  readonly files: readonly string[];
}

/** A clone that has been built. */
export interface BuiltProject {
  readonly root: string;
  /** What `npm pack` takes of it, with `/`. */
  readonly packed: readonly string[];
  /** Git revision, for package.json. */
  readonly revision: string;
}

/**
 * Finds what each package holds and depends on.
 * @throws MlperfError of {@link closureOf}; `ERR_CONFIG_INVALID` for an import that a package may not have
 */
export function derivePackages(project: BuiltProject, roles: readonly Role[]): DerivedPackage[] {
  const lock = readLock(project.root);
  const closures = new Map<Role, Closure>();
  const parsed: ParsedFiles = new Map();
  for (const role of roles) {
    const files = role.isLibrary ? [PROGRAM, ...LIBRARY] : [PROGRAM];
    const roots = { files, verbs: role.verbs };
    const closure = closureOf(join(project.root, 'dist'), roots, parsed);
    checkAllowed(role, closure);
    closures.set(role, closure);
  }
  return [...closures].map(([role, closure]) => {
    const compiled = closure.files.map((file) => `dist/${file}`);
    const lacks = lackingVerbs(closure, closures);
    return {
      role,
      manifest: manifestOf(project, role, { closure, lock, lacks }),
      files: [...compiled, ...otherFiles(project, role, compiled)],
    };
  });
}

/** Writes a package's files, all but the manifest of hashes, into an empty folder. */
export function writePackage(
  { root }: BuiltProject,
  { role, manifest, files }: DerivedPackage,
  folder: string,
): void {
  for (const file of files) {
    const target = join(folder, file);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, file), target);
  }
  const readme = role.readme === undefined ? 'README.md' : `deploy/packages/${role.readme}`;
  copyFileSync(join(root, readme), join(folder, 'README.md'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

function checkAllowed(role: Role, closure: Closure): void {
  const fail = (text: string): never => {
    throw new MlperfError('ERR_CONFIG_INVALID', `${role.name}: ${text}`);
  };
  for (const forbidden of role.forbidden) {
    const file = closure.files.find((one) => one.startsWith(forbidden));
    if (file !== undefined) fail(`it may not hold ${closure.wayTo(file).join(' -> ')}`);
    const found = closure.packages.find(({ name }) => name === forbidden);
    if (found !== undefined) fail(`it may not depend on ${forbidden}, which ${found.from} imports`);
  }
  for (const name of role.leftOut) {
    const found = closure.packages.find((one) => one.name === name && !one.isLazy);
    if (found !== undefined)
      fail(`it comes without ${name}, so ${found.from} may not import it statically`);
  }
}

/** Verbs that other packages have and this one has not, with the packages that have them. */
function lackingVerbs(
  own: Closure,
  all: ReadonlyMap<Role, Closure>,
): Readonly<Record<string, readonly string[]>> {
  const lacks: Record<string, string[]> = {};
  for (const [{ name }, { verbs }] of all) {
    for (const verb of verbs) {
      if (!own.verbs.includes(verb)) lacks[verb] = [...(lacks[verb] ?? []), name];
    }
  }
  return lacks;
}

function manifestOf(
  { root, revision }: BuiltProject,
  role: Role,
  parts: {
    readonly closure: Closure;
    readonly lock: LockEntries;
    readonly lacks: PackageManifest['longhaul']['lacks'];
  },
): PackageManifest {
  const { closure, lock, lacks } = parts;
  const clone = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly [field: string]: unknown;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  };
  const optional = [...role.optional, ...Object.keys(clone.optionalDependencies ?? {})];
  // The very versions that were tested: another one may be slower, and a measurement would not say so.
  const versions = (isWanted: (name: string) => boolean): Record<string, string> =>
    Object.fromEntries(
      closure.packages
        .filter(({ name }) => isWanted(name))
        .map(({ name, from }) => [name, lockedVersion(lock, name, from)]),
    );
  const isLeftOut = (name: string): boolean => role.leftOut.includes(name);
  const isOptional = (name: string): boolean => optional.includes(name) && !isLeftOut(name);
  const fields = [...SHARED_FIELDS, ...(role.isLibrary ? LIBRARY_FIELDS : [])];
  return {
    name: role.name,
    description: role.about,
    ...(Object.fromEntries(fields.map((field) => [field, clone[field]])) as { version: string }),
    ...(role.isLibrary ? {} : { exports: { './package.json': './package.json' } }),
    dependencies: versions((name) => !isOptional(name) && !isLeftOut(name)),
    optionalDependencies: versions(isOptional),
    ...peersOf(versions(isLeftOut)),
    longhaul: { revision, lacks },
  };
}

/** A package that is left out is not installed, but where a user adds it, npm holds it against our version. */
function peersOf(leftOut: Readonly<Record<string, string>>): object {
  const names = Object.keys(leftOut);
  if (names.length === 0) return {};
  const meta = Object.fromEntries(names.map((name) => [name, { optional: true }]));
  return { peerDependencies: leftOut, peerDependenciesMeta: meta };
}

/** Files beside the compiled ones: what the package's pages are, protos and the licence. */
function otherFiles(
  { root, packed }: BuiltProject,
  { pages }: Role,
  compiled: readonly string[],
): string[] {
  const written = ['package.json', 'README.md'];
  const others = packed.filter((file) => !file.startsWith('dist/') && !written.includes(file));
  if (pages === 'all') return others;
  const named = new Set(
    compiled.flatMap(
      (file) => readFileSync(join(root, file), 'utf8').match(/docs\/[\w-]+\.md/g) ?? [],
    ),
  );
  return others.filter((file) => /^(?:LICENSE$|proto\/|deploy\/)/.test(file) || named.has(file));
}
