import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUN_SUMMARY, type RunSummary } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, type Said, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: a load test leaves what a user needs to see where a SUT saturates, and nothing that looks
// like MLPerf's. Method: a node that serves 50 samples a second, runs of a moment.

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

async function curve(output: string, ...flags: string[]): Promise<Said> {
  return await longhaulHere([
    ...['curve', '--sut', node.address, '--benchmark', 'delay', '--sample-bytes', '16'],
    ...['--latency', '100ms', '--min-duration', '1s', '--min-query-count', '20'],
    // Whoever else runs on this machine makes LoadGen late.
    ...['--generator-lag-max', '99'],
    ...['--output', output, ...flags],
  ]);
}

describe('longhaul curve', () => {
  it('leaves table, plot, page, picture, CSV and JSON, and takes more loads', async () => {
    const output = suiteFolder();
    const first = await curve(output, '--qps', '10,100', '--json');
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('queries/s')]);
    const { points, peak, isComplete } = JSON.parse(first.stdout);
    expect([isComplete, points.length]).toEqual([true, 2]);
    expect(points[1]).toMatchObject({ load: 100, isOverloaded: true });
    expect(points[1].samplesPerSecond).toBeLessThan(51);
    expect(peak === null || peak.load === 10).toBe(true);
    const more = await curve(output, '--qps', '10,20,100', '--resume');
    expect(more.stdout).toContain('going on after 2 points:');
    expect(more.stdout).toContain('--- bound 100 ms');
    for (const file of ['longhaul_curve.html', 'curve.svg', 'curve.csv', 'longhaul_curve.json']) {
      expect(readFileSync(join(output, file), 'utf8')).toContain('queue grew');
    }
    expect(readFileSync(join(output, 'curve.csv'), 'utf8').split('\r\n')).toHaveLength(5);
    expect((await curve(output, '--qps', '10')).code).toBe(6);
    const other = await curve(output, '--concurrency', '1', '--resume');
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('stepped was')]);
  });

  it('steps a closed loop', async () => {
    const { code, stdout } = await curve(suiteFolder(), '--concurrency', '1,4', '--json');
    const { unit, points } = JSON.parse(stdout);
    expect([code, unit]).toEqual([0, 'queries at a time']);
    const [one, four] = points.map(
      ({ latencies }: { latencies: { valueNs: number }[] }) => latencies[0]?.valueNs,
    );
    // One server of 20 ms: a query has none before it, or three.
    expect(four).toBeGreaterThan(75e6);
    expect(one).toBeLessThan(four);
  });

  it.each([
    [['--qps', '10', '--concurrency', '2'], 'one curve steps one of them'],
    [['--target-qps', '10'], 'curve takes its rates from --qps'],
    [['--qps', '9..1'], 'a range rises'],
    [['--scenario', 'Offline'], 'Offline has no load to step'],
  ])('refuses %j', async (flags, message) => {
    const { code, stderr } = await curve(suiteFolder(), ...flags);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

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
    expect(stdout).toContain('50 queries/s on average requested: 50.00 samples/s scheduled');
  });

  it('plays a trace', async () => {
    const output = suiteFolder();
    const trace = join(suiteFolder(), 'trace.csv');
    writeFileSync(trace, 'timestamp_ms,user\n1000,a\n1060,b\n1060,a\n1400,c\n');
    const flags = ['--division', 'open', '--arrivals', `trace:${trace}@2`];
    // Whoever else runs on this machine makes answers and LoadGen late: neither is to be what the
    // verdict is about.
    const lenient = ['--target-latency', '20s', '--generator-lag-max', '99'];
    const { code, stdout } = await run(output, ...flags, ...lenient);
    const { figures, loadTest } = summaryOf(output);
    expect(figures.queries).toBe(4);
    expect(figures.scheduled_qps).toBeCloseTo(3 / 0.2, 9);
    expect(loadTest).toEqual({ arrivals: `trace:${trace}@2`, steps: null });
    // Four queries are too few for early stopping, and the advice must not name a flag that a trace
    // refuses.
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

  it('keeps a closed loop, and says everywhere what it is', async () => {
    const output = suiteFolder();
    const flags = ['--division', 'open', '--concurrency', '4', '--min-duration', '1s'];
    const { stdout } = await run(output, ...flags, '--records', 'keep', '--report', 'html');
    const { loadTest, figures, notes } = summaryOf(output);
    expect(loadTest).toEqual({ arrivals: 'closed-loop:4', steps: null });
    // One server of 20 ms, four queries before it all the time.
    expect(figures.completed_qps).toBeLessThan(51);
    expect(figures.p50).toBeGreaterThan(75e6);
    expect(figures.lag_max).toBe(0);
    const mark = 'closed loop, 4 queries at a time: the server sets the pace';
    expect(notes.join('\n')).toContain(mark);
    const page = readFileSync(join(output, 'longhaul_report.html'), 'utf8');
    const { summary } = readRunLogs(output);
    for (const text of [stdout, page, summary]) expect(text).toContain(mark);
    expect(stdout).toMatch(
      /^Load +Server, closed loop, 4 at a time: [\d.]+ samples\/s completed, \d+ queries$/m,
    );
    expect(stdout).not.toContain('Dispatch lag');
  });

  it('is no way into the Network division', async () => {
    const said = await run(suiteFolder(), '--target-qps', '5', '--arrivals', 'constant');
    expect(said.code).toBe(2);
    expect(said.stderr).toContain(
      '--arrivals constant is against the rules of the Network division',
    );
  });
});
