import { printText } from '../../shared/base/process/terminal.ts';
import { jsonText } from '../../shared/base/text.ts';
import type { SelfCheck } from '../loadgen/logs/write/header-lines.ts';
import { checkSelf, writeManifest } from '../run/judge/self-check.ts';
import { verb } from './verb.ts';

/** `longhaul loadgen self-check`: whether the program's files are the ones that were built. */
export const selfCheckVerb = verb({
  json: 'own',
  flags: (command) =>
    command
      .option('--json', 'print JSON, with the hash of every file')
      .option('--write', 'write the manifest of the files as they are (a step of the build)'),
  example: `
Examples:
  longhaul loadgen self-check
  longhaul loadgen self-check --json

Exit codes: 0 unmodified, 3 modified or no manifest to compare with.`,
  action: ({ command }) => {
    const { json, write } = command.opts<{ json?: true; write?: true }>();
    const found = write === true ? writeManifest() : checkSelf();
    printText(process.stdout, json === true ? `${jsonText(found)}\n` : describe(found));
    return { isGood: found.state === 'unmodified' };
  },
});

function describe({ version, hash, state, differingFiles, files }: SelfCheck): string {
  const texts = {
    unmodified: 'unmodified: all files are those that were built',
    modified: `MODIFIED: ${differingFiles.length} files differ from the build`,
    'no-manifest': 'unknown: there is no manifest; "npm run build" makes one',
  };
  const lines = [
    `longhaul ${version}, ${Object.keys(files).length} files, SHA-256 ${hash}`,
    texts[state],
    ...differingFiles.map((path) => `  ${path}`),
  ];
  return `${lines.join('\n')}\n`;
}
