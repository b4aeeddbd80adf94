import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { doctorVerb } from '../../../loadgen-node/cli/doctor.ts';
import { ceilingBasis, writeCeiling } from '../../../loadgen-node/observe/health/ceiling-file.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, verbHere } from '../../scenes/host/processes.ts';
import { fakeSutNodes } from '../../scenes/sut-node/fake-sut-node.ts';
import { startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: a run that names no benchmark measures the one that its node serves, and says so.
// Method: real nodes without a model; a node of other make that does not describe itself.

const SHORT = ['--scenario', 'SingleStream', '--min-duration', '0s', '--min-query-count', '64'];

describe('a run without --benchmark', () => {
  it('takes that of the node, says so, and records it', async () => {
    const { address } = await startTestNode({ benchmark: 'null' });
    const output = tempFolder();
    const args = ['--sut', address, ...SHORT, '--output', `${output}/run`, '--warm-up', '0s'];
    const { code, stdout, stderr } = await longhaulHere(['run', ...args]);
    expect(stderr).toContain(
      `longhaul: note: SUT node ${address} serves null: taken as --benchmark\n`,
    );
    expect(stdout).toMatch(/^VALID +null, SingleStream/);
    expect(code).toBe(0);
    expect(readFileSync(`${output}/run/longhaul_run.yaml`, 'utf8')).toMatch(
      new RegExp(`^ {2}benchmark: "null" +# asked of SUT node ${address}$`, 'm'),
    );
  });

  it('asks no node where a benchmark is given, or where another setting is wrong', async () => {
    const nobody = ['run', '--sut', '127.0.0.1:1'];
    const wrong = await longhaulHere([...nobody, '--keepalive-time', 'soon']);
    expect(wrong.stderr).toMatch(/^longhaul: --keepalive-time "soon" must be a duration/);
    expect(wrong.code).toBe(2);
    const unknown = await longhaulHere([...nobody, '--benchmark', 'nul']);
    expect(unknown.stderr).toMatch(/^longhaul: .*nul/);
    expect((await longhaulHere(nobody)).code).toBe(4);
  });

  it.each([
    ['run', '--target-qps', 'abc'],
    ['run', '--target-latency', '15'],
    ['run', '--label', 'nokey'],
    ['run', '--threshold', 'p98 < 15ms'],
    ['run', '--round', 'v4.0'],
    ['run', '--sut', '127.0.0.1'],
    ['find-peak', '--latency', 'x'],
  ])('of %s is asked for the wrong %s %s alone', async (verb, flag, value) => {
    const sut = flag === '--sut' ? [] : ['--sut', '127.0.0.1:1'];
    const { code, stderr } = await longhaulHere([verb, ...sut, flag, value]);
    expect(stderr).toMatch(new RegExp(`^longhaul: .*${flag} `));
    expect(stderr).not.toContain('--benchmark');
    expect(code).toBe(2);
  });

  it('is asked for the benchmark too where there is no node to ask', async () => {
    const { code, stderr } = await longhaulHere(['run', '--target-qps', 'abc']);
    expect(stderr).toContain('--target-qps "abc" must be');
    expect(stderr).toContain('--benchmark <name> is needed');
    expect(code).toBe(2);
  });

  it('asks for one where the node does not tell', async () => {
    const [{ address }] = await fakeSutNodes({ without: ['Describe'] });
    const { stderr, code } = await longhaulHere(['run', '--sut', address]);
    expect(stderr).toMatch(/^longhaul: --benchmark <name> is needed/);
    expect(code).toBe(2);
  });

  it('is planned by doctor, too', async () => {
    const { address } = await startTestNode({ benchmark: 'null' });
    const cacheDir = tempFolder();
    const measuredAt = '2026-01-31T12:00:00.000Z';
    const ceiling = { measuredAt, measuredOn: ceilingBasis(), inProcessQps: 1e6, loopbackQps: 1e5 };
    writeCeiling(cacheDir, ceiling);
    const planned = ['--sut', address, '--target-qps', '10', '--link-test-time', '10ms'];
    const { stdout } = await verbHere(doctorVerb, ...planned, '--cache-dir', cacheDir);
    expect(stdout).toContain('Planned run: null, Server, 10 queries/s');
  });
});
