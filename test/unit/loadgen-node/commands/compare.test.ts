import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { compareCommand } from '../../../../loadgen-node/commands/compare.ts';
import { RUN_FILES } from '../../../../loadgen-node/run-folder/run-folder.ts';
import { writeMeasuredRun } from '../../../support/measured-run-folder.ts';
import { queueRecords } from '../../../support/queue-records.ts';
import { reportSummary } from '../../../support/report-summary.ts';
import { suiteFolder } from '../../../support/suite-folder.ts';

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
      await writeMeasuredRun(path, reportSummary(records, 'Server', { result }), records);
    }
  });
  afterEach(() => vi.restoreAllMocks());

  async function compare(...args: string[]): Promise<{ code: number | undefined; stdout: string }> {
    let stdout = '';
    let code: number | undefined;
    vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      stdout += String(chunk);
      return true;
    });
    const command = compareCommand((ended) => {
      code = ended;
    });
    await command.parseAsync(args, { from: 'user' });
    return { code, stdout };
  }

  it('ends with 0, tells better from worse, and marks the run that is INVALID', async () => {
    const { code, stdout } = await compare(slow, fast, '--fail-if', 'p50 > +5%');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^p50 .*surely better$/m);
    expect(stdout).toContain(`${slow}: INVALID: the figures are no result`);
  });

  it('ends with 3 where a condition holds, and prints one JSON document', async () => {
    const page = join(folder, 'page.html');
    const args = ['--json', '--html', page, '--fail-if', 'p50 > +5%', '--fail-if', 'errors > 0'];
    const { code, stdout } = await compare(fast, slow, ...args);
    expect(code).toBe(3);
    const document = JSON.parse(stdout) as { conditions: unknown[]; hasFailed: boolean };
    expect(document.hasFailed).toBe(true);
    expect(document.conditions).toMatchObject([{ holds: true }, { holds: false }]);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('surely worse');
    expect(html).not.toMatch(/NaN|Infinity/);
  });

  it('refuses one run alone, no folder of a run, and a run without records', async () => {
    await expect(compare(slow)).rejects.toThrow(/two runs or more/);
    await expect(compare(slow, folder)).rejects.toThrow(/is no run's folder/);
    rmSync(join(fast, RUN_FILES.records));
    await expect(compare(slow, fast)).rejects.toThrow(/has no longhaul_records.arrow/);
  });
});
