import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createQdl,
  type QuerySampleLibrary,
  type SamplePayloads,
  startTest,
} from '../../../loadgen-node/index.ts';
import { readAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { RUN_SUMMARY } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { silentLogger } from '../../../shared/base/process/logger.ts';
import { type SutNode, startSutNode } from '../../../sut-node/sut-node.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { type Ended, LonghaulProcess, longhaulHere } from '../../scenes/host/processes.ts';
import { TEST_SETTINGS } from '../../scenes/sut-node/sut-node.ts';

// Goal: programs and CI can rely on what longhaul says. Method: the examples of the docs as
// processes, all at the same time, against a node of the benchmark null; the command line inside
// this process.

const EXAMPLES = new URL('../../../docs/examples/', import.meta.url);
const folder = suiteFolder();
let node: SutNode;

beforeAll(async () => {
  const hooks = { onProgress: () => {}, logger: silentLogger };
  node = await startSutNode({ ...TEST_SETTINGS, benchmark: 'null' }, hooks);
});

afterAll(() => node.stop());

function example(name: string, ...args: string[]): Promise<Ended> {
  const program = name.endsWith('.sh') ? 'sh' : process.execPath;
  return new LonghaulProcess([program, fileURLToPath(new URL(name, EXAMPLES)), ...args]).ended;
}

it.each([
  ['measure-nodes.mjs', []],
  ['rates.mjs', ['700']],
])('ends the example %s in one line where no node answers', async (name, more) => {
  const { code, stderr } = await example(name, '127.0.0.1:1', 'null', ...more, join(folder, 'no'));
  expect({ code, stderr }).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/^ERR_SUT_UNREACHABLE: .*\n$/),
  });
});

it('runs the examples of the docs', async () => {
  const { address } = node;
  const main = `${process.execPath} ${fileURLToPath(compiledModule('loadgen-node/main.js'))}`;
  const [own, nodes, rates, ci] = await Promise.all([
    example('own-sut.mjs', join(folder, 'own')),
    example('measure-nodes.mjs', address, 'null', join(folder, 'nodes')),
    example('rates.mjs', address, 'null', '700', join(folder, 'rates')),
    example('ci.sh', join(folder, 'ci'), main),
  ]);
  expect(own).toMatchObject({ code: 0, stderr: expect.stringMatching(/phase: judge\n$/) });
  const result = JSON.parse(own.stdout);
  expect(result.figures).toMatchObject({ errors: 0 });
  expect(result.accuracy).toEqual({ metric: 'answered', value: 1, target: 1, isMet: true });
  expect(result.thresholds).toHaveLength(2);

  // A machine that is busy with other things may miss the schedule: 3.
  expect([0, 3]).toContain(nodes.code);
  expect(JSON.parse(nodes.stdout)).toMatchObject({ errors: 0, lost: 0 });
  expect(nodes.stderr).toContain('errors == 0: met, seen 0\n');
  expect(nodes.stderr).toMatch(/the slowest sample was \d+ of the library/);
  for (const name of ['network_audit.json', 'longhaul_records.arrow', 'longhaul_run.yaml']) {
    expect({ name, isThere: existsSync(join(folder, 'nodes', name)) }).toEqual({
      name,
      isThere: true,
    });
  }
  const report = await longhaulHere(['report', join(folder, 'nodes'), '--json']);
  expect(JSON.parse(report.stdout)).toBeTypeOf('object');

  expect(rates.stdout).toMatch(/^700 per second: (IN)?VALID.*, p99 [\d.]+ ms\n$/);

  expect([0, 3]).toContain(ci.code);
  expect(ci.stdout).toMatch(/^(IN)?VALID\n.*p99 < 100ms .*\nmet {4} errors == 0 \(seen 0\)\n/);
  const lines = readFileSync(join(folder, 'ci', 'node.jsonl'), 'utf8')
    .trim()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'ready', name: 'ci', benchmark: 'null', workers: null },
    { event: 'end', name: 'ci', isDrained: true, exitCode: 0 },
  ]);
});

/** Payloads of one's own, for SUT nodes. */
class OwnPayloads implements QuerySampleLibrary, SamplePayloads {
  readonly name = 'own';
  readonly totalSampleCount = 16;
  readonly performanceSampleCount = 8;
  readonly encoding = { form: 'raw', compression: 'identity' };
  readonly #loaded = new Set<number>();

