import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes files by their paths, and the folders that they need. */
export function writeTree(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Every file of a folder by its path, as text. */
export function readTree(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  return Object.fromEntries(
    paths.sort().map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
}

/** An accuracy log in LoadGen's form of exactly so many bytes; blanks before its end fill it up. */
export function accuracyLogOf(bytes: number): string {
  const end = '\n]\n';
  let text = '[\n';
  for (let i = 0; ; i += 1) {
    const entry = `${i === 0 ? '' : ',\n'}{ "seq_id" : ${i}, "qsl_idx" : ${i}, "data" : "0A0B0C0D" }`;
    if (text.length + entry.length + end.length > bytes) break;
    text += entry;
  }
  return text + ' '.repeat(bytes - text.length - end.length) + end;
}
