#!/usr/bin/env node
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// ONNX Runtime's package has its libraries for every system and processor, 301 MB; a machine uses
// 46 MB of them. Plain JavaScript without imports of longhaul: it also runs in the build of an
// image.

const HELP = `Usage: node prune-onnxruntime.mjs NODE_MODULES

Deletes from NODE_MODULES/onnxruntime-node the libraries for other systems and processors than this machine's
(${process.platform} ${process.arch}). "npm ci" and "npm install" may bring them back.

Exit codes: 0 done; 2 wrong arguments; 6 there are no libraries for this machine, and nothing was deleted.`;

const [modules, ...more] = process.argv.slice(2);
if (modules === '--help' || modules === '-h') {
  console.log(HELP);
  process.exit(0);
}
if (modules === undefined || modules.startsWith('-') || more.length > 0) {
  console.error('prune-onnxruntime: one folder is needed, node_modules; --help says more');
  process.exit(2);
}
const napi = join(modules, 'onnxruntime-node', 'bin', 'napi-v6');
const ours = join(napi, process.platform, process.arch);
// The binding alone is no use: the library of ONNX Runtime itself lies beside it.
const isLibrary = (name) => /^(lib)?onnxruntime\.(.*\.)?(so|dylib|dll)(\.|$)/.test(name);
const files = existsSync(ours) ? readdirSync(ours) : [];
if (!files.includes('onnxruntime_binding.node') || !files.some(isLibrary)) {
  console.error(`prune-onnxruntime: ${ours} has no libraries; nothing was deleted`);
  process.exit(6);
}
for (const platform of readdirSync(napi)) {
  for (const arch of readdirSync(join(napi, platform))) {
    const folder = join(napi, platform, arch);
    if (folder !== ours) rmSync(folder, { recursive: true });
  }
  if (platform !== process.platform) rmSync(join(napi, platform), { recursive: true });
}
console.log(`${napi}: ${process.platform} ${process.arch} is left`);
