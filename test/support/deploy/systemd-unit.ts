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

/**
 * Words of a command of a unit. `${NAME}` is part of one word, `$NAME` alone is as many words as its value has, `%i` the
 * instance. Source: systemd.service(5), Command lines.
 * @throws Error for `${NAME}` without a value, which would be an empty word
 */
export function commandOf(
  command: string,
  instance: string,
  environment: Readonly<Record<string, string>>,
): string[] {
  return command
    .split(/\s+/)
    .filter((word) => word !== '')
    .flatMap((word) => {
      const [, alone] = /^\$([A-Z_]+)$/.exec(word) ?? [];
      if (alone !== undefined) return (environment[alone] ?? '').split(/\s+/).filter(Boolean);
      const whole = word.replace(/\$\{([A-Z_]+)\}/g, (_all, name: string) => {
        const value = environment[name];
        if (value === undefined || value === '')
          throw new Error(`${name} has no value in: ${word}`);
        return value;
      });
      return [whole.replaceAll('%i', instance)];
    });
}

/** Variables that a unit sets itself, and over them those of its environment file. */
export function unitEnvironment(unit: string, file: string): Record<string, string> {
  const own = unitValues(unit, 'Environment').flatMap((line) => line.split(/\s+/));
  return { ...environmentOf(own.join('\n')), ...environmentOf(file) };
}
