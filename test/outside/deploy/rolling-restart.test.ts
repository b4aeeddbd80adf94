import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../scenes/host/folders.ts';

// Goal: the script restarts node by node, and stops where something is wrong. Method: a program in
// place of longhaul that knows which process of a node answers, from files that the restart command
// changes. The real ones: test/outside/deploy/drills.test.ts.

const SCRIPT = fileURLToPath(new URL('../../../deploy/rolling-restart.sh', import.meta.url));
const NODES = ['a=10.0.0.2:50051', 'b=[::1]:50052'];

/** Says what longhaul says, and writes down what it was asked. */
const FAKE = `
cd "$(dirname "$0")"
echo "$*" >>calls
case $2 in
  health) cat state; [ "$(cat state)" = SERVING ] ;;
  name)
    case $* in
      *--json*) [ -z "$(cat identity)" ] || printf '      "identity": "%s",\\n' "$(cat identity)" ;;
      *) [ -z "$(cat name)" ] || printf 'SUT           Network SUT: %s   (Name took 1 ms)\\n' "$(cat name)" ;;
    esac ;;
esac
`;

interface World {
  readonly state?: string;
  readonly name?: string;
  /** Of the process that answers before; empty: Name gives none. */
  readonly identity?: string;
  /** Command that restarts a node. */
  readonly restart?: string;
}

function run(world: World, args: readonly string[] = NODES) {
  const folder = tempFolder();
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  const { state = 'SERVING', name = 'a, b', identity = 'first' } = world;
  const { restart = 'date +%s%N >identity' } = world;
  for (const [file, text] of Object.entries({ state, name, identity, calls: '' }))
    write(file, text);
  write('longhaul', FAKE);
  const command = `cd ${folder}; echo restart {node} at {host} >>calls; ${restart}`;
  const flags = ['--restart', command, '--longhaul', `sh ${join(folder, 'longhaul')}`];
  const { status, stdout, stderr } = spawnSync('sh', [SCRIPT, ...flags, ...args], {
    encoding: 'utf8',
  });
  return {
    code: status,
    stdout,
    stderr,
    calls: readFileSync(join(folder, 'calls'), 'utf8').split('\n'),
  };
}

describe('deploy/rolling-restart.sh', () => {
  it('restarts one after the other, each with its name and host, and passes flags on', () => {
    const flags = ['--wait', '5s', '--', '--tls-ca', 'my ca.crt'];
    const { code, stderr, calls } = run({}, [...NODES, ...flags]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(calls.filter((call) => !call.startsWith('probe name --json'))).toEqual([
      'probe name --sut 10.0.0.2:50051,[::1]:50052 --tls-ca my ca.crt',
      'restart a at 10.0.0.2',
      'probe health 10.0.0.2:50051 --wait 5s --tls-ca my ca.crt',
      'restart b at ::1',
      'probe health [::1]:50052 --wait 5s --tls-ca my ca.crt',
      'probe name --sut 10.0.0.2:50051,[::1]:50052 --tls-ca my ca.crt',
      '',
    ]);
  });

  it.each<[string, World, number, string, number?]>([
    [
      'the SUT is not whole',
      { name: '' },
      4,
      'does not give its name: mend it first; nothing was restarted',
      0,
    ],
    [
      'a process does not say which it is',
      { identity: '' },
      4,
      '10.0.0.2:50051 gives no identity in its Name; a was not restarted, nor were the nodes behind it',
      0,
    ],
    [
      'a process does not say any more which it is',
      { restart: ': >identity' },
      4,
      '10.0.0.2:50051 gives no identity in its Name now: whether a was restarted is not known',
    ],
    ['a restart fails', { restart: 'exit 7' }, 7, 'failed; the nodes behind it are as they were'],
    [
      'a node does not serve',
      { restart: 'echo NOT_SERVING >state' },
      1,
      'a does not serve; the nodes behind it',
    ],
    [
      'nothing was restarted',
      { restart: 'true' },
      4,
      'a was not restarted: the process at 10.0.0.2:50051 is the one of before',
    ],
    [
      'a node has another name',
      { restart: 'date +%s%N >identity; echo x >name' },
      4,
      'another name now: "Network SUT: x"',
      2,
    ],
  ])('stops where %s', (_case, world, code, why, count = 1) => {
    const ended = run(world);
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(why) });
    const restarts = ended.calls.filter((call) => call.startsWith('restart'));
    expect(restarts).toHaveLength(count);
  });

  it.each([
    [[], 'no node: NODE=HOST:PORT is needed at least once'],
    [['a'], '"a" is no node: it is written NODE=HOST:PORT'],
    [['a=b;c:1'], '"a=b;c:1" is no node'],
    [['--tls-ca', 'x'], '"--tls-ca" is no flag of this script; flags for longhaul come behind --'],
    [['--wait'], '--wait needs a value'],
  ])('says what is wrong with %j', (args, why) => {
    const { code, stderr } = run({}, args);
    expect(code).toBe(2);
    expect(stderr).toContain(`rolling-restart.sh: ${why}`);
  });
});
