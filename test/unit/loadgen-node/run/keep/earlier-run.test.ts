import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_FILES } from '../../../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import {
  refuseUsedOutput,
  replaceEarlierRun,
} from '../../../../../loadgen-node/run/keep/earlier-run.ts';
import { forgetVerdict } from '../../../../../loadgen-node/submission/compliance/test-folder.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

function screen(): { lines: string[]; report: (text: string) => void } {
  const lines: string[] = [];
  return { lines, report: (text) => void lines.push(text) };
}

function put(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, 'old\n');
}

// Goal: nothing of an earlier run stands beside the files of another, and none is lost unasked.
// Method: folders with such files.
describe('refuseUsedOutput', () => {
  it.each([
    'mlperf_log_summary.txt',
    'mlperf_log_20261121-093012_detail.txt',
    'longhaul_log_detail.txt',
    'longhaul_run.yaml',
    'network_audit.json',
    'accuracy.txt',
    'longhaul_peak.json',
    'longhaul_sweep.json',
    'longhaul_efficiency.json',
    'run_3/mlperf_log_summary.txt',
    'confirm-2/longhaul_run.yaml',
    '0.5ms_100mbit_0pct/confirm-2/longhaul_run.yaml',
  ])('refuses a folder with %s, and only without --force', (name) => {
    const output = tempFolder();
    put(join(output, name));
    const first = name.split('/')[0];
    expect(() => refuseUsedOutput(output, false)).toThrow(
      `--output ${output} holds an earlier result (${first}): --force replaces it, another --output keeps it`,
    );
    expect(() => refuseUsedOutput(output, true)).not.toThrow();
  });

  it('says that a search can go on', () => {
    const output = tempFolder();
    put(join(output, 'longhaul_peak.json'));
    expect(() => refuseUsedOutput(output, false, true)).toThrow(
      '(longhaul_peak.json): --resume continues it, --force replaces it, another',
    );
  });

  it('takes a folder that is not there, is empty, or has files and results of others below', () => {
    const output = tempFolder();
    refuseUsedOutput(join(output, 'not', 'there'), false);
    refuseUsedOutput(output, false);
    for (const name of ['report.txt', 'first/mlperf_log_summary.txt', 'compliance/mine.txt']) {
      put(join(output, name));
    }
    refuseUsedOutput(output, false);
  });

  it('says that --output is a file', () => {
    const output = join(tempFolder(), 'result');
    put(output);
    expect(() => refuseUsedOutput(output, true)).toThrow(
      `--output ${output} is a file; a folder is needed`,
    );
  });
});

describe('replaceEarlierRun', () => {
  it('sets compliance tests of the run aside, every time under a new name', () => {
    const output = tempFolder();
    for (const name of ['compliance-of-earlier-run', 'compliance-of-earlier-run-2']) {
      put(join(output, 'mlperf_log_summary.txt'));
      put(join(output, 'compliance', 'TEST04', 'verify_performance.txt'));
      const terminal = screen();
      replaceEarlierRun(output, terminal);
      expect(terminal.lines).toEqual([
        `replacing the earlier result in ${output}`,
        `its compliance tests are in ${join(output, name)} now: they do not apply to the new run`,
      ]);
      expect(readdirSync(join(output, name))).toEqual(['TEST04']);
    }
    expect(existsSync(join(output, 'compliance'))).toBe(false);
  });

  it('removes every file of an earlier run or search, and no other', () => {
    const output = tempFolder();
    const names = [
      ...Object.values(RUN_FILES),
      ...['mlperf_log_trace.json', 'longhaul_peak.json', 'confirm-7/mlperf_log_summary.txt'],
    ];
    for (const name of [...names, 'mine.txt', 'first/mlperf_log_summary.txt']) {
      put(join(output, name));
    }
    replaceEarlierRun(output, screen());
    expect(readdirSync(output).sort()).toEqual(['first', 'mine.txt']);
    expect(readdirSync(join(output, 'first'))).toEqual(['mlperf_log_summary.txt']);
  });

  it('leaves a folder alone in which there was no run', () => {
    const output = tempFolder();
    put(join(output, 'compliance', 'mine.txt'));
    const terminal = screen();
    replaceEarlierRun(output, terminal);
    expect(terminal.lines).toEqual([]);
    expect(readdirSync(output)).toEqual(['compliance']);
  });
});

describe('forgetVerdict', () => {
  it('removes what a verification wrote and nothing else, and says so', () => {
    const folder = tempFolder();
    for (const name of ['README.md', 'verify_performance.txt', 'performance/run_1/mine.txt']) {
      put(join(folder, name));
    }
    const terminal = screen();
    forgetVerdict(folder, terminal);
    expect(terminal.lines).toEqual([`removed the verdict of an earlier test in ${folder}`]);
    expect(readdirSync(folder)).toEqual(['performance']);
    expect(existsSync(join(folder, 'performance/run_1/mine.txt'))).toBe(true);
    forgetVerdict(folder, terminal);
    expect(terminal.lines).toHaveLength(1);
  });
});
