import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { internalError, notInstalled } from '../errors/mlperf-error.ts';

/**
 * The only place that knows where this package's files are: in a clone, in an installed package, or
 * (in tests) in TypeScript sources. Worker threads cannot load TypeScript on Node 20, so code
 * loaded by path always comes from `dist/`.
 */
const packageRoot: string = findPackageRoot(dirname(fileURLToPath(import.meta.url)));

function findPackageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) {
    throw internalError(`no package.json above ${fileURLToPath(import.meta.url)}`);
  }
  return findPackageRoot(parent);
}

/** Root folder of `.proto` imports. */
export function protoFolder(): string {
  return join(packageRoot, 'proto');
}

/**
 * File with a FileDescriptorSet of every gRPC service of a SUT node: its own, health and
 * reflection. Made by `npm run proto:descriptor`.
 */
export function descriptorSetFile(): string {
  return join(packageRoot, 'proto', 'descriptor', 'services.bin');
}

/**
 * Path of a data file beside the code: in a clone's sources, or in `dist/`, where the build copies
 * it.
 * @param path Below the package root, such as `shared/rules/rounds/v4.1.conf`.
 * @throws MlperfError `ERR_NOT_INSTALLED` if the file is missing.
 */
export function dataFile(path: string): string {
  return present(fileURLToPath(new URL(`../../../${path}`, import.meta.url)));
}

/** Folder of the compiled files. */
export function distFolder(): string {
  return join(packageRoot, 'dist');
}

/**
 * URL of a compiled module, for `import()` and `new Worker()`.
 * @param module Path below the package root without `dist/`, ending in `.js`.
 * @throws MlperfError `ERR_NOT_INSTALLED` if the file is missing.
 */
export function compiledModule(module: string): URL {
  return pathToFileURL(present(join(packageRoot, 'dist', module)));
}

function present(path: string): string {
  if (existsSync(path)) return path;
  throw notInstalled(
    `${path} is missing: in a clone run "npm run build", in an installation install longhaul again`,
  );
}

/** The fields of longhaul's own package.json that are read. */
function ownManifest() {
  return JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
}

/** Read once: a newer release may replace the files that this process was started from. */
const startedVersion: string = ownManifest().version;

/** Version of this package when this process started. */
export function packageVersion(): string {
  return startedVersion;
}

/** An optional peer package as an argument of `npm install`, with the supported versions. */
export function installableName(peer: string): string {
  return `${peer}@${ownManifest().peerDependencies[peer]}`;
}
