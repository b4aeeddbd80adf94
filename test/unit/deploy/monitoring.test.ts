import { beforeAll, describe, expect, it } from 'vitest';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { flagOf } from '../../../shared/config/setting.ts';
import { SUT_OPTIONS } from '../../../sut-node/settings/sut-options.ts';
import { mountOf, readCompose } from '../../support/deploy/compose-files.ts';
import { type Panel, readDashboard, readRules } from '../../support/deploy/dashboard.ts';
import { readYaml } from '../../support/deploy/deploy-files.ts';
import { askedFor } from '../../support/deploy/promql.ts';
import { type ScrapedMetrics, scrapedMetrics } from '../../support/deploy/scraped-metrics.ts';

// Goal: dashboard and rules ask for what is scraped, and fit the compose file. Method: the registries of the program are
// scraped, and the files taken apart. What Prometheus itself says of them: test/deploy/monitoring.test.ts.

const dashboard = readDashboard();
const alerts = readRules('alerts');
const recorded = readRules('recording');
const shown = dashboard.panels.filter(({ type }) => type !== 'row');
const targets = shown.flatMap(({ title, targets: all = [] }) =>
  all.map(({ expr }) => ({ from: title, expr })),
);
const rules = [...alerts, ...recorded].map(({ alert, record, expr }) => ({
  from: alert ?? record ?? '',
  expr,
}));
/** What Prometheus adds to every series, and what it says of a target. */
const GIVEN_LABELS = ['job', 'instance'];
const GIVEN_METRICS = ['up'];

describe('expressions', () => {
  let scraped: ScrapedMetrics;

  beforeAll(async () => {
    scraped = await scrapedMetrics();
  });

  const unknownIn = (expr: string): string[] => {
    const { metrics, labels } = askedFor(expr);
    const defined = new Set([...GIVEN_METRICS, ...recorded.map(({ record }) => record)]);
    const wrong = [...metrics].filter((name) => !scraped.has(name) && !defined.has(name));
    const known = new Set(GIVEN_LABELS);
    for (const name of metrics) for (const label of scraped.get(name) ?? []) known.add(label);
    return [...wrong, ...[...labels].filter((label) => !known.has(label))];
  };

  it.each([...targets, ...rules])(
    '$from: every metric and label is one of a scrape',
    ({ expr }) => {
      expect(askedFor(expr).metrics.size).toBeGreaterThan(0);
      expect(unknownIn(expr)).toEqual([]);
    },
  );

  it.each([
    ['sum(rate(longhaul_sut_sample_total[1m]))', ['longhaul_sut_sample_total']],
    ['sum by (phases) (longhaul_sut_sample_duration_seconds_sum{le="1"})', ['phases']],
    [
      'histogram_quantile(0.9, longhaul_sut_batch_size_samples{node="a"}) > 1e3 or up',
      ['longhaul_sut_batch_size_samples', 'node'],
    ],
    ['a:recorded:name * 2', ['a:recorded:name']],
  ])('finds what is none in %s', (expr, unknown) => {
    expect(unknownIn(expr)).toEqual(expect.arrayContaining(unknown));
  });

  it('leaves no metric of a run or a node unseen but those that others hold as well', () => {
    const asked = new Set(
      [...targets, ...rules].flatMap(({ expr }) => [...askedFor(expr).metrics]),
    );
    const base = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');
    const seen = new Set([...asked].map(base));
    const unseen = [...scraped.keys()]
      .map(base)
      .filter((name) => /^longhaul_/.test(name) && !seen.has(name));
    expect([...new Set(unseen)].sort()).toEqual([
      'longhaul_sut_credit_bytes',
      'longhaul_sut_parts_total',
      'longhaul_sut_queries_total',
      'longhaul_sut_runs_total',
      'longhaul_sut_samples_received_total',
      'longhaul_sut_streams_total',
    ]);
  });
});

describe('the dashboard', () => {
  it('has an identity that stays', () => {
    expect([dashboard.uid, dashboard.title]).toEqual(['longhaul', 'longhaul']);
  });

  it('has panels and queries with identities of their own', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const titles = dashboard.panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const { targets: all = [] } of shown)
      expect(new Set(all.map(({ refId }) => refId)).size).toBe(all.length);
  });

  it.each(shown)('$title: unit, description, data source by variable', (panel) => {
    expect(panel.title).not.toBe('');
    expect(panel.description).toMatch(/^[A-Z0-9].*\.$/s);
    expect(panel.fieldConfig?.defaults.unit).toMatch(/^(s|short|cps|Bps|bytes|percentunit)$/);
    const sources = [panel, ...(panel.targets ?? [])].map(({ datasource }) => datasource?.uid);
    expect(sources.length).toBeGreaterThan(1);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's own way to write a variable.
    expect(new Set(sources)).toEqual(new Set(['${datasource}']));
  });

  it('lays its panels side by side, none over another or beyond the width', () => {
    const overlaps = dashboard.panels.flatMap((one, i) =>
      dashboard.panels.slice(i + 1).filter((other) => doOverlap(one, other)),
    );
    expect(overlaps.map(({ title }) => title)).toEqual([]);
    for (const { gridPos } of dashboard.panels)
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    const [first, second] = shown as [Panel, Panel];
    expect(
      doOverlap(first, { ...second, gridPos: { ...first.gridPos, x: first.gridPos.x + 1 } }),
    ).toBe(true);
  });

  it('has every variable that it asks with, and asks with every variable', () => {
    const defined = dashboard.templating.list.map(({ name }) => name);
    const texts = [
      ...targets.map(({ expr }) => expr),
      ...shown.map(({ datasource }) => datasource?.uid ?? ''),
    ].join('\n');
    const used = new Set([...texts.matchAll(/\$\{?(\w+)/g)].map(([, name]) => name));
    used.delete('__rate_interval'); // Grafana's own.
    expect([...used].sort()).toEqual([...defined].sort());
  });

  it('lets nodes be chosen by the name that they tell', () => {
    const node = dashboard.templating.list.find(({ name }) => name === 'node');
    expect(node?.definition).toBe('label_values(longhaul_sut_info, node)');
    const ofNodes = targets.filter(({ expr }) => /longhaul_sut_|nodejs_/.test(expr));
    expect(ofNodes.filter(({ expr }) => !expr.includes('node=~"$node"'))).toEqual([]);
  });
});

