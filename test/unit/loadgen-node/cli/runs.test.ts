import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runsVerb } from '../../../../loadgen-node/cli/runs.ts';
import { RUN_FILES } from '../../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { writeAudit } from '../../../../loadgen-node/observe/network-audit.ts';
import {
  type RunSummary,
  writeSummary,
} from '../../../../loadgen-node/observe/summary/run-summary.ts';
import { composeAudit } from '../../../../loadgen-node/run/audit/compose-audit.ts';
import { writePeakFile } from '../../../../loadgen-node/search/peak/search-peak.ts';
import { suiteFolder, tempFolder } from '../../../scenes/host/folders.ts';
import { verbHere } from '../../../scenes/host/processes.ts';
import { auditFacts, nodeEvidence } from '../../../scenes/simulated-run/audit-facts.ts';
import {
  aboutOf,
  keptProbe,
  searchOf,
  unloaded,
} from '../../../scenes/simulated-run/steady-probe.ts';
import { reportSummary } from '../../../scenes/simulated-run/summary.ts';

// Goal: the list has every run below a folder, newest first, and hides no damage. Method: summaries
// written by hand in a tree of folders; the command inside this process.

describe('longhaul runs', () => {
  const top = suiteFolder();

  const write = (name: string, day: number, changes: Partial<RunSummary> = {}): void => {
    const folder = join(top, name);
    mkdirSync(folder, { recursive: true });
    const startedAt = `2026-11-${String(day).padStart(2, '0')}T08:30:00.000Z`;
    const figures = {
      scheduled_qps: 94.14,
      answered_qps: 94.14,
      completed_qps: 94.14,
      p90: 3e6,
      p99: 11.6e6,
      samples: 944,
      lost: 0,
    };
    const scenario = changes.scenario ?? 'Server';
    writeSummary(folder, reportSummary(null, scenario, { startedAt, figures, ...changes }));
  };

  beforeAll(() => {
    write('a', 10, { labels: { commit: '4f2a9c1', host: 'x' } });
    write('deep/er/b', 12, { result: 'INVALID', labels: { commit: '5b' } });
    write('c', 11, { scenario: 'SingleStream', benchmark: 'digits' });
    mkdirSync(join(top, 'torn'));
    writeFileSync(join(top, 'torn', RUN_FILES.runSummary), '{"schemaVersion": 1, "run');
    mkdirSync(join(top, 'stopped'));
    writeFileSync(join(top, 'stopped', RUN_FILES.record), 'run:\n');
    mkdirSync(join(top, 'crashed'));
    writeFileSync(join(top, 'crashed', RUN_FILES.record), 'run:\n');
    const log = join(top, 'crashed', 'longhaul_log_summary.txt');
    writeFileSync(log, '\nINCOMPLETE: the run broke off: a crash\n');
    mkdirSync(join(top, 'peak'));
    writeFileSync(join(top, 'peak', RUN_FILES.record), '{}');
    const about = aboutOf('2026-11-09T08:30:00.000Z', { labels: { commit: '4f' } });
    const probes = [unloaded(), keptProbe(1, 100)];
    const file = { about, identity: {}, search: searchOf(100e6), probes };
    writePeakFile(join(top, 'peak'), file);
    write('peak/confirm-1', 9);
    write('peak/confirm-2', 9);
    mkdirSync(join(top, 'peak', 'confirm-3'));
    writeFileSync(join(top, 'peak', 'confirm-3', RUN_FILES.record), 'run:\n');
    mkdirSync(join(top, 'cpp/run_1'), { recursive: true });
    writeFileSync(join(top, 'cpp/run_1', RUN_FILES.detail), ':::MLLOG {}\n');
    const summary = 'SUT name : a\u001b[31mSUT\nScenario : Server\nResult is : VALID\n';
    writeFileSync(join(top, 'cpp/run_1', RUN_FILES.summary), summary);
    mkdirSync(join(top, 'torn-peak'));
    writeFileSync(join(top, 'torn-peak', 'longhaul_peak.json'), '{}');
  });

  const list = async (...args: string[]) => {
    const { stdout } = await verbHere(runsVerb, top, '--json', ...args);
    return JSON.parse(stdout) as {
      runs: { folder: string }[];
      searches: { folder: string; verb: string }[];
      damaged: { folder: string }[];
      bare: { folder: string }[];
    };
  };
  const names = async (...args: string[]): Promise<string[]> =>
    (await list(...args)).runs.map(({ folder }) => folder.slice(top.length + 1));

  it('shows what, verdict, metric, tail and labels of each, newest first', async () => {
    const { code, stdout } = await verbHere(runsVerb, top);
    expect(code).toBe(0);
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows.slice(0, 4)).toEqual([
      ['started', 'benchmark', 'scenario', 'verdict', 'metric', 'p99', 'labels', 'folder'],
      [
        ...['2026-11-12 08:30 UTC', 'delay', 'Server', 'INVALID', '94.1 /s', '11.6 ms'],
        ...['commit=5b', join(top, 'deep/er/b')],
      ],
      [
        ...['2026-11-11 08:30 UTC', 'digits', 'SingleStream', 'VALID', '3 ms at p90', '11.6 ms'],
        ...['-', join(top, 'c')],
      ],
      [
        ...['2026-11-10 08:30 UTC', 'delay', 'Server', 'VALID', '94.1 /s', '11.6 ms'],
        ...['commit=4f2a9c1 host=x', join(top, 'a')],
      ],
    ]);
  });

  it('marks a VALID run whose SUT was not alone, and no run whose audit is damaged', async () => {
    const below = suiteFolder();
    for (const name of ['alone', 'shared', 'damaged']) {
      const folder = join(below, name);
      mkdirSync(folder, { recursive: true });
      writeSummary(folder, reportSummary(null));
      const node = nodeEvidence('sut-a');
      const otherSampleCount = name === 'shared' ? 70 : 0;
      const theirs = node.theirs && { ...node.theirs, otherSampleCount };
      if (name === 'damaged') writeFileSync(join(folder, RUN_FILES.audit), '{');
      else writeAudit(folder, composeAudit(auditFacts([{ ...node, theirs }])));
    }
    const { stdout } = await verbHere(runsVerb, below);
    const marks = (name: string): string | undefined =>
      / (VALID.*?) {2}/.exec(stdout.split('\n').find((line) => line.endsWith(name)) ?? '')?.[1];
    expect(['alone', 'shared', 'damaged'].map(marks)).toEqual([
      'VALID',
      'VALID, SUT not alone',
      'VALID',
    ]);
  });

  it.each<[string, RunSummary['verdict']['cause'], string, string]>([
    [
      'its cause',
      { kind: 'queue', text: 'the SUT did not keep up' },
      'not-kept-up',
      'SUT did not keep up',
    ],
    ['the rule of a short run', null, 'early-stopping', 'too few queries'],
    ['the rule of a low accuracy', null, 'quality', 'accuracy too low'],
    ['a rule that has no words', null, 'contract-errors', 'contract errors'],
  ])('says in few words why a run is INVALID: %s', async (_case, cause, rule, words) => {
    const folder = join(suiteFolder(), 'run');
    mkdirSync(folder, { recursive: true });
    const reason = { rule, text: '', needed: '', seen: '', key: null, advice: '' };
    const verdict = { isValid: false, cause, reasons: [reason] };
    writeSummary(folder, reportSummary(null, 'Server', { result: 'INVALID', verdict }));
    const { stdout } = await verbHere(runsVerb, folder);
    expect(stdout.split(/ {2,}/)).toContain(`INVALID: ${words}`);
  });

  it("lists folders with LoadGen's logs alone, where no label, benchmark or time is asked for", async () => {
    const { stdout } = await verbHere(runsVerb, top);
    expect(stdout).toContain("1 folder with LoadGen's logs alone (longhaul report <folder>):");
    expect(stdout).toMatch(/^Server {2}VALID {2}a.*SUT {2}.*cpp\/run_1$/m);
    expect(stdout).not.toContain('\u001b');
    const bareOf = async (...args: string[]) => (await list(...args)).bare.length;
    expect([
      await bareOf(),
      await bareOf('--valid'),
      await bareOf('--scenario', 'offline'),
    ]).toEqual([1, 1, 0]);
    expect([await bareOf('--since', '24h'), await bareOf('--benchmark', 'delay')]).toEqual([0, 0]);
  });

  it("tells how many folders with LoadGen's logs alone there are, where --limit shows fewer", async () => {
    const folder = suiteFolder();
    for (const name of ['a', 'b', 'c']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, RUN_FILES.detail), '');
      writeFileSync(join(folder, name, RUN_FILES.summary), 'SUT name : a\nResult is : VALID\n');
    }
    const { stdout } = await verbHere(runsVerb, folder, '--limit', '2');
    expect(stdout).toContain(
      "2 of 3 folders with LoadGen's logs alone (longhaul report <folder>; --limit 3 lists all):",
    );
    const { stdout: json } = await verbHere(runsVerb, folder, '--limit', '2', '--json');
    expect(JSON.parse(json)).toMatchObject({ bare: [{}, {}], bareCount: 3 });
  });

  it('finds a log of LoadGen before v1.0 by the scenario', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'mlperf_log_detail.txt'), '');
    const summary = 'SUT name : a\nScenario : Single Stream\nResult is : VALID\n';
    writeFileSync(join(folder, 'mlperf_log_summary.txt'), summary);
    const { stdout } = await verbHere(runsVerb, folder, '--scenario', 'SingleStream', '--json');
    expect(JSON.parse(stdout).bare).toMatchObject([{ scenario: 'SingleStream', result: 'VALID' }]);
  });

  it('names folders whose result cannot be read, and none of a search that broke off', async () => {
    const { stdout } = await verbHere(runsVerb, top);
    expect(stdout).toContain('4 folders without a result that can be read:');
    expect(stdout).toMatch(/torn: longhaul_summary.json is not JSON/);
    expect(stdout).toMatch(/stopped: it has no longhaul_summary.json: the run goes on, or broke/);
    expect(stdout).toMatch(/crashed: it has no longhaul_summary.json: the run broke off: a crash/);
    const { damaged } = await list();
    expect(damaged).toHaveLength(4);
    expect(stdout).toMatch(/torn-peak: longhaul_peak.json is no search/);
  });

  it('shows a search as one row, and its runs on demand', async () => {
    const { stdout } = await verbHere(runsVerb, top);
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows[4]).toEqual([
      ...['2026-11-09 08:30 UTC', 'delay', 'Server', 'broken off', '-', '-', 'commit=4f'],
      `${join(top, 'peak')} (3 runs)`,
    ]);
    expect(stdout).toContain('3 runs of searches not shown: --all lists them');
    expect((await list()).searches).toMatchObject([{ verb: 'find-peak', runCount: 3 }]);
    expect((await list('--valid')).searches).toEqual([]);
    const all = await verbHere(runsVerb, top, '--all');
    expect(all.stdout).toContain(join(top, 'peak/confirm-2'));
    expect(all.stdout).toMatch(/peak\/confirm-3: it has no longhaul_summary.json/);
  });

  it.each([
    [['--label', 'commit=4f2a9c1'], ['a']],
    [['--label', 'commit=4f2a9c1', '--label', 'host=y'], []],
    [['--benchmark', 'digits'], ['c']],
    [['--scenario', 'single-stream'], ['c']],
    [['--valid'], ['c', 'a']],
    [
      ['--since', '2026-11-11'],
      ['deep/er/b', 'c'],
    ],
    [['--limit', '1'], ['deep/er/b']],
  ])('%j: %j', async (args, wanted) => {
    expect(await names(...args)).toEqual(wanted);
  });

  it('says how many it left out, and that there is none', async () => {
    const { stdout } = await verbHere(runsVerb, top, '--limit', '1');
    expect(stdout).toContain('3 older runs not shown: --limit 4');
    const none = await verbHere(runsVerb, top, '--benchmark', 'echo');
    expect(none.stdout).toContain(`No run below ${top} that fits; it has 4 other runs.`);
  });

  it.each([
    [['--since', 'soon'], /--since "soon" must be a date such as/],
    [['--limit', '0'], /--limit "0" must be a whole number of 1 or more/],
    [['--label', 'commit'], /--label "commit" must be key=value/],
    [['--scenario', 'Batch'], /--scenario "Batch" must be one of: SingleStream/],
  ])('refuses %j', async (args, message) => {
    await expect(verbHere(runsVerb, top, ...args)).rejects.toThrow(message);
  });

  it('refuses a folder that is not there', async () => {
    await expect(verbHere(runsVerb, join(top, 'none'))).rejects.toThrow(
      /none is not a folder: name/,
    );
  });
});
