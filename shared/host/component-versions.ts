import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageVersion } from '../base/files/package-files.ts';
import { lz4Block } from '../compression/lz4-block.ts';

/** A piece of software by its usual name. */
export interface ComponentVersion {
  readonly name: string;
  readonly version: string;
}

/** Packages whose version matters to a measurement. */
const PACKAGES = ['@grpc/grpc-js', 'onnxruntime-node', 'sharp'] as const;

/** longhaul and what it runs on. */
export function softwareComponents(): ComponentVersion[] {
  return [{ name: 'longhaul', version: packageVersion() }, ...componentVersions()];
}

/** Versions of what the node runs on; a package that is not installed is left out. */
export function componentVersions(): ComponentVersion[] {
  const components: ComponentVersion[] = [{ name: 'node', version: process.versions.node }];
  for (const name of PACKAGES) {
    const version = installedVersion(name);
    if (version !== undefined) components.push({ name, version });
  }
  components.push({ name: 'lz4 codec', version: lz4Block().origin });
  return components;
}

/** Reads the package's manifest: not loaded, and not hidden by its `exports`. */
function installedVersion(name: string): string | undefined {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const manifest = folders.map((folder) => join(folder, name, 'package.json')).find(existsSync);
  if (manifest === undefined) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