describe('alerts', () => {
  it('have names of their own', () => {
    const names = alerts.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name) => /^Longhaul[A-Z]/.test(name ?? ''))).toBe(true);
  });

  it.each(alerts)(
    '$alert says how bad it is, what, and what to look at',
    ({ labels, annotations }) => {
      expect(labels?.['severity']).toMatch(/^(info|warning|critical)$/);
      expect(annotations?.['summary']).toContain('{{ $labels.instance }}');
      expect(annotations?.['description']).toMatch(/\.$/);
    },
  );

  it('name flags that there are', () => {
    const flags = Object.keys({ ...RUN_SETTINGS, ...SUT_OPTIONS }).map(flagOf);
    const texts = [
      ...alerts.map(({ annotations }) => annotations?.['description']),
      ...shown.map((panel) => panel.description),
    ];
    const named = [...texts.join('\n').matchAll(/--[a-z][a-z-]+/g)].map(([flag]) => flag);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((flag) => !flags.includes(flag))).toEqual([]);
  });
});

describe('what compose starts', () => {
  const { services } = readCompose('deploy/compose.yaml', { GRAFANA_ADMIN_PASSWORD: 'x' });
  const prometheus = readYaml<{
    global: { scrape_interval: string };
    scrape_configs: { job_name: string; file_sd_configs?: { files: string[] }[] }[];
  }>('deploy/monitoring/prometheus/prometheus.yml');
  const { sut, run } = readYaml<Record<'sut' | 'run', { metricsListen: string }>>(
    'deploy/compose/longhaul.yaml',
  );
  const portOf = (address: string): string => address.split(':')[1] ?? '';
  const targetsOf = (name: string): string[] =>
    readYaml<{ targets: string[] }[]>(`deploy/monitoring/prometheus/targets/${name}.yml`).flatMap(
      (group) => group.targets,
    );

  it('is scraped by its services and their ports', () => {
    const nodes = Object.keys(services).filter((name) => services[name]?.command?.[0] === 'sut');
    expect(targetsOf('sut')).toEqual(nodes.map((name) => `${name}:${portOf(sut.metricsListen)}`));
    expect(targetsOf('loadgen')).toEqual([`loadgen:${portOf(run.metricsListen)}`]);
  });

  it('has the jobs that alerts ask for', () => {
    const jobs = prometheus.scrape_configs.map(({ job_name }) => job_name);
    const asked = rules.flatMap(({ expr }) => [...expr.matchAll(/job="([^"]*)"/g)]);
    expect(asked.length).toBeGreaterThan(1);
    for (const [, job] of asked) expect(jobs).toContain(job);
  });

  it('shows what Grafana is told to show, from where Prometheus listens', () => {
    const [source] = readYaml<{
      datasources: { url: string; jsonData: { timeInterval: string } }[];
    }>('deploy/monitoring/grafana/provisioning/datasources/prometheus.yaml').datasources;
    const published = services['prometheus']?.ports?.[0]?.split(':').at(-1);
    expect(source?.url).toBe(`http://prometheus:${published}`);
    // Rates over less than four scrapes have holes.
    expect(source?.jsonData.timeInterval).toBe(prometheus.global.scrape_interval);
    const [provider] = readYaml<{ providers: { options: { path: string } }[] }>(
      'deploy/monitoring/grafana/provisioning/dashboards/longhaul.yaml',
    ).providers;
    const mounts = (services['grafana']?.volumes ?? []).map(mountOf);
    const folder = mounts.find(({ target }) => target === provider?.options.path);
    expect(folder?.source).toBe('./monitoring/grafana/dashboards');
  });

  it('has no password that stands in a file', () => {
    expect(
      JSON.stringify(readCompose('deploy/compose.yaml', { GRAFANA_ADMIN_PASSWORD: 'planted' })),
    ).toContain('planted');
    expect(() => readCompose('deploy/compose.yaml', {})).toThrow(/GRAFANA_ADMIN_PASSWORD/);
  });
});

function doOverlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
