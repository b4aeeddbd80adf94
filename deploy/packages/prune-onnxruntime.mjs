#!/usr/bin/env node
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

// ONNX Runtime's package holds its libraries for every system and processor; a machine uses one of them.
// Plain JavaScript, and nothing of longhaul: it runs where nothing is built, in a container's build too.

const PACKAGE = 'onnxruntime-node';
const HELP = `Usage: node prune-onnxruntime.mjs NODE_MODULES [--dry-run]

Deletes from every ${PACKAGE} below NODE_MODULES the libraries of other systems and processors
than those of this machine (${process.platform} ${process.arch}). Nothing is deleted when this machine's are not there.
"npm ci" and "npm install" may bring them back: run it again after them.

  --dry-run  say what would be deleted, and delete nothing

Exit codes: 0 done, also where there was nothing to delete; 2 wrong arguments; 6 not installed, or not for this machine.`;

/** Ends with one line on stderr. */
function fail(exitCode, text) {
  process.stderr.write(`prune-onnxruntime: ${text}\n`);
  process.exit(exitCode);
}

/** Every installed copy of the package at or below a node_modules folder; links are not followed. */
function copies(modules) {
  const found = [];
  for (const entry of readdirSync(modules, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(modules, entry.name);
    if (entry.name.startsWith('@')) found.push(...copies(path));
    else if (entry.name === PACKAGE) found.push(path);
    else if (existsSync(join(path, 'node_modules')))
      found.push(...copies(join(path, 'node_modules')));
  }
  return found;
}

/** Bytes of the files below a folder. */
function bytesOf(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? bytesOf(path) : statSync(path).size;
  }
  return bytes;
}

/** Folders below `bin/` by ABI, system and processor: those of this machine, and the others. */
function platformFolders(copy) {
  const kept = [];
  const others = [];
  const bin = join(copy, 'bin');
  for (const abi of existsSync(bin) ? readdirSync(bin) : []) {
    for (const platform of readdirSync(join(bin, abi))) {
      for (const arch of readdirSync(join(bin, abi, platform))) {
        const isOurs = platform === process.platform && arch === process.arch;
        (isOurs ? kept : others).push(join(bin, abi, platform, arch));
      }
    }
  }
  return { kept, others };
}

/** What a folder of libraries lacks to be used, or undefined. */
function lackOf(folder) {
  const files = readdirSync(folder).filter((name) => statSync(join(folder, name)).size > 0);
  if (!files.includes('onnxruntime_binding.node')) return 'onnxruntime_binding.node';
  const isLibrary = (name) => /^(lib)?onnxruntime\.(.*\.)?(so|dylib|dll)(\.|$)/.test(name);
  return files.some(isLibrary) ? undefined : 'the library of ONNX Runtime itself';
}

/** Ends the program where a copy could not be used after it. */
function check(copy) {
  const { kept } = platformFolders(copy);
  const here = `${process.platform} ${process.arch}`;
  if (kept.length === 0) fail(6, `${copy} has no libraries for ${here}; nothing was deleted`);
  for (const folder of kept) {
    const lack = lackOf(folder);
    if (lack !== undefined) fail(6, `${folder} lacks ${lack}; nothing was deleted`);
  }
}

/** Prunes one copy; returns the bytes that it gave back. */
function prune(copy, isDryRun) {
  const { others } = platformFolders(copy);
  let saved = 0;
  for (const folder of others) {
    saved += bytesOf(folder);
    if (!isDryRun) rmSync(folder, { recursive: true });
  }
  // The folder of a system goes with its last processor.
  for (const platform of new Set(others.map((folder) => join(folder, '..')))) {
    if (!isDryRun && readdirSync(platform).length === 0) rmSync(platform, { recursive: true });
  }
  return saved;
}

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(`${HELP}\n`);
  process.exit(0);
}
const isDryRun = args.includes('--dry-run');
const folders = args.filter((arg) => arg !== '--dry-run');
const unknown = folders.find((arg) => arg.startsWith('-'));
if (unknown !== undefined) fail(2, `unknown option ${unknown}; --help says what there is`);
if (folders.length !== 1) fail(2, 'give one folder: node_modules, where ONNX Runtime is installed');
const modules = resolve(folders[0]);
if (!existsSync(modules)) fail(6, `${modules} is not there`);
if (!statSync(modules).isDirectory()) fail(2, `${modules} is not a folder`);
// Somebody who means the folder above it would be told that nothing is installed.
if (basename(modules) !== 'node_modules') fail(2, `${modules} is not named node_modules`);
const found = copies(modules);
if (found.length === 0) fail(6, `${PACKAGE} is not installed in ${modules}`);
for (const copy of found) check(copy);
for (const copy of found) {
  const saved = (prune(copy, isDryRun) / 1e6).toFixed(0);
  const left = (bytesOf(copy) / 1e6).toFixed(0);
  const what = isDryRun
    ? `would give back ${saved} MB of ${left} MB`
    : `gave back ${saved} MB, ${left} MB are left`;
  process.stdout.write(`${copy}: ${what} (kept ${process.platform} ${process.arch})\n`);
}
