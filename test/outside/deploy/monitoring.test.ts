import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { flagOf } from '../../../shared/config/setting.ts';
import { SUT_OPTIONS } from '../../../sut-node/settings/sut-settings.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { freePort } from '../../scenes/host/ports.ts';
import { LonghaulProcess, SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import {
  readDashboard,
  readRules,
  readYaml,
  repositoryFile,
} from '../../scenes/host/repository.ts';
import { canRun } from '../../scenes/sut-node/certificates.ts';

// Goal: Prometheus takes configuration and rules, and every expression of dashboard, alerts and
// rules finds what it asks for while two nodes are measured. Method: promtool over the files; a
// real Prometheus on loopback with these files, other targets and shorter intervals; nodes and
// LoadGen with mutual TLS and a token. The dashboard itself is opened by nobody.

const CONFIG = repositoryFile('deploy/monitoring/prometheus/prometheus.yml');
const missing = ['promtool', 'prometheus'].filter((tool) => !canRun(tool, ['--version']));
const why =
  missing.length === 0 ? undefined : `no ${missing.join(', no ')}: apt-get install prometheus`;
const POLL = { timeout: 120_000, interval: 500 };
/** Values that Grafana puts in place of its variables. */
const GRAFANA: readonly (readonly [RegExp, string])[] = [
  [/\$__rate_interval/g, '10s'],
  [/\$(node|loadgen)\b/g, '.*'],
];

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

interface Groups {
  readonly data: {
    readonly groups: readonly {
      readonly rules: readonly {
        readonly name: string;
        readonly health: string;
        readonly lastError?: string;
        readonly state?: string;
      }[];
    }[];
  };
}

describe.skipIf(why !== undefined)(
  `deploy/monitoring${why === undefined ? '' : ` (${why})`}`,
  () => {
    const folder = suiteFolder();
    let url = '';
    let prometheus: LonghaulProcess;
    let nodes: SutNodeProcess[] = [];
    let run: LonghaulProcess;

    beforeAll(async () => {
      const names = ['sut-a', 'sut-b'];
      const script = repositoryFile('deploy/certificates/make-certificates.sh');
      const hosts = names.flatMap((name) => ['--sut', `${name}=127.0.0.1`]);
      execFileSync('sh', [script, join(folder, 'tls'), ...hosts]);
      nodes = await Promise.all(
        names.map((name) =>
          SutNodeProcess.start(name, [
            ...['--metrics-listen', '127.0.0.1:0', '--cache-dir', testCacheFolder()],
            ...tlsOf(join(folder, 'tls', name), '--tls-client-ca'),
          ]),
        ),
      );
      for (const node of nodes) await node.process.says(/is ready/, 240_000);
      const port = await freePort();
      run = spawnLonghaul(['run', ...load(), '--metrics-listen', `127.0.0.1:${port}`]);
      await run.says(/metrics at/);
      const scraped = nodes.map(
        ({ process }) => new URL(/http:\S+\/metrics/.exec(process.stderr)?.[0] ?? '').host,
      );
      [url, prometheus] = await startPrometheus(scraped, `127.0.0.1:${port}`);
    });

    afterAll(async () => {
      for (const one of [run, prometheus]) one?.kill('SIGTERM');
      await Promise.all([run?.ended, prometheus?.ended, ...nodes.map((node) => node.stop())]);
    });

    it('has files of which promtool has no complaint', () => {
      for (const args of [
        ['check', 'config', CONFIG],
        ['test', 'rules', 'alerts.promtool.yml'],
      ]) {
        const { status, stdout, stderr } = spawnSync('promtool', args, {
          cwd: import.meta.dirname,
          encoding: 'utf8',
        });
        expect(stderr).toBe('');
        expect(stdout).toContain('SUCCESS');
        expect(status).toBe(0);
      }
    });

    it('tests every alert', () => {
      const tests = readFileSync(join(import.meta.dirname, 'alerts.promtool.yml'), 'utf8');
      const untested = readRules('alerts').filter(({ alert }) => !tests.includes(`${alert}`));
      expect(untested).toEqual([]);
    });

    it('shows data in every panel while a run goes on', async () => {
      await expect.poll(() => value('count(up == 1)'), POLL).toBe(4);
      // Long enough that rates over 10 s have two scrapes, and before the run ends.
      const half = 'longhaul_loadgen_progress_ratio > 0.5';
      await expect.poll(async () => (await ask(half)).data.result.length, POLL).toBe(1);
      const empty: string[] = [];
      for (const { title, targets = [] } of readDashboard().panels) {
        for (const { refId, expr } of targets) {
          const { status, error, data } = await ask(filledIn(expr));
          expect(`${title} ${refId}: ${status} ${error ?? ''}`).toBe(`${title} ${refId}: success `);
          const numbers = data.result.filter((one) => !Number.isNaN(Number(one.value[1])));
          if (numbers.length === 0) empty.push(`${title} ${refId}: ${expr}`);
        }
      }
      // Nobody asks these nodes by the Open Inference Protocol, so that no such request was
      // refused.
      expect(empty).toEqual([expect.stringContaining('longhaul_sut_oip_requests_total')]);
    });

    it('shows what is there: two nodes, their names, the rate that was requested', async () => {
      const panels = readDashboard().panels;
      const first = (title: string): string =>
        filledIn(panels.find((panel) => panel.title === title)?.targets?.[0]?.expr ?? '');
      expect(await value(first('Nodes ready'))).toBe(2);
      const byNode = await ask(first('Samples answered'));
      expect(
        byNode.data.result
          .map((one) => (one as unknown as { metric: { node: string } }).metric.node)
          .sort(),
      ).toEqual(['sut-a', 'sut-b']);
      const rate = await value(first('Completed'));
      expect(rate).toBeGreaterThan(25);
      expect(rate).toBeLessThan(100);
    });

    it('records figures, and evaluates every rule without an error', async () => {
      for (const { record = '' } of readRules('recording')) {
        const { data } = await ask(record);
        expect(`${record}: ${data.result.length > 0}`).toBe(`${record}: true`);
      }
      const rules = await allRules();
      const named = [...readRules('alerts'), ...readRules('recording')].map(
        ({ alert, record }) => alert ?? record,
      );
      expect(rules.map(({ name }) => name).sort()).toEqual(named.sort());
      expect(rules.filter(({ health, lastError }) => health !== 'ok' || lastError)).toEqual([]);
    });

    it('measures meanwhile: the run ends VALID', async () => {
      const { code, stdout } = await run.ended;
      expect(stdout).toMatch(/^VALID /m);
      expect(code).toBe(0);
    });

    it('begins to alert when a node is gone', async () => {
      const state = async (): Promise<string | undefined> =>
        (await allRules()).find(({ name }) => name === 'LonghaulNodeDown')?.state;
      expect(await state()).toBe('inactive');
      await nodes[1]?.stop();
      await expect.poll(state, POLL).toBe('pending');
    });

    const load = (): string[] => [
      ...['--sut', nodes.map(({ address }) => address).join(','), '--benchmark', 'digits'],
      ...'--scenario Server --target-qps 50 --min-duration 40s --target-latency 5s'.split(' '),
      ...['--cache-dir', testCacheFolder(), '--output', join(folder, 'run')],
      ...tlsOf(join(folder, 'tls/loadgen'), '--tls-ca'),
    ];

    async function startPrometheus(
      sut: readonly string[],
      loadgen: string,
    ): Promise<[string, LonghaulProcess]> {
      const own = join(folder, 'prometheus');
      cpSync(repositoryFile('deploy/monitoring/prometheus'), own, { recursive: true });
      writeFileSync(join(own, 'targets/sut.yml'), JSON.stringify([{ targets: sut }]));
      writeFileSync(join(own, 'targets/loadgen.yml'), JSON.stringify([{ targets: [loadgen] }]));
      const listen = `127.0.0.1:${await freePort()}`;
      const text = readFileSync(CONFIG, 'utf8')
        .replaceAll(/(_interval|_timeout): \d+s/g, '$1: 1s')
        .replace('localhost:9090', listen);
      expect(parse(text)).not.toEqual(parse(readFileSync(CONFIG, 'utf8')));
      writeFileSync(join(own, 'prometheus.yml'), text);
      const flags = [
        `--config.file=${join(own, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
      ];
      return [
        `http://${listen}`,
        new LonghaulProcess(['prometheus', ...flags, `--web.listen-address=${listen}`]),
      ];
    }

    async function ask(expression: string): Promise<Answer> {
      const response = await fetch(
        `${url}/api/v1/query?${new URLSearchParams({ query: expression })}`,
      );
      return (await response.json()) as Answer;
    }

    /** Of an expression with one series; NaN where there is none. */
    async function value(expression: string): Promise<number> {
      try {
        return Number((await ask(expression)).data.result[0]?.value[1] ?? Number.NaN);
      } catch (error) {
        // Prometheus does not listen yet: the caller asks again, until its time is over.
        if (error instanceof TypeError) return Number.NaN;
        throw error;
      }
    }

    async function allRules(): Promise<Groups['data']['groups'][number]['rules'][number][]> {
      const response = await fetch(`${url}/api/v1/rules`);
      return ((await response.json()) as Groups).data.groups.flatMap(({ rules }) => [...rules]);
    }
  },
);

describe('the dashboard and the rules', () => {
  const dashboard = readDashboard();
  const alerts = readRules('alerts');
  const shown = dashboard.panels.filter(({ type }) => type !== 'row');
  const targets = shown.flatMap(({ targets: all = [] }) => all);
  const isUnique = (all: readonly unknown[]): void => expect(new Set(all).size).toBe(all.length);

  it('have identities that stay, each its own', () => {
    expect([dashboard.uid, dashboard.title]).toEqual(['longhaul', 'longhaul']);
    isUnique(dashboard.panels.map(({ id }) => id));
    isUnique(dashboard.panels.map(({ title }) => title));
    for (const { targets: all = [] } of shown) isUnique(all.map(({ refId }) => refId));
    isUnique(alerts.map(({ alert }) => alert));
  });

  it.each(shown)('$title: unit, description, data source by variable', (panel) => {
    expect(panel.title).not.toBe('');
    expect(panel.description).toMatch(/^[A-Z0-9].*\.$/s);
    expect(panel.fieldConfig?.defaults.unit).toMatch(/^(s|short|cps|Bps|bytes|percentunit)$/);
    for (const { datasource } of [panel, ...(panel.targets ?? [])])
      expect(datasource?.uid).toMatch(/^\$\{datasource\}$/);
  });

  it('has the variables that it asks with, and lets nodes be chosen by the name that they tell', () => {
    const { list } = dashboard.templating;
    const texts = targets.map(({ expr }) => expr).join('\n');
    const used = [...texts.matchAll(/\$\{?(\w+)/g)].map(([, name]) => name);
    const ours = new Set([...used.filter((name) => name !== '__rate_interval'), 'datasource']);
    expect([...ours].sort()).toEqual(list.map(({ name }) => name).sort());
    const node = list.find(({ name }) => name === 'node');
    expect(node?.definition).toBe('label_values(longhaul_sut_info, node)');
    const ofNodes = targets.filter(({ expr }) => /longhaul_sut_|nodejs_/.test(expr));
    expect(ofNodes.filter(({ expr }) => !expr.includes('node=~"$node"'))).toEqual([]);
  });

  it.each(alerts)('$alert says how bad it is, what, and what to look at', (rule) => {
    expect(rule.alert).toMatch(/^Longhaul[A-Z]/);
    expect(rule.labels?.['severity']).toMatch(/^(info|warning|critical)$/);
    expect(rule.annotations?.['summary']).toContain('{{ $labels.instance }}');
    expect(rule.annotations?.['description']).toMatch(/\.$/);
  });

  it('name flags and jobs that there are', () => {
    const flags = Object.keys({ ...RUN_SETTINGS, ...SUT_OPTIONS }).map(flagOf);
    const texts = [
      ...alerts.map(({ annotations }) => annotations?.['description']),
      ...shown.map(({ description }) => description),
    ];
    const named = texts.join('\n').match(/--[a-z][a-z-]+/g) ?? [];
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((flag) => !flags.includes(flag))).toEqual([]);
    const jobs = readFileSync(CONFIG, 'utf8').match(/(?<=job_name: ).*/g);
    for (const { expr } of alerts)
      for (const [job] of expr.matchAll(/(?<=job=")[^"]*/g)) expect(jobs).toContain(job);
  });

  it('are in the PrometheusRule of deploy/kubernetes as well, which is a copy', async () => {
    const groupsOf = (name: string): readonly unknown[] =>
      readYaml<{ groups: unknown[] }>(`deploy/monitoring/prometheus/rules/${name}.yml`).groups;
    const object = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'longhaul', labels: { 'app.kubernetes.io/name': 'longhaul' } },
      spec: { groups: [...groupsOf('recording'), ...groupsOf('alerts')] },
    };
    const head =
      '# A copy of deploy/monitoring/prometheus/rules, made by its test; change those.\n';
    await expect(head + stringify(object, { lineWidth: 0 })).toMatchFileSnapshot(
      repositoryFile('deploy/kubernetes/components/monitoring/rules.yaml'),
    );
  });
});

function filledIn(expr: string): string {
  return GRAFANA.reduce((text, [variable, by]) => text.replaceAll(variable, by), expr);
}

function tlsOf(folder: string, authority: string): string[] {
  const file = (name: string): string => join(folder, name);
  return [
    ...['--tls-cert', file('tls.crt'), '--tls-key', file('tls.key')],
    ...[authority, file('ca.crt'), '--token-file', file('token')],
  ];
}
