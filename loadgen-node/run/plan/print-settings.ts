import { stringify } from 'yaml';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';

/**
 * A section with its effective settings as YAML that could be a configuration file itself; each line
 * ends with a comment that tells where the value came from. What is not set stands as a comment.
 */
export function printSettings(section: string, settings: readonly ResolvedSetting[]): string {
  const lines = settings.map(({ key, raw, source }) =>
    raw === undefined
      ? { text: `  # ${key}:`, source }
      : { text: `  ${key}: ${stringify(raw, { collectionStyle: 'flow' }).trim()}`, source },
  );
  const width = Math.max(...lines.map((line) => line.text.length));
  const body = lines.map((line) => `${line.text.padEnd(width)}  # ${line.source}\n`);
  return `${section}:\n${body.join('')}`;
}
