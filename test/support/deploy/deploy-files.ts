import { readFileSync } from 'node:fs';
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
