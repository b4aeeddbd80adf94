import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { LockEntries } from './lock-file.ts';

/** SPDX identifiers of licences that are known to allow what we do: depend, unchanged. Another one is looked at by a person first. */
const KNOWN: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'LGPL-3.0-or-later',
  'MIT',
  'Python-2.0',
  'Unlicense',
];

/** An installed package with its licence. */
export interface LicensedPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly licence: string;
  /** Installed on other systems or processors only: taken from package-lock.json. */
  readonly isElsewhere: boolean;
}

/**
 * Licences of all entries, from the installed packages themselves.
 * @param root Folder of `node_modules`.
 * @throws MlperfError `ERR_CONFIG_INVALID` that names every package whose licence is missing or not known
 */
export function licencesOf(root: string, entries: LockEntries): LicensedPackage[] {
  const problems: string[] = [];
  const packages = Object.entries(entries).map(([path, { version, license }]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const file = join(root, path, 'package.json');
    const isElsewhere = !existsSync(file);
    const licence = isElsewhere ? (license ?? '') : licenceIn(readFileSync(file, 'utf8'));
    if (licence === '') problems.push(`${name}@${version} says no licence`);
    else if (!isKnown(licence)) {
      problems.push(`${name}@${version} has the licence "${licence}", which nobody has looked at`);
    }
    return { name, version, licence, isElsewhere };
  });
  if (problems.length > 0) {
    const text = `${problems.join('; ')} (deploy/packages/licences.ts has the known ones)`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  return packages;
}

/** The field in its three historical forms. */
function licenceIn(text: string): string {
  const manifest = JSON.parse(text) as { license?: unknown; licenses?: unknown };
  const [first] = Array.isArray(manifest.licenses) ? manifest.licenses : [];
  const field = manifest.license ?? first;
  if (typeof field === 'string') return field;
  return (field as { type?: string } | undefined)?.type ?? '';
}

/** An SPDX expression of known licences: `A`, `(A OR B)`, `A AND B`. */
function isKnown(expression: string): boolean {
  const names = expression.replaceAll(/[()]/g, ' ').split(/ (?:AND|OR) /);
  return names.every((name) => KNOWN.includes(name.trim()));
}

/** The list for people: a row per package and version, and in which of ours it is. */
export function licenceTable(perRole: ReadonlyMap<string, readonly LicensedPackage[]>): string {
  const rows = new Map<string, { entry: LicensedPackage; roles: string[] }>();
  for (const [role, packages] of perRole) {
    for (const entry of packages) {
      const key = `${entry.name}@${entry.version}`;
      const row = rows.get(key) ?? { entry, roles: [] };
      if (!row.roles.includes(role)) row.roles.push(role);
      rows.set(key, row);
    }
  }
  const lines = [...rows.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { entry, roles }]) => {
      const { name, version, licence, isElsewhere } = entry;
      const where = isElsewhere ? ' (other systems)' : '';
      return `| ${name} | ${version} | ${licence} | ${roles.join(', ')}${where} |`;
    });
  return `# What the packages depend on

Every package that an installation has, on any system, with version and licence. longhaul itself is Apache-2.0.

| package | version | licence | installed with |
|---|---|---|---|
${lines.join('\n')}
`;
}
