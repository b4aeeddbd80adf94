import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUN_SUMMARY, type RunSummary } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, type Said, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: a load test leaves what a user needs to see where a SUT saturates, and nothing that looks like MLPerf's.
// Method: a node that serves 50 samples a second, runs of a moment.

let node: SutNodeProcess;

beforeAll(async () => {
  const model = ['--delay-model', 'fixed:20ms', '--delay-concurrency', '1'];
  node = await SutNodeProcess.start('sut-a', ['--benchmark', 'delay', ...model]);
  await node.process.says(/is ready: delay/);
});

afterAll(() => node.stop());

async function run(output: string, ...flags: string[]): Promise<Said> {
  return await longhaulHere([
    ...['run', '--sut', node.address, '--benchmark', 'delay', '--sample-bytes', '16'],
    ...['--output', output, ...flags],
  ]);
}

function summaryOf(output: string): RunSummary {
  const text = readFileSync(join(output, 'longhaul_summary.json'), 'utf8');
  return RUN_SUMMARY.parse(JSON.parse(text));
}

describe('longhaul run --arrivals', () => {
  it('tells of each step what it offered and what came back', async () => {
    const output = suiteFolder();
    const arrivals = 'step:10@500ms,400@250ms:constant';
    const { stdout } = await run(output, '--division', 'open', '--arrivals', arrivals);
    const { loadTest, figures, notes } = summaryOf(output);
    expect(loadTest?.arrivals).toBe(arrivals);
    const steps = loadTest?.steps ?? [];
    expect(steps.map(({ rate, dueQueries, lost }) => [rate, dueQueries, lost])).toEqual([
      ['10', 5, 0],
      ['400', 100, 0],
    ]);
    // 100 queries at 20 ms each: the last of them waits for 1.7 s, whatever this machine does.
    expect(steps[1]).toMatchObject({ isKeptUp: false });
    expect(steps[1]?.maxNs).toBeGreaterThan(1.5e9);
    expect(steps[1]?.completedQps).toBeLessThan(60);
    expect(figures.queries).toBe(105);
    const mark = `arrivals ${arrivals} are not LoadGen's Poisson: a load test, not a scenario of MLPerf`;
    expect(notes).toContain(mark);
    expect(stdout).toMatch(/^Steps +from +offered \/s +due \/s +completed \/s +p50 +p99/m);
    const verdict =
      'Step 2 (400 queries/s) is the first that the SUT did not keep up with: 400.00 queries/s were due';
    const page = readFileSync(join(output, 'longhaul_report.html'), 'utf8');
    const again = await longhaulHere(['report', output]);
    for (const text of [stdout, page, again.stdout]) expect(text).toContain(verdict);
    const logs = readRunLogs(output);
    expect(logs.summary).toContain(mark);
    expect(logs.summary).toContain('1 ERROR encountered');
  });

  it('counts a burst once in its rate', async () => {
    const flags = ['--division', 'open', '--arrivals', 'burst:5@100ms', '--min-duration', '200ms'];
    const { stdout } = await run(suiteFolder(), ...flags, '--min-query-count', '1');
    expect(stdout).toContain('50 queries/s on average asked for: 50.00 samples/s scheduled');
  });

  it('plays a trace', async () => {
    const output = suiteFolder();
    const trace = join(suiteFolder(), 'trace.csv');
    writeFileSync(trace, 'timestamp_ms,user\n1000,a\n1060,b\n1060,a\n1400,c\n');
    const flags = ['--division', 'open', '--arrivals', `trace:${trace}@2`];
    const { code, stdout } = await run(output, ...flags);
    const { figures, loadTest } = summaryOf(output);
    expect(figures.queries).toBe(4);
    expect(figures.scheduled_qps).toBeCloseTo(3 / 0.2, 9);
    expect(loadTest).toEqual({ arrivals: `trace:${trace}@2`, steps: null });
    // Four queries are too few for early stopping, and the advice must not name a flag that a trace refuses.
    expect(code).toBe(3);
    expect(stdout).toContain('How many queries there are, --arrivals decides.');
    expect(stdout).not.toContain('set --min-query-count');
  });

  it('names the line of a trace that is wrong', async () => {
    const output = suiteFolder();
    const trace = join(suiteFolder(), 'wrong.txt');
    writeFileSync(trace, '0\n2\n1\n');
    const said = await run(output, '--division', 'open', '--arrivals', `trace:${trace}`);
    expect([said.code, said.stdout]).toEqual([2, '']);
    expect(said.stderr).toContain(`${trace}:3: is before line 2`);
  });

  it('is no way into the Network division', async () => {
    const said = await run(suiteFolder(), '--target-qps', '5', '--arrivals', 'constant');
    expect(said.code).toBe(2);
    expect(said.stderr).toContain(
      '--arrivals constant is against the rules of the Network division',
    );
  });
});
