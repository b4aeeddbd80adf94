import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { EfficiencyReport } from '../../../loadgen-node/search/efficiency/efficiency-report.ts';
import {
  type CellResult,
  SWEEP_FILE,
  type Sweep,
} from '../../../loadgen-node/search/sweep/sweep-file.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { LonghaulProcess, longhaul } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import { startTestNode } from '../../scenes/sut-node/sut-node.ts';
import { LINK_SCRIPT, SutNamespace, whyNoNamespaces } from '../network/sut-behind-link.ts';

// Goal: the two verbs from the command line to their files. The figures of a busy machine are not
// judged.
const MAIN = fileURLToPath(compiledModule('loadgen-node/main.js'));
const EFFICIENCY = [
  'efficiency',
  '--benchmark',
  'delay',
  '--sample-bytes',
  '16',
  '--delay-model',
  'fixed:2ms',
];
const SHORT_SEARCH = [
  ...['--latency', '200ms', '--percentile', '50', '--min-duration', '1s', '--search-time', '2s'],
  ...['--confirm-loads', '1', '--generator-lag-max', '99'],
];
const STREAM = ['--scenario', 'single-stream', '--min-duration', '1ms', '--min-query-count', '100'];

describe('longhaul efficiency', () => {
  it('compares a node that it starts with the same model in process', async () => {
    const output = tempFolder();
    const flags = [...STREAM, '--repeats', '2', '--output', output, '--json'];
    const { stdout, stderr, code } = await longhaul([...EFFICIENCY, ...flags]);
    expect([0, 3]).toContain(code);
    expect(stderr).toContain('network: run 2 of 2: ');
    const report = JSON.parse(stdout) as EfficiencyReport;
    expect(report.inProcess.model).toEqual(report.network.model);
    expect(report.network.runs).toHaveLength(2);
    expect(report.comparison.figures.map(({ figure }) => figure)).toContain('p90');
    expect(report.comparison.parts.map(({ part }) => part)).toContain('network');
    expect(report.notes[0]).toContain('one machine');
    expect(readRunLogs(join(output, 'in-process', 'run_1')).summary).toContain('no network');
    expect(existsSync(join(output, 'network', 'run_2', 'network_audit.json'))).toBe(true);
  });

  it('compares with a file of the SUT machine, and refuses one of other settings', async () => {
    const closed = join(tempFolder(), 'closed.json');
    const inside = await longhaul([
      ...EFFICIENCY,
      ...STREAM,
      '--in-process-only',
      '--repeats',
      '1',
      '--output',
      closed,
    ]);
    expect(inside.stdout).toContain(`written to ${closed}`);
    const node = await startTestNode({ benchmark: 'delay' });
    const across = [
      'efficiency',
      '--sut',
      node.address,
      '--in-process',
      closed,
      '--benchmark',
      'delay',
    ];
    const refused = await longhaul([
      ...across,
      ...STREAM,
      '--sample-bytes',
      '16',
      '--output',
      tempFolder(),
    ]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('SUT configuration: in process');
  });

  it.each([
    [['--sut', '127.0.0.1:1'], '--sut needs --in-process FILE'],
    [['--in-process', 'a.json'], '--in-process needs --sut'],
    [['--in-process-only', '--sut', '127.0.0.1:1'], 'measures no network'],
    [['--sut', '127.0.0.1:1,127.0.0.1:2', '--in-process', 'a.json'], 'names 2 nodes'],
    [['--delay-model', 'slow'], '--delay-model'],
  ])('refuses %j', async (flags, expected) => {
    const { code, stderr } = await longhaul(['efficiency', '--benchmark', 'delay', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });
});

const noNamespaces = whyNoNamespaces();

describe('longhaul sweep', () => {
  it.skipIf(noNamespaces !== undefined)(
    `measures each cell, keeps those that are done, and draws them${noNamespaces ?? ''}`,
    async () => {
      const space = new SutNamespace();
      const verb = ['sut', '--benchmark', 'delay', '--listen', `${space.sutAddress}:50051`];
      const node = new LonghaulProcess([...space.inside, process.execPath, MAIN, ...verb]);
      try {
        await node.says(/ready/i);
        await expectSweep(space);
      } finally {
        node.kill('SIGTERM');
        await node.ended;
        space.remove();
      }
    },
  );

  async function expectSweep(space: SutNamespace): Promise<void> {
    const output = tempFolder();
    const env = Object.entries(space.environment).map(([name, value]) => `${name}=${value}`);
    const hook = ['--link-hook', [...env, LINK_SCRIPT].join(' ')];
    const target = ['--sut', `${space.sutAddress}:50051`, '--sample-bytes', '16'];
    const flags = ['sweep', ...target, ...SHORT_SEARCH, '--output', output, '--rate', '10mbit'];
    const first = await longhaul([...flags, ...hook, '--delay', '0']);
    expect([0, 3]).toContain(first.code);
    const grid = ['--delay', '0,5ms'];
    const again = await longhaul([...flags, ...hook, ...grid]);
    expect(again.code).toBe(6);
    expect(again.stderr).toContain('--resume goes on with it');
    const other = await longhaul([...flags, '--link-hook', 'true', ...grid, '--resume']);
    expect(other.stderr).toContain('is of another sweep (linkHook was ');
    const resumed = await longhaul([...flags, ...hook, ...grid, '--resume']);
    expect(resumed.stderr).toContain('cell 1 of 2: kept');
    const sweep = JSON.parse(readFileSync(join(output, SWEEP_FILE), 'utf8')) as Sweep;
    expect(sweep.cells.map(({ link }) => link.delayNs)).toEqual([0, 5e6]);
    const { result } = sweep.cells[1] as { result: CellResult };
    expect(result).toMatchObject({ seen: { bitsPerSecond: expect.any(Number) } });
    expect(result.seen?.roundTripP50Ns).toBeGreaterThanOrEqual(10e6);
    expect(result.hook).toContain("to a network namespace of LoadGen's machine");
    expect(readFileSync(join(output, 'longhaul_sweep.html'), 'utf8')).toContain('10mbit');
    const confirmed = join(output, sweep.cells[0]?.folder ?? '', 'confirm-');
    const runs = Array.from({ length: 20 }, (_, i) => `${confirmed}${i}`).filter(existsSync);
    expect(readRunLogs(runs[0] ?? '').summary).toContain('set the link (0ms 10mbit 0%)');
  }

  it('does not believe a hook that sets nothing', async () => {
    const node = await startTestNode({ benchmark: 'delay' });
    const flags = ['--sut', node.address, '--sample-bytes', '16', ...SHORT_SEARCH];
    const hook = ['--link-hook', 'true', '--delay', '2s', '--output', tempFolder()];
    const { code, stdout } = await longhaul(['sweep', ...flags, ...hook]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/failed: .*--link-hook did not set the link: 2000ms .* was requested/);
  });

  it.each([
    [['--delay', 'fast'], 2, '--delay "fast"'],
    [['--scenario', 'offline', '--target-qps', '1'], 2, 'sweep searches peaks'],
  ])('refuses %j', async (flags, expectedCode, expected) => {
    const base = ['sweep', '--sut', '127.0.0.1:1', '--benchmark', 'delay', '--link-hook', 'true'];
    const { code, stderr } = await longhaul([...base, ...flags]);
    expect(code).toBe(expectedCode);
    expect(stderr).toContain(expected);
  });
});
