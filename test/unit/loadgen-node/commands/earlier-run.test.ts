import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgetVerdict } from '../../../../loadgen-node/commands/compliance-run.ts';
import { replaceEarlierRun } from '../../../../loadgen-node/commands/earlier-run.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

function screen(): { lines: string[]; line: (text: string) => void } {
  const lines: string[] = [];
  return { lines, line: (text) => void lines.push(text) };
}

function put(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, 'old\n');
}

// Goal: what was verified of an earlier run never stands beside the logs of another. Method: folders with such files.
describe('replaceEarlierRun', () => {
  it('sets compliance tests of the run aside, every time under a new name', () => {
    const output = tempFolder();
    put(join(output, 'mlperf_log_summary.txt'));
    for (const name of ['compliance-of-earlier-run', 'compliance-of-earlier-run-2']) {
      put(join(output, 'compliance', 'TEST04', 'verify_performance.txt'));
      const terminal = screen();
      replaceEarlierRun(output, terminal);
      expect(terminal.lines).toEqual([
        `replacing the logs of an earlier run in ${output}`,
        `its compliance tests are in ${join(output, name)} now: they say nothing of the new run`,
      ]);
      expect(readdirSync(join(output, name))).toEqual(['TEST04']);
    }
    expect(existsSync(join(output, 'compliance'))).toBe(false);
  });

  it('removes what was made of an earlier run, also of one that left no summary', () => {
    const output = tempFolder();
    const names = ['longhaul_records.arrow', 'longhaul_summary.json', 'longhaul_report.html'];
    for (const name of [...names, 'mine.txt']) put(join(output, name));
    replaceEarlierRun(output, screen());
    expect(readdirSync(output)).toEqual(['mine.txt']);
  });

  it('leaves a folder alone in which there was no run', () => {
    const output = tempFolder();
    put(join(output, 'compliance', 'mine.txt'));
    const terminal = screen();
    replaceEarlierRun(output, terminal);
    expect(terminal.lines).toEqual([]);
    expect(readdirSync(output)).toEqual(['compliance']);
  });

  it('says that --output is a file', () => {
    const output = join(tempFolder(), 'result');
    put(output);
    expect(() => replaceEarlierRun(output, screen())).toThrow(
      `--output ${output} is a file; a folder is needed`,
    );
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
