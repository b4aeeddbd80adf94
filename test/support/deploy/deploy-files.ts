import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { distFolder } from '../../../shared/base/files/package-files.ts';

/** A file of the repository. */
export function repositoryFile(path: string): string {
  return join(distFolder(), '..', path);
}

/** A YAML file of the repository, aliases and merge keys taken in. */
export function readYaml<T>(path: string): T {
  return parse(readFileSync(repositoryFile(path), 'utf8'), { merge: true }) as T;
}

/** Packs what was built just now into an empty folder; a release that lies about may be older. @returns The tarball's path */
export function packInto(folder: string): string {
  const flags = ['--ignore-scripts', '--silent', '--pack-destination', folder];
  execFileSync('npm', ['pack', ...flags], { cwd: repositoryFile('.'), stdio: 'pipe' });
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? 'nothing');
}
