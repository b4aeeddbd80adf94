import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder } from '../../../shared/base/files/package-files.ts';

/** Folder of the units. */
export const SYSTEMD_FOLDER: string = join(distFolder(), '..', 'deploy', 'systemd');

/** Text of a file of deploy/systemd. */
export function systemdFile(name: string): string {
  return readFileSync(join(SYSTEMD_FOLDER, name), 'utf8');
}

/** Path of a program in PATH, or undefined. */
export function programPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(':')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/** Values of a key of a unit, in their order; a line that ends in a backslash goes on. Source: systemd.syntax(7). */
export function unitValues(text: string, key: string): string[] {
  return text
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1));
}

/** Variables of an environment file. Source: systemd.exec(5), EnvironmentFile=. @throws Error at a line that is none */
export function environmentOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s*[#;]/.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([A-Z][A-Z_]*)=(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`no variable: ${line}`);
      return [name, value.trim().replace(/^(["'])(.*)\1$/, '$2')];
    }),
  );
}
