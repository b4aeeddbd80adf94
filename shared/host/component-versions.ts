import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { notInstalled } from '../base/errors/mlperf-error.ts';
import { installableName, packageVersion } from '../base/files/package-files.ts';
import { lz4Block } from '../compression/codec.ts';

/** A piece of software by its usual name. */
export interface ComponentVersion {
  readonly name: string;
  readonly version: string;
}

/** Packages whose version affects a measurement. */
const PACKAGES = ['@grpc/grpc-js', 'onnxruntime-node', 'sharp'] as const;

/** longhaul and what it runs on. */
export function softwareComponents(): ComponentVersion[] {
  return [{ name: 'longhaul', version: packageVersion() }, ...componentVersions()];
}

/** Versions of the node's software; a package that is not installed is left out. */
export function componentVersions(): ComponentVersion[] {
  const components: ComponentVersion[] = [{ name: 'node', version: process.versions.node }];
  for (const name of PACKAGES) {
    const version = installedVersion(name);
    if (version !== undefined) components.push({ name, version });
  }
  components.push({ name: 'lz4 codec', version: lz4Block().origin });
  return components;
}

/** Reads the package's manifest: it is not loaded, and its `exports` do not hide it. */
function installedVersion(name: string): string | undefined {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const manifest = folders.map((folder) => join(folder, name, 'package.json')).find(existsSync);
  if (manifest === undefined) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/**
 * The package that runs models: an optional peer, so a LoadGen node can do without it
 * (deploy/README.md).
 */
const ONNX_RUNTIME = 'onnxruntime-node';

/**
 * Install command for this platform. On linux/x64 the package fetches CUDA libraries at
 * installation and fails if their server is unreachable; inference on the CPU does not need them.
 */
export function onnxRuntimeInstallCommand(): string {
  const isFetching = process.platform === 'linux' && process.arch === 'x64';
  const skip = isFetching ? 'ONNXRUNTIME_NODE_INSTALL=skip ' : '';
  return `${skip}npm install ${installableName(ONNX_RUNTIME)}`;
}

/** Message if ONNX Runtime is missing. */
export function absentOnnxRuntimeText(): string {
  return `the package ${ONNX_RUNTIME} is not installed: run "${onnxRuntimeInstallCommand()}"`;
}

/**
 * Check for a verb that starts a SUT node itself: it fails before the node starts, with the cause.
 * @throws MlperfError `ERR_NOT_INSTALLED`
 */
export function requireOnnxRuntime(): void {
  if (installedVersion(ONNX_RUNTIME) === undefined) throw notInstalled(absentOnnxRuntimeText());
}
