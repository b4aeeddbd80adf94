/*
 * Goal: each round's layout, and what only edge systems and the open division may do.
 * Method: small scenes of simulated runs, built as the open division takes them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildScene } from '../../../../support/submission-scene.ts';
import { tempFolder } from '../../../../support/temp-folder.ts';

const OPEN = { divisions: ['open'], scenarios: ['Server'], tests: [] } as const;

it('leaves mlperf.conf out of a tree of v5.0', async () => {
  const { tree } = await buildScene({ ...OPEN, folder: tempFolder(), round: 'v5.0' });
  const folder = join(tree, 'open/ACME/measurements/acme-2n/resnet50/Server');
  expect(readdirSync(folder).sort()).toEqual([
    'README.md',
    'acme-2n_longhaul_Server.json',
    'calibration_process.adoc',
    'user.conf',
  ]);
}, 30_000);

it('builds the flat layout of v6.0, and maps a model that the round does not know', async () => {
  const { tree, built } = await buildScene({
    ...OPEN,
    folder: tempFolder(),
    round: 'v6.0',
    change: ({ results }) => {
      results[0].model = 'my-resnet';
      results[0].reference_model = 'resnet';
    },
  });
  expect(built.warnings).toEqual([]);
  const submitter = join(tree, 'open/ACME');
  expect(readdirSync(submitter).sort()).toEqual([
    'documentation',
    'model_mapping.json',
    'results',
    'src',
    'systems',
  ]);
  const mapping = readFileSync(join(submitter, 'model_mapping.json'), 'utf8');
  expect(JSON.parse(mapping)).toEqual({ 'my-resnet': 'resnet' });
  expect(readdirSync(join(submitter, 'results/acme-2n/my-resnet/Server')).sort()).toEqual([
    'README.md',
    'accuracy',
    'measurements.json',
    'performance',
    'user.conf',
  ]);
  expect(existsSync(join(submitter, 'src/my-resnet/longhaul/run.sh'))).toBe(true);
}, 30_000);

it('copies the runs of a measured result for those that an edge system infers', async () => {
  const { tree } = await buildScene({
    ...OPEN,
    folder: tempFolder(),
    scenarios: ['SingleStream'],
    systemType: 'edge',
    change: ({ results }) => {
      const { performance: _, accuracy: __, compliance: ___, ...rest } = results[0];
      results.push({ ...rest, scenario: 'MultiStream', inferred_from: 'SingleStream' });
      results.push({ ...rest, scenario: 'Offline', inferred_from: 'SingleStream' });
    },
  });
  const results = join(tree, 'open/ACME/results/acme-2n/resnet50');
  const detail = (scenario: string): string =>
    readFileSync(join(results, scenario, 'performance/run_1/mlperf_log_detail.txt'), 'utf8');
  for (const scenario of ['MultiStream', 'Offline']) {
    expect(detail(scenario)).toBe(detail('SingleStream'));
    expect(existsSync(join(results, scenario, 'accuracy/accuracy.txt'))).toBe(true);
  }
  const readme = join(tree, 'open/ACME/measurements/acme-2n/resnet50/MultiStream/README.md');
  expect(readFileSync(readme, 'utf8')).toContain('inferred from the measured SingleStream result');
}, 30_000);
