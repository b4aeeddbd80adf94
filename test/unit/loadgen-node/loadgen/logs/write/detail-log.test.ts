import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DetailLog } from '../../../../../../loadgen-node/loadgen/logs/write/detail-log.ts';
import { LogFile } from '../../../../../../loadgen-node/loadgen/logs/write/log-file.ts';
import { TestLogs } from '../../../../../../loadgen-node/loadgen/logs/write/test-logs.ts';
import { LOADGEN_V61 } from '../../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import { checkSelf, writeManifest } from '../../../../../../loadgen-node/run/judge/self-check.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';
import { readDetailLog } from '../../../../../scenes/simulated-run/run-logs.ts';
import { simulatedTest } from '../../../../../scenes/simulated-run/simulated-run.ts';

function written(write: (log: DetailLog) => void): string {
  const file = new LogFile(join(tempFolder(), 'detail.txt'));
  write(new DetailLog(file, () => 1_002_000_003));
  file.close();
  return readFileSync(file.path, 'utf8');
}

// Goal: every line has LoadGen's form and is JSON, whatever a value holds.
// Method: write single lines and read their text.
describe('DetailLog', () => {
  it('writes the form that the official tools read', () => {
    expect(written((log) => log.text('sut_name', 'A'))).toBe(
      ':::MLLOG {"key": "sut_name", "value": "A", "time_ms": 1002.000003, ' +
        '"namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": ' +
        '{"is_error": false, "is_warning": false, "file": "detail-log.ts", "line_no": 0, ' +
        `"pid": ${process.pid}, "tid": ${process.pid}}}\n`,
    );
  });

  it('keeps all digits of 64-bit seeds', () => {
    const text = written((log) => log.integer('seed', 18446744073709551615n));
    expect(text).toContain('"value": 18446744073709551615,');
  });

  it.each([
    ['infinite', Number.POSITIVE_INFINITY],
    ['not a number', Number.NaN],
  ])('writes null for a double that is %s', (_case, value) => {
    expect(written((log) => log.double('rate', value))).toContain('"value": null,');
  });

  it('stays JSON with a hostile name, in one line of the summary', async () => {
    const name = 'Network SUT "quoted"\nResult is : VALID\\';
    const outcome = await simulatedTest(
      { scenario: 'Server', minQueryCount: 1, minDurationMs: 1 },
      { names: [name] },
    ).run();
    const line = readDetailLog(outcome.logFiles.detail).find(({ key }) => key === 'sut_name');
    expect(line?.value).toBe(name);
    const summary = readFileSync(outcome.logFiles.summary, 'utf8').split('\n');
    expect(summary).not.toContain('Result is : VALID\\');
  });

  it('counts warnings and errors', async () => {
    const text = written((log) => {
      log.warning('w');
      log.error('error_runtime', 'e');
      expect([log.warningCount, log.errorCount]).toEqual([1, 1]);
    });
    expect(text).toMatch(/"is_error": false, "is_warning": true[\s\S]*"is_error": true/u);
  });

  it('ends with the number of errors where the LoadGen of the round does', async () => {
    const settings = { scenario: 'Server', serverTargetQps: -5, minQueryCount: 3 } as const;
    const outcome = await simulatedTest({ ...settings, minDurationMs: 1 }).run({
      loadgen: LOADGEN_V61,
    });
    const lines = readDetailLog(outcome.logFiles.detail);
    expect(lines.find(({ key }) => key === 'num_errors')?.value).toBe(1);
    expect(lines.find(({ key }) => key === 'error_invalid_test_settings')?.value).toBe(
      'Invalid value for server_target_qps requested. requested: -5 using: 1',
    );
  });
});

async function linesOf(folder: string): Promise<Record<string, unknown>> {
  const { logFiles } = await simulatedTest({ minDurationMs: 0 }).run({
    selfCheck: checkSelf(folder),
  });
  const lines = readDetailLog(logFiles.detail).filter(({ key }) =>
    key.startsWith('longhaul_files'),
  );
  return Object.fromEntries(lines.map(({ key, value }) => [key, value]));
}

// Goal: a log tells which program made it. Method: a test under simulated time, a small dist
// folder.
describe('the head of the detail log', () => {
  it('names the hash of the program and that it is as it was built', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'main.js'), 'one');
    const { hash } = writeManifest(folder);
    expect(await linesOf(folder)).toEqual({
      longhaul_files_sha256: hash,
      longhaul_files_state: 'unmodified',
    });
  });

  it('names the files that differ', async () => {
    const folder = tempFolder();
    writeManifest(folder);
    writeFileSync(join(folder, 'main.js'), 'one');
    expect(await linesOf(folder)).toMatchObject({
      longhaul_files_state: 'modified',
      longhaul_files_differing: 'main.js',
    });
  });
});

// Goal: what a server says in a reason cannot steer the terminal of who reads the summary.
it('keeps the lines of a summary and no other control characters', () => {
  const logs = new TestLogs({ outdir: tempFolder(), print: () => {} }, () => 0);
  logs.appendSummary('first: \u001b[31mred\u0000\r\nsecond\n');
  logs.end();
  expect(readFileSync(logs.paths.summary, 'utf8')).toContain(
    'first: \ufffd[31mred\ufffd\nsecond\n',
  );
});
