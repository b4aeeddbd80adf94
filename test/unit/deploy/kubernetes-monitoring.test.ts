import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { readYaml } from '../../support/deploy/deploy-files.ts';
import {
  type KubeObject,
  MANIFESTS,
  render,
  whyNoKubectl,
  withComponents,
} from '../../support/deploy/kubernetes/render.ts';

// Goal: a cluster's Prometheus has the same alerts as one elsewhere, and they find its nodes.
// Method: the PrometheusRule against the files of rules, of which it is a copy (kustomize reads none outside its folder); README's
// patch on what is rendered.

const RULES = join(MANIFESTS, 'components/monitoring/rules.yaml');
const OPERATOR = 'monitoring.coreos.com/v1';
const why = whyNoKubectl();

interface Groups {
  readonly groups: readonly unknown[];
}

const groupsOf = (name: string): readonly unknown[] =>
  readYaml<Groups>(`deploy/monitoring/prometheus/rules/${name}.yml`).groups;

/** The rules of deploy/monitoring as an object of the Prometheus operator. */
function ruleObject(): string {
  const object = {
    apiVersion: OPERATOR,
    kind: 'PrometheusRule',
    metadata: { name: 'longhaul', labels: { 'app.kubernetes.io/name': 'longhaul' } },
    spec: { groups: [...groupsOf('recording'), ...groupsOf('alerts')] },
  };
  const head = '# A copy of deploy/monitoring/prometheus/rules, made by its test; change those.\n';
  return head + stringify(object, { lineWidth: 0 });
}

it('has the rules of deploy/monitoring', async () => {
  await expect(ruleObject()).toMatchFileSnapshot(RULES);
});

describe.skipIf(why)(`components/monitoring${why === undefined ? '' : ` (${why})`}`, () => {
  it('has the jobs that rules ask for, and all of it gets the label of README.md', async () => {
    const [, patch] =
      /```yaml\n# further lines of [^\n]*\n(.*?)```/s.exec(
        readFileSync(join(MANIFESTS, 'README.md'), 'utf8'),
      ) ?? [];
    const folder = withComponents('cpu', ['monitoring']);
    const file = join(folder, 'kustomization.yaml');
    writeFileSync(file, stringify({ ...parse(readFileSync(file, 'utf8')), ...parse(patch ?? '') }));
    const objects = await render(folder);
    const ofOperator = objects.filter(({ apiVersion }) => apiVersion === OPERATOR);
    expect(ofOperator.map(({ kind }) => kind).sort()).toEqual([
      'PodMonitor',
      'PrometheusRule',
      'ServiceMonitor',
    ]);
    const released = objects.filter(({ metadata }) => metadata.labels?.['release'] !== undefined);
    expect(released).toEqual(ofOperator);
    const asked = [...ruleObject().matchAll(/job="([^"]*)"/g)].map(([, job]) => job);
    expect([...new Set(asked)]).toEqual(jobsOf(objects));
  });
});

/** Jobs of the scraped Services: the operator names a job after its Service where the monitor has no `jobLabel`. */
function jobsOf(objects: readonly KubeObject[]): string[] {
  const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor') as unknown as {
    spec: { jobLabel?: string; selector: { matchLabels: Record<string, string> } };
  };
  expect(monitor.spec.jobLabel).toBeUndefined();
  return objects
    .filter(
      ({ kind, metadata }) =>
        kind === 'Service' &&
        Object.entries(monitor.spec.selector.matchLabels).every(
          ([label, value]) => metadata.labels?.[label] === value,
        ),
    )
    .map(({ metadata }) => metadata.name);
}
