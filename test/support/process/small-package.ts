import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packs a package of a name, with a program "longhaul" that says the name, and no dependency that npm would fetch. */
export function smallPackage(folder: string, name: string): string {
  const content = join(folder, name, 'package');
  mkdirSync(content, { recursive: true });
  const peers = {
    peerDependencies: { 'onnxruntime-node': '1.2.3' },
    peerDependenciesMeta: { 'onnxruntime-node': { optional: true } },
  };
  const manifest = { name, version: '1.0.0', bin: { longhaul: 'main.js' }, ...peers };
  writeFileSync(join(content, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(content, 'main.js'), `#!/usr/bin/env node\nconsole.log('${name}');\n`);
  const path = join(folder, `of-${name}.tgz`);
  execFileSync('tar', ['-czf', path, '-C', join(folder, name), 'package']);
  return path;
}
