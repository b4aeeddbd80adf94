import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments, visit, type YAMLSeq } from 'yaml';
import { VERB_NAMES } from '../../../loadgen-node/cli/verbs.ts';
import { readDashboard, readRules } from '../../support/deploy/dashboard.ts';
import { repositoryFile } from '../../support/deploy/deploy-files.ts';
import { scrapedMetrics } from '../../support/deploy/scraped-metrics.ts';
import { unknownFlags } from '../../support/deploy/verb-flags.ts';

// Goal: a renamed flag or metric is noticed by whoever renames it. Method: every command line in manifests and units of deploy/
// against the verbs' flags, every name in dashboard and rules against a scrape. `npm run test:deploy` starts what is in these files;
// test/unit/docs/commands.test.ts has the command lines of pages.

const FILES = readdirSync(repositoryFile('deploy'), { recursive: true, encoding: 'utf8' }).map(
  (file) => join('deploy', file),
);

/** Lists of a manifest that begin with a verb, and what patches add to one. */
function inManifest(path: string): string[][] {
  const found: string[][] = [];
  for (const document of parseAllDocuments(readFileSync(repositoryFile(path), 'utf8'))) {
    if (document === null) continue;
    visit(document, {
      Seq: (_key, seq: YAMLSeq) => {
        const [verb, ...words] = seq.items.map(String);
        if (verb !== undefined && VERB_NAMES.some((name) => name === verb))
          found.push([verb, ...words]);
      },
    });
  }
  return found;
}

/** The command lines of a unit or drop-in. */
function inUnit(path: string): string[][] {
  const text = readFileSync(repositoryFile(path), 'utf8').replace(/\\\n\s*/g, ' ');
  return [...text.matchAll(/bin\/longhaul (\w.*)$/gm)].map(([, line = '']) =>
    line.replace(/ 2>&1.*/, '').split(/\s+/),
  );
}

describe('command lines of deploy/', () => {
  const lines = FILES.flatMap((path) => {
    const found = /\.ya?ml$/.test(path) ? inManifest(path) : [];
    const units = /\.(service|conf)$/.test(path) ? inUnit(path) : [];
    return [...found, ...units].map((words) => ({ path, line: words.join(' '), words }));
  });

  it.each(lines)('$path: $line', async ({ words }) => {
    expect(await unknownFlags(words)).toEqual([]);
  });

  it('are found in each kind of file', () => {
    const ending = (pattern: RegExp) => lines.filter(({ path }) => pattern.test(path)).length;
    expect(ending(/compose.*\.yaml$/)).toBeGreaterThan(3);
    expect(ending(/kubernetes.*\.yaml$/)).toBeGreaterThan(2);
    expect(ending(/\.(service|conf)$/)).toBeGreaterThan(3);
  });
});

describe('metrics', async () => {
  const scraped = await scrapedMetrics();
  // Prometheus adds the last two to every series.
  const labels = new Set([...[...scraped.values()].flatMap((set) => [...set]), 'job', 'instance']);
  const shown = readDashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ from: title, expr })),
  );
  const rules = [...readRules('alerts'), ...readRules('recording')];
  const expressions = [
    ...shown,
    ...rules.map(({ alert, record, expr }) => ({ from: alert ?? record, expr })),
  ];
  const recorded = rules.flatMap(({ record = [] }) => record);
  /** Names of our own series in an expression; promtool reads all of it (test/deploy/monitoring.test.ts). */
  const namesIn = (expr: string): string[] =>
    expr.match(/\b(?:\w+:)?(?:longhaul|nodejs|process)_\w+(?::\w+)?/g) ?? [];

  /** Labels of matchers and of `by`, `on`, ... */
  const labelsIn = (expr: string): string[] => [
    ...[...expr.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, name = '']) => name),
    ...[...expr.matchAll(/\b(?:by|without|on|ignoring|group_\w+)\s*\(([^)]*)\)/g)].flatMap(
      ([, names = '']) => names.split(',').map((name) => name.trim()),
    ),
  ];

  it.each(expressions)('$from asks for what is in a scrape', ({ expr }) => {
    const names = namesIn(expr).filter((name) => !recorded.includes(name));
    expect(names.filter((name) => !scraped.has(name))).toEqual([]);
    expect(labelsIn(expr).filter((name) => name !== '' && !labels.has(name))).toEqual([]);
  });

  it('are all seen by somebody, but for those that others hold as well', () => {
    const base = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');
    const seen = new Set(expressions.flatMap(({ expr }) => namesIn(expr).map(base)));
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
