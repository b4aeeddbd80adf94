import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkReportSchema } from '../../../loadgen-node/submission/check/report/check-report.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { SutNodeProcess } from '../../scenes/host/processes.ts';

// Goal: the script of docs/submit.md does what it says, with real runs of the stand-in. Method: the
// script itself, with short lengths, against a real node; then what the self-check said of both
// trees: nothing but what short lengths, a stand-in and one machine are the cause of.
const SCRIPT = resolve(import.meta.dirname, '../../../docs/submission-walkthrough.sh');
const ROUNDS = ['v4.1', 'v5.0'] as const;

const EXPECTED = new Set([
  'dry-run-lengths',
  'duration-short',
  'offline-samples-few',
  'latency-bound-loose',
  'percentile-low',
  'todo-left',
  'accuracy-total-differs',
  'accuracy-count-differs',
  'same-host',
  // A busy machine: the script takes a test that failed twice into a dry run's tree.
  'test-not-passed',
  'test-rate-differs',
]);

let node: SutNodeProcess;
const out = join(suiteFolder(), 'out');
const said = { code: null as number | null, text: '' };

beforeAll(async () => {
  const cache = ['--cache-dir', testCacheFolder()];
  const flags = ['--benchmark', 'resnet50', '--model', 'standin', ...cache];
  node = await SutNodeProcess.start('sut-walkthrough', flags);
  const main = fileURLToPath(compiledModule('loadgen-node/main.js'));
  const script = spawn(SCRIPT, ['--dry-run-lengths', out], {
    env: { ...process.env, LONGHAUL: `${process.execPath} ${main}`, SUT: node.address },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [script.stdout, script.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said.text += chunk.toString();
      process.stdout.write(chunk);
    });
  }
  [said.code] = (await once(script, 'exit')) as [number | null];
});

afterAll(() => node?.stop());

describe('docs/submission-walkthrough.sh', () => {
  it('ends with the verdict of the self-check: dry-run trees are not to be handed in', () => {
    expect(said.code, said.text).toBe(3);
  });

  it.each(ROUNDS)('has a tree of round %s with nothing unexpected', (round) => {
    const folder = join(out, round);
    const report = checkReportSchema.parse(
      JSON.parse(readFileSync(join(folder, 'check.json'), 'utf8')),
    );
    const errors = report.findings.filter(({ severity }) => severity === 'error');
    const unexpected = errors.filter(({ id }) => !EXPECTED.has(id));
    expect(unexpected).toEqual([]);
    expect(errors.map(({ id }) => id)).toContain('dry-run-lengths');
    const marks = report.findings.filter(({ severity }) => severity === 'mark');
    expect(new Set(marks.map(({ id }) => id))).toEqual(
      new Set(['stand-in-model', 'not-approved-loadgen']),
    );
    expect(report.results).toHaveLength(6);
    expect(existsSync(join(folder, 'tree', 'NOT_SUBMITTABLE.md'))).toBe(true);
  });
});
