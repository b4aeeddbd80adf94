import { homedir } from 'node:os';
import { join } from 'node:path';

/** Folder for generated data sets and models: the user's cache folder by the XDG convention. */
export function defaultCacheFolder(): string {
  const xdg = process.env['XDG_CACHE_HOME'];
  const base = xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache');
  return join(base, 'longhaul');
}
