import { existsSync, realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

/** True where a path is a folder or in it, links followed as far as the path exists. */
export function isWithin(path: string, folder: string): boolean {
  const real = realPath(resolve(path));
  const parent = realPath(resolve(folder));
  return real === parent || real.startsWith(parent.endsWith(sep) ? parent : parent + sep);
}

function realPath(path: string): string {
  const parts = path.split(sep);
  for (let count = parts.length; count > 0; count -= 1) {
    const above = parts.slice(0, count).join(sep) || sep;
    if (existsSync(above)) return join(realpathSync(above), ...parts.slice(count));
  }
  return path;
}
