import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { VERB_NAMES, verbCommand } from '../../../loadgen-node/cli/verbs.ts';
import { distFolder } from '../../../shared/base/files/package-files.ts';

const ROOT = join(distFolder(), '..');

/** Path of a file of the repository. */
export const repositoryFile = (path: string): string => join(ROOT, path);

/** Text of a file of the repository. */
export const repositoryText = (path: string): string => readFileSync(repositoryFile(path), 'utf8');

/** A YAML file of the repository, aliases and merge keys taken in. */
export function readYaml<T>(path: string): T {
  return parse(repositoryText(path), { merge: true }) as T;
}

/**
 * Packs what was built just now into an empty folder; a release that lies about may be older.
 * @returns The tarball's path
 */
export function packInto(folder: string): string {
  const flags = ['--ignore-scripts', '--silent', '--pack-destination', folder];
  execFileSync('npm', ['pack', ...flags], { cwd: ROOT, stdio: 'pipe' });
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? 'nothing');
}

const FOLDERS = ['docs', 'deploy', 'proto', 'qdl', 'sut-node', 'loadgen-node'];

/** Every page of this tree, by its path from the root. */
export const PAGES: readonly string[] = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(folder, file),
    ),
  ),
]
  .filter((file) => file.endsWith('.md'))
  .toSorted();

/** A page without its blocks of code, in which a `#` begins a comment. */
export const proseOf = (page: string): string =>
  repositoryText(page).replace(/^ *(```+)[\s\S]*?^ *\1 *$/gm, '');

/** The command that the words end in: a verb, or one of its own verbs. */
function innermost(command: Command, words: readonly string[]): Command {
  const next = command.commands.find((one) => words.includes(one.name()));
  return next === undefined ? command : innermost(next, words);
}

const commands = new Map<string, Command>();

/** Flags of a command line that its verb does not have; of a verb that there is not, the verb. */
export async function unknownFlags(words: readonly string[]): Promise<string[]> {
  const verb = VERB_NAMES.find((name) => name === words[0]);
  if (verb === undefined) return words.slice(0, 1);
  const known = commands.get(verb) ?? (await verbCommand(verb, () => {}));
  commands.set(verb, known);
  const end = words.indexOf('--');
  const flags = (end < 0 ? words : words.slice(0, end))
    .filter((word) => word.startsWith('--'))
    .map((word) => word.replace(/=.*$/, ''));
  const { options } = innermost(known, words.slice(1));
  return flags.filter((flag) => flag !== '--help' && !options.some(({ long }) => long === flag));
}

/** A Grafana dashboard, as far as tests read it. */
interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly description?: string;
    readonly datasource?: { readonly uid: string };
    readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
    readonly targets?: readonly {
      readonly refId: string;
      readonly expr: string;
      readonly datasource?: { readonly uid: string };
    }[];
  }[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly definition?: string;
    }[];
  };
}

/** A rule of Prometheus. */
interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The dashboard of deploy/monitoring. */
export function readDashboard(): Dashboard {
  const path = 'deploy/monitoring/grafana/dashboards/longhaul.json';
  return JSON.parse(repositoryText(path)) as Dashboard;
}

/** The rules of a file in deploy/monitoring/prometheus/rules. */
export function readRules(name: 'alerts' | 'recording'): Rule[] {
  const path = `deploy/monitoring/prometheus/rules/${name}.yml`;
  return readYaml<{ groups: { rules: Rule[] }[] }>(path).groups.flatMap(({ rules }) => rules);
}

/** Folder of the units. */
export const SYSTEMD_FOLDER = repositoryFile('deploy/systemd');

/** Text of a file of deploy/systemd. */
export const systemdFile = (name: string): string => repositoryText(`deploy/systemd/${name}`);

/** Path of a program in PATH, or undefined. */
export function programPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(':')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/**
 * Values of a key of a unit, in their order; a line that ends in a backslash goes on. Source:
 * systemd.syntax(7).
 */
export function unitValues(text: string, key: string): string[] {
  return text
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1));
}

/**
 * Variables of an environment file. Source: systemd.exec(5), EnvironmentFile=. @throws Error at a
 * line that is none
 */
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
