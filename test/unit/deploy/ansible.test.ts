import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { HEALTH_SETTINGS } from '../../../loadgen-node/operate/health/check-health.ts';
import { NAME_SETTINGS } from '../../../loadgen-node/run/ask-nodes.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { EXIT } from '../../../shared/base/process/exit-codes.ts';
import { addSettings, createCommand, settingsOf } from '../../../shared/config/command-line.ts';
import { flagOf, type SettingTable } from '../../../shared/config/setting.ts';
import { SUT_OPTIONS, toSutSettings } from '../../../sut-node/settings/sut-settings.ts';
import {
  environmentOf,
  readYaml,
  repositoryFile,
  repositoryText,
  systemdFile,
  unitValues,
} from '../../scenes/host/repository.ts';

// Goal: the playbooks say nothing that longhaul, its units or a bare Ansible does not take.
// test/outside/deploy/ansible.test.ts runs them.

const FOLDER = 'deploy/ansible';
const ROLE = `${FOLDER}/roles/longhaul`;
const files = readdirSync(repositoryFile(FOLDER), { recursive: true, encoding: 'utf8' });
const yamlFiles = files.filter((name) => name.endsWith('.yaml'));

const defaults = readYaml<Record<string, unknown>>(`${ROLE}/defaults/main.yaml`);
const derived = readYaml<Record<string, unknown>>(`${ROLE}/vars/main.yaml`);

/** Everything below a value of YAML that is a map. */
function mapsOf(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(mapsOf);
  if (typeof value !== 'object' || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(mapsOf)];
}

describe('files of deploy/ansible', () => {
  it.each(yamlFiles)('%s is YAML', (name) => {
    const { errors, warnings } = parseDocument(repositoryText(`${FOLDER}/${name}`));
    expect([...errors, ...warnings]).toEqual([]);
  });

  it.each(yamlFiles)(
    '%s has modules of ansible.builtin alone, and names files that are there',
    (name) => {
      for (const map of mapsOf(parse(repositoryText(`${FOLDER}/${name}`)))) {
        const modules = Object.keys(map).filter(
          (key) => key.includes('.') && /^[a-z_.]+$/.test(key),
        );
        expect(modules.filter((key) => !key.startsWith('ansible.builtin.'))).toEqual([]);
        const { 'ansible.builtin.include_tasks': tasks, 'ansible.builtin.include_role': role } =
          map;
        const included =
          typeof tasks === 'object' ? (tasks as { file: string } | null)?.file : tasks;
        const part = (role as { tasks_from: string } | undefined)?.tasks_from;
        const named = [included, part === undefined ? undefined : `${part}.yaml`]
          .filter((one) => typeof one === 'string')
          .flatMap((one) =>
            ['systemd', 'process'].map((how) => one.replace('{{ longhaul_service }}', how)),
          );
        for (const one of named) expect(files).toContain(join('roles/longhaul/tasks', one));
      }
    },
  );

  it('name scripts and units of this repository', () => {
    const named = yamlFiles.flatMap((name) =>
      [...repositoryText(`${FOLDER}/${name}`).matchAll(/\/\.\.\/\.\.\/\.\.\/([\w./-]+)/g)].map(
        ([, path = '']) => path,
      ),
    );
    expect(named).toContain('certificates/make-certificates.sh');
    for (const path of named) expect(existsSync(repositoryFile(`deploy/${path}`))).toBe(true);
  });

  it('show neither keys nor tokens: what copies them logs nothing, for the owner alone', () => {
    const copies = mapsOf(parse(repositoryText(`${ROLE}/tasks/up.yaml`))).filter((task) =>
      JSON.stringify(task['ansible.builtin.copy'] ?? '').includes('longhaul_tls_folder'),
    );
    expect(copies).toHaveLength(1);
    expect(copies[0]).toMatchObject({ no_log: true, 'ansible.builtin.copy': { mode: '0600' } });
  });

  it('explain every exit code of a run', () => {
    const codes = Object.keys(derived['lh_exit_codes'] as object).map(Number);
    expect(codes).toEqual(Object.values(EXIT));
  });
});

describe('the example', () => {
  const example = readYaml<Record<string, unknown>>(`${FOLDER}/inventory.example.yaml`);
  const said = Object.assign({}, ...mapsOf(example)) as Record<string, string>;

  it('has variables that there are', () => {
    const names = Object.keys(said).filter((name) => name.startsWith('longhaul_'));
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(Object.keys(defaults)).toContain(name);
  });

  it.each([
    ['the example', said],
    ['the defaults', defaults],
  ])('%s: flags are what longhaul takes', (_case, all) => {
    const { longhaul_benchmark, longhaul_scenario, longhaul_sut_flags, longhaul_run_flags } = all;
    const benchmark = ['--benchmark', String(longhaul_benchmark)];
    const words = (flags: unknown): string[] => String(flags).split(' ').filter(Boolean);
    const sut = [...benchmark, ...words(longhaul_sut_flags)];
    toSutSettings(valuesOf('sut', SUT_OPTIONS, sut));
    const scenario = ['--sut', '10.0.0.2:50051', '--scenario', String(longhaul_scenario)];
    valuesOf('run', RUN_SETTINGS, [...benchmark, ...scenario, ...words(longhaul_run_flags)]);
  });
});

function valuesOf<T extends SettingTable>(verb: string, table: T, flags: readonly string[]) {
  const command = addSettings(createCommand(verb, ''), table);
  command.parse([...flags], { from: 'user' });
  return settingsOf(command, verb, table).values;
}

describe('command lines of the role', () => {
  const client = JSON.stringify(derived['lh_client_words']);
  it.each<[string, string, SettingTable]>([
    ['sut', repositoryText(`${ROLE}/templates/sut.sh.j2`), SUT_OPTIONS],
    ['sut', repositoryText(`${ROLE}/templates/sut.env.j2`), SUT_OPTIONS],
    ['run', repositoryText(`${ROLE}/templates/run.sh.j2`) + client, RUN_SETTINGS],
    ['run', repositoryText(`${ROLE}/templates/loadgen.env.j2`), RUN_SETTINGS],
    ['name', repositoryText(`${ROLE}/tasks/reach.yaml`) + client, NAME_SETTINGS],
    ['health', repositoryText(`${ROLE}/tasks/node-process.yaml`), HEALTH_SETTINGS],
  ])('longhaul %s knows the flags', (_verb, text, table) => {
    const known = Object.keys(table).map(flagOf);
    const flags = [...text.matchAll(/--[a-z][a-z-]+/g)].map(([flag]) => flag);
    expect(flags.length).toBeGreaterThan(0);
    for (const flag of flags) expect(known).toContain(flag);
  });

  it.each([
    ['sut.env.j2', 'longhaul-sut@.service'],
    ['loadgen.env.j2', 'longhaul-loadgen@.service'],
  ])('%s sets variables that %s reads', (template, unit) => {
    const names = Object.keys(environmentOf(repositoryText(`${ROLE}/templates/${template}`)));
    expect(names.length).toBeGreaterThan(1);
    const starts = unitValues(systemdFile(unit), 'ExecStart').join();
    for (const name of names) expect(starts).toMatch(new RegExp(`\\$\\{?${name}\\b`));
  });
});
