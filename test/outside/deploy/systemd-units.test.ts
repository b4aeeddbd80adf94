import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NODE_FLAGS } from '../../../shared/base/process/node-flags.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { programPath, systemdFile, unitValues } from '../../scenes/host/repository.ts';

// Goal: systemd knows every word of the units, they are hardened, and take all that their examples
// say; systemd.test.ts starts them. Method: systemd's own checker, of which stderr counts (its exit
// code is 0 for an unknown word); files planted wrong are found.

const why = programPath('systemd-analyze') === undefined ? 'needs systemd-analyze' : undefined;
const UNITS = ['longhaul-sut@.service', 'longhaul-loadgen@.service'] as const;

/**
 * The most that `systemd-analyze security` may find, in tenths of its figure: 10 is nothing, 100 is
 * everything.
 */
const EXPOSURE_MAX = 20;

/** Checks a unit with its drop-ins, with this Node.js in place of the installed one. */
function verify(name: string, unit: string, dropIns: readonly string[] = []) {
  const folder = tempFolder();
  const here = (text: string): string =>
    text
      .replaceAll('/opt/longhaul/lib/longhaul/node', process.execPath)
      .replace(/^Documentation=.*$/m, '');
  const path = join(folder, name.replace('@', '@x'));
  writeFileSync(path, here(unit));
  mkdirSync(`${path}.d`);
  for (const [i, text] of dropIns.entries())
    writeFileSync(join(`${path}.d`, `${i}.conf`), here(text));
  const run = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  return { path, verified: run('verify', '--man=no', path), run };
}

const DROP_INS: Readonly<Record<(typeof UNITS)[number], readonly string[]>> = {
  'longhaul-sut@.service': ['cpus', 'gpu', 'sut-without-tls'],
  'longhaul-loadgen@.service': ['cpus', 'loadgen-without-tls'],
};

describe.skipIf(why !== undefined)(`units${why === undefined ? '' : ` (${why})`}`, () => {
  it.each(UNITS)('%s has no word that systemd does not know', (name) => {
    const { verified } = verify(name, systemdFile(name));
    expect(verified.stderr).toBe('');
    expect(verified.status).toBe(0);
  });

  it.each(UNITS)('%s is the same with each of its drop-ins', (name) => {
    const texts = DROP_INS[name].map((one) => systemdFile(`drop-ins/${one}.conf`));
    expect(verify(name, systemdFile(name), texts).verified.stderr).toBe('');
  });

  it.each<[string, string, RegExp]>([
    ['a directive that there is not', 'ProtectKernelTunable=yes', /ProtectKernelTunable/],
    ['a value that there is not', 'KillMode=some', /kill mode/],
    ['a group of system calls that there is not', 'SystemCallFilter=@no-such', /@no-such/],
  ])('%s would be found', (_case, line, text) => {
    const name = UNITS[0];
    const { verified } = verify(name, systemdFile(name).replace('[Service]', `[Service]\n${line}`));
    expect(verified.stderr).toMatch(text);
  });

  it.each(UNITS)('%s is hardened', (name) => {
    const { path, run } = verify(name, systemdFile(name));
    const limit = `--threshold=${EXPOSURE_MAX}`;
    const found = run('security', '--offline=true', '--no-pager', limit, path);
    expect(found.stderr).toBe('');
    expect(found.status, found.stdout).toBe(0);
    const bare = verify(name, '[Service]\nExecStart=/opt/longhaul/lib/longhaul/node\n');
    expect(bare.run('security', '--offline=true', '--no-pager', limit, bare.path).status).not.toBe(
      0,
    );
  });
});

describe('the units', () => {
  it('wait longer than the drain, and do not start again what a setting or a model forbids', () => {
    const unit = systemdFile('longhaul-sut@.service');
    const [drain] = /--drain-timeout (\d+)s/.exec(unit)?.slice(1).map(Number) ?? [];
    const [stop] = unitValues(unit, 'TimeoutStopSec').map((text) => Number(text.replace('s', '')));
    // 30 s more in which a worker that hangs is named: docs/operate.md.
    expect(stop).toBeGreaterThan((drain ?? Number.NaN) + 30);
    expect(unitValues(unit, 'RestartPreventExitStatus')).toEqual(['2 5']);
    expect(unitValues(unit, 'MemoryDenyWriteExecute')).toEqual([]);
  });

  it('keep the same hardening', () => {
    const hardening = (name: string): string[] =>
      systemdFile(name)
        .slice(systemdFile(name).indexOf('NoNewPrivileges='))
        .split('\n')
        .filter((line) => /^\w+=/.test(line) && !line.startsWith('WantedBy='));
    expect(hardening(UNITS[1])).toEqual(hardening(UNITS[0]));
  });

  it.each([
    ['sut.env', 'longhaul-sut@.service', 'sut-without-tls'],
    ['loadgen.env', 'longhaul-loadgen@.service', 'loadgen-without-tls'],
  ])('use every variable of %s, also those of lines that are commented out', (file, ...names) => {
    const variables = systemdFile(file).match(/^#?[A-Z_]+(?==)/gm) ?? [];
    expect(variables).toContain('#NODE_FLAGS');
    for (const text of [systemdFile(names[0]), systemdFile(`drop-ins/${names[1]}.conf`)]) {
      const command = unitValues(text, 'ExecStart').join(' ');
      const flags = NODE_FLAGS.join(' ');
      expect(command).toContain(
        `/lib/longhaul/node ${flags} $NODE_FLAGS /opt/longhaul/bin/longhaul`,
      );
      for (const variable of variables)
        expect(command).toMatch(new RegExp(`\\$\\{?${variable.replace('#', '')}\\b`));
    }
  });
});