  loadSamplesToRam(indices: Uint32Array): Promise<void> {
    for (const index of indices) this.#loaded.add(index);
    return Promise.resolve();
  }

  unloadSamplesFromRam(indices: Uint32Array): Promise<void> {
    for (const index of indices) this.#loaded.delete(index);
    return Promise.resolve();
  }

  payloadOf(sampleIndex: number): Uint8Array {
    expect(this.#loaded).toContain(sampleIndex);
    return new Uint8Array(32).fill(sampleIndex);
  }
}

it('leaves nothing of an earlier test beside one that breaks off, and replaces none unasked', async () => {
  const qsl = new OwnPayloads();
  const output = join(folder, 'breaks-off');
  const settings = { scenario: 'SingleStream', minDuration: '0s', minQueryCount: 64 } as const;
  const lost = await startSutNode(
    { ...TEST_SETTINGS, benchmark: 'null' },
    { onProgress: () => {}, logger: silentLogger },
  );
  const sut = createQdl({ nodes: [lost.address], benchmark: 'null' }, qsl);
  expect((await startTest({ sut, qsl, settings, output })).problem).toBeNull();
  const idOf = (): string => readAudit(output).run.runId;
  const first = { id: idOf(), files: readdirSync(output) };

  await expect(startTest({ sut, qsl, settings, output })).rejects.toThrow(
    `output ${output} holds an earlier result (`,
  );
  expect({ id: idOf(), files: readdirSync(output) }).toEqual(first);

  let isGone = false;
  const kill = (phase: string): void => {
    if (phase === 'name' && !isGone) {
      isGone = true;
      lost.stop().catch(() => {});
    }
  };
  await expect(
    startTest({ sut, qsl, settings, output, force: true, onPhase: kill }),
  ).rejects.toThrow();
  expect(isGone).toBe(true);
  expect(idOf()).not.toBe(first.id);
  expect(readAudit(output).run.isComplete).toBe(false);
  expect(readFileSync(join(output, 'longhaul_run.yaml'), 'utf8')).toContain(lost.address);
  const left = readdirSync(output);
  for (const name of ['longhaul_summary.json', 'longhaul_report.html', 'longhaul_records.arrow']) {
    expect(left).not.toContain(name);
  }
});

it('measures nodes with a library of the program, again and again with one QDL', async () => {
  const qsl = new OwnPayloads();
  const sut = createQdl({ nodes: [node.address], benchmark: 'null' }, qsl);
  expect(await sut.name()).toBe('Network SUT: sut-a');
  const scenario = 'SingleStream';
  const settings = { scenario, mode: 'submission', minDuration: '0s', minQueryCount: 64 } as const;
  for (const run of ['first', 'second']) {
    const test = await startTest({ sut, qsl, settings, output: join(folder, 'own', run) });
    expect(test).toMatchObject({
      result: 'VALID',
      accuracy: { metric: 'answered', value: 1 },
      summary: { sutName: 'Network SUT: sut-a', records: { rows: test.records?.rowCount } },
      problem: null,
    });
    expect(test.audit?.run.issuedSamples).toBe(16 + (test.records?.rowCount ?? 0));
    expect(new Set(test.records?.node)).toEqual(new Set([0]));
  }
});

it('refuses a second test with a QDL that is at work, and serves the first one', async () => {
  const qsl = new OwnPayloads();
  const sut = createQdl({ nodes: [node.address], benchmark: 'null' }, qsl);
  const settings = { scenario: 'SingleStream', minDuration: '0s', minQueryCount: 64 } as const;
  const [first, second] = await Promise.allSettled(
    ['first', 'second'].map((run) =>
      startTest({ sut, qsl, settings, output: join(folder, 'at-once', run) }),
    ),
  );
  expect(first).toMatchObject({ status: 'fulfilled', value: { result: 'VALID' } });
  expect(second).toMatchObject({
    status: 'rejected',
    reason: { code: 'ERR_CONFIG_INVALID', message: expect.stringMatching(/sut is at work/) },
  });
  expect(existsSync(join(folder, 'at-once', 'second'))).toBe(false);
});

it.each([
  ['loadgen conf', 'lines'],
  ['loadgen compression', 'rules'],
  ['loadgen settings explain target_latency', 'settings'],
  ['loadgen settings --benchmark resnet50 --scenario Server', 'not_in_files'],
  ['loadgen self-check', 'files'],
  ['loadgen trace --scenario Server --qsl-total 9 --qsl-performance 3', 'effective'],
  ['probe name --sut NODE', 'nodes'],
  ['submission system describe --local --output OUT/system.json', 'fieldsToFillIn'],
])('prints nothing but JSON: longhaul %s', async (line, key) => {
  const words = line.replace('NODE', node.address).replace('OUT', folder).split(' ');
  const { code, stdout } = await longhaulHere([...words, '--json']);
  expect({ code, isThere: JSON.parse(stdout)[key] !== undefined }).toEqual({
    code: 0,
    isThere: true,
  });
});

describe('longhaul run', () => {
  const run = (...flags: string[]) =>
    longhaulHere([
      ...['run', '--sut', node.address, '--benchmark', 'null', '--scenario', 'SingleStream'],
      // A length that no machine misses, with queries that early stopping finds enough.
      ...[
        '--min-duration',
        '0s',
        '--min-query-count',
        '64',
        '--output',
        join(folder, 'run'),
        '--force',
      ],
      ...flags,
    ]);

  it('ends with 3 where a threshold is not met, though the run is VALID', async () => {
    const { code, stdout } = await run('--threshold', 'p99 < 1ns', '--threshold', 'errors == 0');
    expect(code).toBe(3);
    expect(stdout).toMatch(/^VALID /m);
    expect(stdout).toMatch(
      /^Thresholds +p99 < 1ns: NOT met, seen .*\n +errors == 0: met, seen 0\n +1 of 2 not met: the run ended with exit code 3; they are yours/m,
    );
  });

  it('prints one document with --json, and it has the thresholds', async () => {
    const { code, stdout } = await run('--threshold', 'errors == 0', '--json');
    expect(code).toBe(0);
    const { folder: output, ...summary } = JSON.parse(stdout);
    const { thresholds } = RUN_SUMMARY.parse(summary);
    expect(summary).toMatchObject({ result: 'VALID', scenario: 'SingleStream' });
    expect(summary.figures.p99).toBeGreaterThan(0);
    expect(thresholds).toMatchObject([{ text: 'errors == 0', isMet: true, needed: 0, seen: 0 }]);
    expect(output).toBe(join(folder, 'run'));
  });

  it('tells every wrong threshold of a file with its place', async () => {
    const config = join(folder, 'ci.yaml');
    writeFileSync(
      config,
      'run:\n  thresholds:\n    - p99 < 15\n    - p95 < 1ms\n    - eror == 0\n',
    );
    const { code, stdout, stderr } = await run('--config', config, '--json');
    expect(code).toBe(2);
    expect(stderr).toMatch(/ci\.yaml:3:7: thresholds: "p99 < 15" compares with "15"; p99 /);
    expect(stderr).toMatch(/ci\.yaml:5:7: .*"eror"; did you mean "errors"\?\n$/);
    const { error, exitCode } = JSON.parse(stdout);
    expect({ code: error.code, exitCode }).toEqual({ code: 'ERR_CONFIG_INVALID', exitCode: 2 });
    expect(error.message.split('\n')).toHaveLength(2);
  });

  it.each([
    [['--copy-summary-to-stdout'], 2, 'ERR_CONFIG_INVALID'],
    [['--sut', '127.0.0.1:1'], 4, 'ERR_SUT_UNREACHABLE'],
    [['--data-dir', 'nowhere'], 2, 'ERR_CONFIG_INVALID'],
  ])('says as JSON what went wrong: %o', async (flags, exitCode, code) => {
    const said = await longhaulHere([
      ...['run', '--benchmark', 'null', '--scenario', 'SingleStream', '--json'],
      ...(flags.includes('--sut') ? [] : ['--sut', node.address]),
      ...flags,
    ]);
    expect(said.code).toBe(exitCode);
    expect(JSON.parse(said.stdout)).toMatchObject({ error: { code }, exitCode });
    expect(said.stderr).toMatch(/^longhaul: /);
  });
});
