import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listBenchmarks } from '../../../loadgen-node/operate/config/starter-file.ts';
import { tempFolder } from '../../scenes/host/folders.ts';

// Goal: docs/submission-walkthrough.sh measures nothing that its last step refuses, and tells why a
// run ended it. Method: the script itself, with a program in the place of longhaul that ends as an
// INVALID run does; with real runs it is tested by `npm run test:outside walkthrough`.
const SCRIPT = resolve(import.meta.dirname, '../../../docs/submission-walkthrough.sh');

/**
 * Lists the benchmarks; runs are INVALID by the rule that the environment says, or "valid"; tests
 * fail.
 */
const PROGRAM = `#!/bin/sh
here=$(dirname "$0")
if [ "$1" = config ]; then exec cat "$here/benchmarks.json"; fi
echo "$*" >>"$here/calls.txt"
if [ "$1" = compliance ]; then exit 3; fi
if [ "$1" != run ]; then exit 0; fi
rule=$PERFORMANCE_RUN
case "$*" in *'--mode accuracy'*) rule=$ACCURACY_RUN ;; esac
if [ "$rule" = valid ]; then exit 0; fi
while [ "$1" != --output ]; do shift; done
printf '{"verdict":{"reasons":[{"rule":"%s"}]}}' $rule >"$2/longhaul_summary.json"
echo 'INVALID       digits, Server'
echo "  1. The bound was missed: $rule."
echo 'a line of progress' >&2
exit 3
`;

/**
 * Starts the script with these variables. @returns What it said, and the runs that it asked for.
 */
function start(variables: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  const folder = tempFolder();
  const program = join(folder, 'program.sh');
  writeFileSync(program, PROGRAM, { mode: 0o755 });
  writeFileSync(join(folder, 'benchmarks.json'), JSON.stringify(listBenchmarks().json));
  const own = {
    LONGHAUL: program,
    SUT: '127.0.0.1:1',
    ACCURACY_RUN: 'latency',
    PERFORMANCE_RUN: 'latency',
  };
  const env = { ...process.env, ...own, ...variables };
  const args = [...flags, join(folder, 'out')];
  const { status, stderr } = spawnSync(SCRIPT, args, { env, encoding: 'utf8' });
  const file = join(folder, 'calls.txt');
  const calls = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return { status, stderr, calls };
}

describe('docs/submission-walkthrough.sh', () => {
  it('shows the report of an INVALID run, and ends with its exit code', () => {
    const { status, stderr } = start({ ROUNDS: 'v4.1' }, '--dry-run-lengths');
    expect(stderr).toContain('The bound was missed: latency.');
    expect(stderr).toContain('a line of progress');
    expect(stderr).toMatch(
      /v4\.1\/runs\/Server\/accuracy ended with exit code 3; start the script again to make it again\n/,
    );
    expect(status).toBe(3);
  });

  it.each([
    [
      { BENCHMARK: 'bert', ROUNDS: 'v4.1 v5.0' },
      'v5.0 has no bert-99 in the Network division; it is in v4.1',
    ],
    [
      { BENCHMARK: 'llama2-70b', ROUNDS: 'v6.1' },
      'v6.1 has no llama2-70b-99 in the Network division; it is in v4.1 v5.0 v5.1 v6.0',
    ],
    [
      { BENCHMARK: 'llama2-70b', ROUNDS: 'v5.1', SCENARIOS: 'Offline' },
      'v5.1 wants of llama2-70b-99: Offline, Interactive or Server; SCENARIOS is "Offline"',
    ],
    [
      { BENCHMARK: '3d-unet', ROUNDS: 'v5.0', SCENARIOS: 'Server Offline' },
      'v5.0 wants of 3d-unet-99: Offline; SCENARIOS is "Server Offline"',
    ],
  ])('refuses before all runs what no tree can be built of: %o', (variables, problem) => {
    const { status, stderr, calls } = start(variables);
    expect(stderr).toBe(`${SCRIPT}: ${problem}\n`);
    expect({ status, calls }).toEqual({ status: 2, calls: [] });
  });

  it('leaves a round out that nobody asked for, and ends where none is left', () => {
    const { stderr, calls } = start({ BENCHMARK: 'bert' });
    expect(stderr).toContain(
      'note: v5.0 has no bert-99 in the Network division; it is in v4.1: v5.0 is left out\n',
    );
    expect(calls).toHaveLength(1);
    expect(calls[0]).toContain('--round v4.1');
    const none = start({ BENCHMARK: 'llama2-70b', SCENARIOS: 'Interactive Offline' });
    expect(none.stderr).toContain('no round is left: say ROUNDS\n');
    expect(none).toMatchObject({ status: 2, calls: [] });
  });

  it('measures Interactive under the name that has its bounds', () => {
    const variables = { BENCHMARK: 'llama2-70b', ROUNDS: 'v5.1', SCENARIOS: 'Interactive Offline' };
    const [first] = start(variables).calls;
    expect(first).toContain('--benchmark llama2-70b-interactive --round v5.1 --scenario Server');
  });

  it.each([
    [{ DATA_COUNT: '200' }, 'the same accuracy each time: leave DATA_COUNT out'],
    [{}, 'the same accuracy each time: another MODEL or DATA_DIR has another'],
  ])('ends at a missed accuracy with what helps: %o', (variables, advice) => {
    const { status, stderr } = start({ ACCURACY_RUN: 'quality', ...variables });
    expect(stderr).toContain(advice);
    expect(stderr).not.toContain('start the script again');
    expect(status).toBe(3);
  });

  it.each(['1', '2'])('goes on after a failed test in a dry run alone: %s attempts', (attempts) => {
    const valid = { ACCURACY_RUN: 'valid', PERFORMANCE_RUN: 'valid', TEST_ATTEMPTS: attempts };
    expect(start(valid, '--dry-run-lengths').stderr).toContain(
      'Offline/TEST04-report failed; a dry run goes on\n',
    );
    const { status, stderr, calls } = start(valid);
    expect(stderr).toMatch(/TEST01-report ended .*again \(and remove \S*\/Server\/performance if/);
    expect({ status, count: calls.length }).toEqual({ status: 3, count: 2 + Number(attempts) });
  });

  it('goes on after a missed accuracy in a dry run', () => {
    const { status, stderr, calls } = start({ ACCURACY_RUN: 'quality' }, '--dry-run-lengths');
    expect(stderr).toContain("Server/accuracy misses the accuracy's target; a dry run goes on\n");
    expect(calls).toHaveLength(2);
    expect(stderr).toMatch(/Server\/performance ended with exit code 3; start the script again/);
    expect(status).toBe(3);
  });
});
