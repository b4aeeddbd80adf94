/**
 * `longhaul submission check` as a user types it: exit codes, the text, the report for machines.
 */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkVerb } from '../../../../loadgen-node/cli/submission-check.ts';
import { checkReportSchema } from '../../../../loadgen-node/submission/check/report/check-report.ts';
import { truncateTree } from '../../../../loadgen-node/submission/truncate/truncate-tree.ts';
import { tempFolder, writeTree } from '../../../scenes/host/folders.ts';
import { verbHere } from '../../../scenes/host/processes.ts';
import { append, json, record, remove, write } from '../../../scenes/submission-tree/changes.ts';
import {
  submissionTree,
  type TreeOptions,
} from '../../../scenes/submission-tree/submission-tree.ts';

const goodTree = (records: TreeOptions['records'] = {}): string => submissionTree({ records });

async function check(...args: string[]): Promise<{ code: number; text: string }> {
  const { code, stdout } = await verbHere(checkVerb, ...args);
  return { code, text: stdout };
}

it('says of a good tree that it can be submitted', async () => {
  const { code, text } = await check(goodTree());
  expect(code).toBe(0);
  expect(text).toContain('\nclosed ACME acme\n  resnet50 Offline: 50 samples/s, accuracy=');
  expect(text).toMatch(/0 errors, .*: the tree can be submitted\.\n$/);
});

it.each([
  ['1', '1 stream'],
  ['3', '3 streams'],
])('tells the result of MultiStream of round v0.5: %s', async (count, told) => {
  const scenarios = ['MultiStream'] as const;
  const records = { effective_samples_per_query: count };
  const { text } = await check(
    submissionTree({ round: 'v0.5', model: 'gnmt', scenarios, records }),
  );
  expect(text).toContain(`  gnmt MultiStream: ${told}, BLEU`);
});

/** Rows of a terminal of 100 columns. */
const rowsOf = (text: string): number =>
  text
    .trimEnd()
    .split('\n')
    .reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / 100)), 0);

const NETWORK = 'network/ACME';
const RUNS = ['bert-99', 'bert-99.9'].flatMap((model) =>
  ['Server', 'Offline'].map((scenario) => `acme/${model}/${scenario}`),
);

/**
 * A tree of the Network division as submitters had them: by another LoadGen, without documents,
 * with the same fault in every run.
 */
function submitted(): string {
  const root = tempFolder();
  for (const model of ['bert-99', 'bert-99.9']) {
    submissionTree({ root, round: 'v3.0', division: 'network', model });
  }
  const emptied = {
    host_memory_configuration: '',
    host_networking: '',
    accelerator_interconnect: '',
  };
  const changes = [
    json(`${NETWORK}/systems/acme.json`, emptied),
    remove(`${NETWORK}/documentation`),
    ...RUNS.map((run) => write(`${NETWORK}/measurements/${run}/calibration.md`, 'TODO\n')),
    ...RUNS.map((run) => append(`${NETWORK}/measurements/${run}/README.md`, 'TODO\n')),
  ];
  for (const { make } of changes) make(root);
  return root;
}

it.each(['v2.1', 'v3.1', 'v4.0'] as const)(
  'tells a good network tree of %s on one screen',
  async (round) => {
    const { text } = await check(submissionTree({ round, division: 'network', model: 'bert-99' }));
    expect(rowsOf(text)).toBeLessThanOrEqual(20);
  },
);

it('tells the same finding of many runs once, with their number, and all on one screen', async () => {
  const tree = submitted();
  const { code, text } = await check(tree);
  expect(code).toBe(0);
  expect(rowsOf(text)).toBeLessThanOrEqual(40);
  expect(text).toMatch(/\n {2}todo-left \(8\): .*\n {4}network\/ACME\/.*:\d+: .* And 7 more\.\n/);
  expect(text.match(/TODO/g)).toHaveLength(1);
  expect(text).toContain('\nEvery place, rule and source: --verbose, or --json for programs.\n');
  const { text: whole } = await check(tree, '--verbose');
  for (const run of RUNS) expect(whole).toContain(`${run}/calibration.md:1: `);
  expect(whole).not.toMatch(/--json|--verbose/);
});

it('hides no error: equal ones are one line, all others are there with rule and source', async () => {
  const tree = submitted();
  const seen = ['1', '2', '2', '2'];
  for (const [i, run] of RUNS.entries()) {
    const log = `${NETWORK}/results/${run}/performance/run_1/mlperf_log_detail.txt`;
    record(log, 'effective_qsl_rng_seed', seen[i] ?? null).make(tree);
  }
  const { code, text } = await check(tree, '--round', 'v3.0');
  expect(code).toBe(3);
  const errors = text.slice(text.indexOf('Errors:'), text.indexOf('Warnings:'));
  expect(errors.match(/Found: .*effective_qsl_rng_seed is \d.*/g)).toEqual([
    expect.stringMatching(/rng_seed is 2.* The same in 2 more places\.$/),
    expect.stringMatching(/rng_seed is 1/),
  ]);
  expect(errors).toMatch(/ {4}Rule: .*\n {4}To do: .*\n {4}Source: /);
});

it('takes a link to a tree as the tree', async () => {
  const link = join(tempFolder(), 'link');
  symlinkSync(goodTree(), link);
  expect((await check(link)).text).toContain(': the tree can be submitted');
});

