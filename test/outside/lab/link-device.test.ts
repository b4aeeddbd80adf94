import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../scenes/host/folders.ts';
import { LINK_SCRIPT } from '../network/sut-behind-link.ts';

// Goal: an interface gets netem by the conditions of a cell and has it taken back, and one with a
// discipline of its own stays. Method: a tc of the test's own, which writes down what it is called
// with: a kernel with sch_netem and an interface to spoil are rare.
function link(device: string, kind: string, step: 'set' | 'clear', delayUs = '5000') {
  const folder = tempFolder();
  mkdirSync(folder, { recursive: true });
  const calls = join(folder, 'calls');
  const tc = join(folder, 'tc');
  writeFileSync(
    tc,
    `#!/bin/sh\n[ "$2" = show ] && echo 'qdisc ${kind} 0: root refcnt 2' || echo "$@" >> ${calls}\n`,
  );
  chmodSync(tc, 0o755);
  const env = {
    ...process.env,
    PATH: `${folder}${delimiter}${process.env['PATH']}`,
    ...{ LINK_DEVICE: device, LONGHAUL_LINK: step, LONGHAUL_LINK_DELAY_US: delayUs },
    ...{ LONGHAUL_LINK_RATE_BITS: '100000000', LONGHAUL_LINK_LOSS_PERCENT: '0.5' },
  };
  const seen = { code: 0, stderr: '' };
  try {
    execFileSync(LINK_SCRIPT, { env, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: string };
    Object.assign(seen, { code: status, stderr });
  }
  return { ...seen, calls: existsSync(calls) ? readFileSync(calls, 'utf8').trim() : '' };
}

it.each([
  [
    'eth9',
    'fq_codel',
    'qdisc add dev eth9 root netem limit 1084 delay 10000us loss 0.5% rate 100000000bit',
  ],
  [
    'lo',
    'noqueue',
    'qdisc add dev lo root netem limit 1042 delay 5000us loss 0.5% rate 100000000bit',
  ],
])('puts the delay of the way on %s', (device, kind, call) => {
  expect(link(device, kind, 'set')).toEqual({ code: 0, stderr: '', calls: call });
});

it('takes back what it put there, and nothing else', () => {
  expect(link('eth9', 'netem', 'clear').calls).toBe('qdisc del dev eth9 root');
  expect(link('eth9', 'htb', 'clear')).toEqual({ code: 0, stderr: '', calls: '' });
});

it('leaves an interface with a discipline of its own alone', () => {
  const { code, stderr, calls } = link('eth9', 'htb', 'set');
  expect({ code, calls }).toEqual({ code: 1, calls: '' });
  expect(stderr).toContain('eth9 has a queueing discipline already (htb)');
});
