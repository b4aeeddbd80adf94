import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { distFolder, protoFolder } from '../../../shared/base/files/package-files.ts';

/** Parts that are shipped: the QDL, what it shares with a SUT node, the wire contract. */
const PARTS = ['qdl', 'shared'] as const;

/**
 * longhaul's own sources that go into a tree, by path below their folder: TypeScript in a clone, the
 * compiled files where only those are installed. Rule: inference_rules v4.1, Network division (source of the QDL).
 */
export function longhaulSources(): ReadonlyMap<string, string> {
  const root = dirname(protoFolder());
  const files = new Map<string, string>();
  for (const part of PARTS) {
    const source = join(root, part);
    const [folder, ending] = existsSync(source)
      ? [source, '.ts']
      : [join(distFolder(), part), '.js'];
    addFiles(folder, part, ending, files);
  }
  addFiles(join(protoFolder(), 'mlperf'), 'proto/mlperf', '.proto', files);
  return files;
}

/** SHA-256 of each file in the form of sha256sum. */
export function checksumsOf(files: ReadonlyMap<string, string>): string {
  const lines = [...files].map(([name, file]) => {
    const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
    return `${hash}  ${name}\n`;
  });
  return lines.join('');
}

function addFiles(folder: string, name: string, ending: string, files: Map<string, string>): void {
  for (const entry of readdirSync(folder).sort()) {
    const path = join(folder, entry);
    if (statSync(path).isDirectory()) addFiles(path, `${name}/${entry}`, ending, files);
    else if (entry.endsWith(ending) || entry.endsWith('.conf')) files.set(`${name}/${entry}`, path);
  }
}