it('names errors with file, line, rule, value and what to do, and exits with 3', async () => {
  const { code, text } = await check(
    goodTree({ effective_min_duration_ms: '599999' }),
    '--verbose',
  );
  expect(code).toBe(3);
  const file = 'closed/ACME/results/acme/resnet50/Server/performance/run_1/mlperf_log_detail.txt';
  expect(text).toContain('    Rule: min_duration is at least 600 s');
  expect(text).toMatch(new RegExp(`${file}:\\d+: effective_min_duration_ms is 599999`));
  expect(text).toContain('    To do: Set min_duration to 600000');
  expect(text).toMatch(/the tree is not ready to be submitted\.\n$/);
});

it('ends with the marks, which are errors with --strict only', async () => {
  const tree = goodTree({
    loadgen_version: '"longhaul 0.1.0 (LoadGen 4.1 behaviour)"',
    longhaul_rng_library: '"libstdc++"',
    longhaul_validity: '"VALID"',
  });
  const { code, text } = await check(tree);
  expect(code).toBe(0);
  expect(text).toMatch(/\naccepted form, not a valid closed or network submission\n$/);
  expect(text.indexOf('not-approved-loadgen')).toBeLessThan(text.indexOf('0 errors'));
  expect((await check(tree, '--strict')).code).toBe(3);
});

it('writes the report for machines in its documented form', async () => {
  const tree = goodTree({ effective_qsl_rng_seed: '5' });
  const file = join(tempFolder(), 'report.json');
  await check(tree, '--json', file, '--round', 'v4.1');
  const report = checkReportSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  expect(report.round).toBe('v4.1');
  expect(report.roundFrom).toBe('said');
  expect(report.results).toHaveLength(2);
  expect(report.findings[0]).toMatchObject({ id: 'seed-wrong', severity: 'error' });
  expect(report.counts.error).toBe(
    report.findings.filter((one) => one.severity === 'error').length,
  );
});

it('writes the text into the tree where it is asked for, and finds nothing wrong with that', async () => {
  const tree = goodTree();
  const { text } = await check(tree, '--log');
  const log = join(tree, 'closed/ACME/results/compliance_checker_log.txt');
  expect(readFileSync(log, 'utf8')).toBe(text);
  expect((await check(tree)).text).toBe(text);
});

it('says how many originals were compared, and which one is missing', async () => {
  const tree = goodTree();
  const originals = tempFolder();
  const log = 'closed/ACME/results/acme/resnet50/Server/accuracy/mlperf_log_accuracy.json';
  const entry = '{ "seq_id" : 1, "qsl_idx" : 1, "data" : "00" }';
  const score = 'accuracy=76.696%, good=38348, total=50000\n';
  const whole = `[\n${Array(300).fill(entry).join(',\n')}\n]\n`;
  writeTree(
    {
      [log]: whole,
      [log.replace('mlperf_log_accuracy.json', 'accuracy.txt')]: score,
    },
    tree,
  );
  await truncateTree({ tree, round: 'v4.1', backup: originals });
  const errors = /(\d+) errors?/;
  for (const folder of [originals, join(originals, '1')]) {
    const { text } = await check(tree, '--originals', folder);
    expect(text).toContain('\nOriginals: 1 compared with the hash in accuracy.txt.\n');
    expect(text).not.toContain('original-missing');
  }
  const { code, text } = await check(tree, '--originals', tempFolder());
  expect(code).toBe(3);
  expect(text).toContain('\nOriginals: 0 compared');
  expect(text).toMatch(
    /original-missing\n {4}Found: closed.*Server\/accuracy\/mlperf_log_accuracy.json: /,
  );
  expect(errors.exec(text)?.[1]).toBe('1');
  await expect(check(tree, '--originals', join(originals, 'none'))).rejects.toMatchObject({
    code: 'ERR_CONFIG_FILE',
    message: expect.stringContaining('cannot read the originals in'),
  });
});

it('says nothing of an accepted form above errors', async () => {
  const tree = goodTree({
    loadgen_version: '"longhaul 0.1.0 (LoadGen 4.1 behaviour)"',
    effective_min_duration_ms: '599999',
  });
  expect((await check(tree)).text).not.toMatch(/form is accepted|accepted form/);
});

it('refuses a round that it does not know, and a report that cannot be written', async () => {
  const tree = goodTree();
  await expect(check(tree, '--round', 'v2.0')).rejects.toMatchObject({
    code: 'ERR_CONFIG_INVALID',
    message: expect.stringMatching(
      /; a tree of v2\.0 is judged by the rules of v2\.1, without its seeds: leave --round out$/,
    ),
  });
  const blocked = join(tempFolder(), 'file');
  writeFileSync(blocked, '');
  await expect(check(tree, '--json', join(blocked, 'report.json'))).rejects.toMatchObject({
    code: 'ERR_OUTPUT',
  });
});

it('tells the rules of a round in place of a tree, as text and for programs', async () => {
  const { code, text } = await check('--rules');
  expect(code).toBe(0);
  expect(text).toMatch(/^\d+ rules of round v4\.1\n\nMarks and the Network division\n/);
  const file = join(tempFolder(), 'rules.json');
  await check('--rules', '--round', 'v0.5', '--json', file);
  const { round, rules } = JSON.parse(readFileSync(file, 'utf8'));
  expect(round).toBe('v0.5');
  expect(rules[0]).toMatchObject({
    id: 'stand-in-model',
    severity: { closed: 'mark', open: 'mark' },
    source: expect.stringContaining('paper of round v0.5'),
  });
});

it.each([[[]], [['tree', '--rules']]])('refuses %j', async (args) => {
  await expect(check(...args)).rejects.toMatchObject({
    code: 'ERR_CONFIG_INVALID',
    message: 'name the root of one tree, or give --rules in its place',
  });
});
