import {
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compareVerb } from '../../../../loadgen-node/cli/compare.ts';
import { RUN_FILES } from '../../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { writeAudit } from '../../../../loadgen-node/observe/network-audit.ts';
import { latencySplit } from '../../../../loadgen-node/observe/split/latency-split.ts';
import { writeSummary } from '../../../../loadgen-node/observe/summary/run-summary.ts';
import { composeAudit } from '../../../../loadgen-node/run/audit/compose-audit.ts';
import { suiteFolder, tempFolder } from '../../../scenes/host/folders.ts';
import { type Said, verbHere } from '../../../scenes/host/processes.ts';
import {
  auditFacts,
  ledgerCounts,
  nodeEvidence,
} from '../../../scenes/simulated-run/audit-facts.ts';
import { queueRecords, writeMeasuredRun } from '../../../scenes/simulated-run/records.ts';
import { reportSummary } from '../../../scenes/simulated-run/summary.ts';

// Goal: the verb reads run folders, says what differs, and ends with the documented exit code.
// Method: two folders with simulated queues; the command inside this process.

describe('longhaul compare', () => {
  const folder = suiteFolder();
  const [slow, fast] = [join(folder, 'slow'), join(folder, 'fast')];

  beforeAll(async () => {
    const runs = [
      [slow, 8e6, 'INVALID'],
      [fast, 4e6, 'VALID'],
    ] as const;
    for (const [path, serviceNs, result] of runs) {
      const records = queueRecords({ seed: serviceNs, rowCount: 300, arrivalQps: 100, serviceNs });
      const split = latencySplit(records, { nodeNames: ['sut-a'] });
      const settings = [
        { key: 'targetQps', value: result === 'VALID' ? '100' : '80', source: '--target-qps' },
        { key: 'output', value: path, source: '--output' },
        { key: 'minDuration', value: '3s', source: 'default' },
      ];
      const summary = reportSummary(records, 'Server', { result, split, settings });
      await writeMeasuredRun(path, summary, records);
    }
  });

  const compare = (...args: string[]): Promise<Said> => verbHere(compareVerb, ...args);

  it('ends with 0, tells better from worse, and marks the run that is INVALID', async () => {
    const { code, stdout } = await compare(slow, fast, '--allow-invalid');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^p50 .*surely better$/m);
    expect(stdout).toContain(`              - ${slow} is INVALID: its figures are no result`);
    expect(stdout).not.toContain('the figures are no result');
  });

  it('calls a closed loop what it is, where the other run has a rate', async () => {
    const closed = join(folder, 'closed');
    const serviceNs = 4e6;
    const records = queueRecords({ seed: 1, rowCount: 300, arrivalQps: 100, serviceNs });
    const split = latencySplit(records, { nodeNames: ['sut-a'] });
    const settings = [
      { key: 'concurrency', value: '4', source: '--concurrency' },
      { key: 'arrivals', value: 'poisson', source: 'default' },
    ];
    await writeMeasuredRun(
      closed,
      reportSummary(records, 'Server', { result: 'VALID', split, settings }),
      records,
    );
    const { stdout } = await compare(fast, closed);
    expect(stdout).toContain(`rate is 100 in ${fast} and closed loop, 4 at a time in ${closed}`);
  });

  it('names the settings that differ first, and judges no input of a run', async () => {
    const { stdout } = await compare(slow, fast, '--allow-invalid');
    expect(stdout.split('\n').slice(0, 8)).toEqual([
      'Comparable    with care:',
      `              - ${slow} is INVALID: its figures are no result`,
      `              - rate is 80 in ${slow} and 100 in ${fast}: latencies at another rate are those of another load`,
      `              - machines and link are unknown for ${slow}, ${fast}: there is no network_audit.json`,
      'Settings      these differ, so that a difference below may be theirs:',
      '              targetQps: 80 -> 100',
      `Base          ${slow}  (INVALID)`,
      `Run           ${fast}  (VALID)`,
    ]);
    expect(stdout).not.toMatch(/^(scheduled|completed)_qps .*(surely|noise)/m);
  });

  it('refuses a run that is INVALID and shows no figure, unless that is allowed', async () => {
    const gate = [slow, fast, '--fail-if', 'p50 > +5%'];
    const { code, stdout } = await compare(...gate);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^Comparable {4}no:\n {14}- .*slow is INVALID/);
    // Once, with its cause.
    expect(stdout.split(`${slow} is INVALID`)).toHaveLength(2);
    expect(stdout).toContain(
      'FAILED        only VALID runs are compared (--allow-invalid compares others,',
    );
    expect(stdout).not.toMatch(/^p50/m);
    expect((await compare(...gate, '--allow-invalid')).code).toBe(0);
  });

  it('claims nothing of a run that was disturbed, and says by what', async () => {
    const path = join(folder, 'disturbed');
    const records = queueRecords({ seed: 5, rowCount: 300, arrivalQps: 100, serviceNs: 4e6 });
    const split = latencySplit(records, { nodeNames: ['sut-a'] });
    const { health } = reportSummary(null);
    const disturbed = { ...(health as NonNullable<typeof health>), cpuWaitShare: 0.5 };
    const summary = reportSummary(records, 'Server', { split, health: disturbed });
    await writeMeasuredRun(path, summary, records);
    const { code, stdout } = await compare(slow, path, '--allow-invalid');
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/^\w.*(surely (better|worse|other)|within the noise)$/m);
    expect(stdout).toContain(
      `${path}: its figures are uncertain, since it was disturbed: other work held its core`,
    );
  });

  it.each([
    [10, true],
    [9, false],
  ])(
    'compares with care where the SUT answered %d samples of others beside 1,000: %s',
    async (others, isShared) => {
      const paths = ['alone', 'shared'].map((name) => join(folder, `${name}-${others}`));
      const ours = ledgerCounts({ completedCount: 1_000 });
      for (const [i, path] of paths.entries()) {
        const records = queueRecords({ seed: i, rowCount: 300, arrivalQps: 100, serviceNs: 4e6 });
        const split = latencySplit(records, { nodeNames: ['sut-a'] });
        await writeMeasuredRun(path, reportSummary(records, 'Server', { split }), records);
        const node = nodeEvidence('sut-a', { ours });
        const theirs = node.theirs && { ...node.theirs, otherSampleCount: i * others };
        writeAudit(path, composeAudit(auditFacts([{ ...node, theirs }])));
      }
      const { code, stdout } = await compare(...paths);
      expect(code).toBe(0);
      const judged = /^\w.*(surely (better|worse|other)|within the noise)$/m;
      if (!isShared) {
        expect(stdout).toMatch(/^Comparable {4}yes/);
        expect(stdout).toMatch(judged);
        return;
      }
      expect(stdout.split('\n').slice(0, 2)).toEqual([
        'Comparable    with care:',
        `              - the SUT was not alone in ${paths[1]}: SUT node sut-a.example:50051 answered 10 samples of others meanwhile, beside 1,000 samples of this run: its figures are not those of this load alone`,
      ]);
      expect(stdout).not.toMatch(judged);
      expect(stdout).toContain(
        `${paths[1]}: its figures are uncertain, since it was disturbed: the SUT answered others as well`,
      );
    },
  );

  it('ends as report does where records are cut or figures do not follow from them', async () => {
    const cut = join(folder, 'cut');
    cpSync(fast, cut, { recursive: true });
    const records = join(cut, RUN_FILES.records);
    truncateSync(records, statSync(records).size - 700);
    const ofCut = await compare(fast, cut);
    expect(ofCut.code).toBe(3);
    expect(ofCut.stdout).toMatch(/^FAILED .*cut: the records were cut/m);
    const other = join(folder, 'other');
    cpSync(fast, other, { recursive: true });
    const summary = join(other, RUN_FILES.runSummary);
    writeFileSync(summary, readFileSync(summary, 'utf8').replace(/"p50": \d+/, '"p50": 1'));
    const ofOther = await compare(fast, other);
    expect(ofOther.code).toBe(3);
    expect(ofOther.stdout).toMatch(/^FAILED .*1 figures of .* do not follow from the records/m);
  });

  it('ends with 3 where a condition holds, and prints one JSON document', async () => {
    const page = join(folder, 'page.html');
    const gate = ['--fail-if', 'p50 > +5%', '--fail-if', 'errors > 0', '--allow-invalid'];
    const args = ['--json', '--html', page, ...gate];
    const { code, stdout } = await compare(fast, slow, ...args);
    expect(code).toBe(3);
    const document = JSON.parse(stdout) as { conditions: unknown[]; hasFailed: boolean };
    expect(document.hasFailed).toBe(true);
    expect(document.conditions).toMatchObject([{ holds: true }, { holds: false }]);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('surely worse');
    expect(html).not.toMatch(/NaN|Infinity/);
  });

  it('takes several runs: the main figures of each, by a label in order of time', async () => {
    const paths: string[] = [];
    // Given in another order than that of time.
    for (const [commit, day, serviceNs] of [
      ['base', 20, 4e6],
      ['slow', 22, 8e6],
      ['mid', 21, 4.1e6],
    ] as const) {
      const path = join(folder, commit);
      const records = queueRecords({ seed: day, rowCount: 400, arrivalQps: 60, serviceNs });
      const split = latencySplit(records, { nodeNames: ['sut-a'] });
      const changes = { split, labels: { commit }, startedAt: `2026-11-${day}T08:00:00.000Z` };
      await writeMeasuredRun(path, reportSummary(records, 'Server', changes), records);
      paths.push(path);
    }
    const page = join(folder, 'trend.html');
    const { code, stdout } = await compare(...paths, '--by', 'commit', '--html', page);
    expect(code).toBe(0);
    const [, p50 = ''] = /^p50: median latency\n(.*?)\n\n/ms.exec(stdout) ?? [];
    const rows = p50.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(rows.map(([commit]) => commit)).toEqual(['commit', 'base', 'mid', 'slow']);
    expect(rows[1]?.at(-1)).toBe('base');
    expect(rows[3]?.at(-1)).toBe('surely worse');
    expect(readFileSync(page, 'utf8')).toContain('Main figures by commit');
    await expect(compare(...paths, '--by', 'branch')).rejects.toThrow(
      /--by branch: no run has that label; they have commit/,
    );
  });

  it('holds conditions against each of several runs', async () => {
    const paths = ['base', 'slow', 'mid'].map((name) => join(folder, name));
    const { code, stdout } = await compare(...paths, '--fail-if', 'p50 > +50%', '--json');
    expect(code).toBe(3);
    const { series, conditions } = JSON.parse(stdout) as {
      series: { figure: string }[];
      conditions: { holds: boolean }[];
    };
    expect(series.map(({ figure }) => figure)).toEqual(['answered_qps', 'p50', 'p99', 'errors']);
    expect(conditions.map(({ holds }) => holds)).toEqual([true, false]);
  });

  it('compares accuracies, of runs without records too', async () => {
    const paths = [0.98, 0.96].map((value, i) => {
      const path = join(tempFolder(), `accuracy-${i}`);
      const accuracy = { text: '', value, target: 0.9, isMet: true };
      const changes = { mode: 'AccuracyOnly', accuracy, split: null };
      mkdirSync(path);
      writeSummary(path, reportSummary(null, 'Server', changes));
      return path;
    });
    const page = join(folder, 'accuracy.html');
    const { code, stdout } = await compare(...paths, '--fail-if', 'accuracy < -2%', '--html', page);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^accuracy +98 % +96 % +-2 points \(-2.04 %\)/m);
    expect(readFileSync(page, 'utf8')).not.toContain('Latency by percentile');
    expect((await compare(...paths, '--fail-if', 'accuracy < -3%')).code).toBe(0);
    await expect(compare(...paths, '--fail-if', 'p99 > +5%')).rejects.toThrow('has no p99');
  });

  it('refuses one run alone, no folder of a run, and a run without records', async () => {
    await expect(compare(slow)).rejects.toThrow(/two runs or more/);
    await expect(compare(slow, folder)).rejects.toThrow(
      /is not a run's folder; name one in it: \S+, \S+, \S+ and \d+ more$/,
    );
    rmSync(join(fast, RUN_FILES.records));
    await expect(compare(slow, fast)).rejects.toThrow(/has no longhaul_records.arrow/);
  });
});
