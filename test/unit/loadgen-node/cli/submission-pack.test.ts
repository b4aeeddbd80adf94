import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { packVerb } from '../../../../loadgen-node/cli/submission-pack.ts';
import type { Severity } from '../../../../loadgen-node/submission/check/rules/rule.ts';
import { tempFolder, writeTree } from '../../../scenes/host/folders.ts';
import { verbHere } from '../../../scenes/host/processes.ts';

// Goal: nothing is packed that the check refuses, unless it is said. Method: the verb with a check
// that finds one thing.

const PLAIN = ['--encryption', 'none'];

async function pack(severity: Severity | readonly Severity[], ...said: string[]) {
  const flags = said.length === 0 || said[0] === '--unchecked' ? [...said, ...PLAIN] : said;
  const tree = writeTree({ 'closed/ACME/systems/a.json': '{}' });
  const output = join(tempFolder(), 'acme.tar.gz');
  const asked: unknown[] = [];
  const check = async (...args: unknown[]) => {
    asked.push(args);
    const found = { id: 'odd', file: 'closed', seen: 'It is odd.' };
    return { findings: [severity].flat().map((one) => ({ ...found, severity: one })) };
  };
  const ended = await verbHere(packVerb(check), tree, '--output', output, ...flags);
  return { ...ended, asked: asked.length, isThere: existsSync(output) };
}

describe('longhaul submission pack', () => {
  it('packs nothing where the check finds an error', async () => {
    const { code, isThere, stdout, stderr } = await pack('error');
    expect({ code, isThere, stdout }).toEqual({ code: 3, isThere: false, stdout: '' });
    expect(stderr).toContain(
      'error: closed: It is odd. (odd)\nNot packed: the check found 1 error (',
    );
  });

  it('tells errors from the marks beside them', async () => {
    const { stderr } = await pack(['mark', 'error', 'error', 'mark', 'note']);
    const line = (severity: string): string => `${severity}: closed: It is odd. (odd)\n`;
    expect(stderr).toContain(
      `${line('error').repeat(2)}${line('mark').repeat(2)}Not packed: the check found 2 errors, and 2 marks beside them (`,
    );
  });

  it('tells a mark and packs', async () => {
    const { code, isThere, stdout, stderr } = await pack('mark');
    expect({ code, isThere }).toEqual({ code: 0, isThere: true });
    expect(stderr).toContain('mark: closed: It is odd. (odd)\n');
    expect(stdout).not.toContain('NOT checked');
    expect(stdout).toContain('NOT encrypted');
  });

  it('refuses a path that is taken before it reads the tree', async () => {
    const asked = vi.fn();
    const taken = join(tempFolder(), 'acme.tar.gz');
    writeFileSync(taken, '');
    const tree = writeTree({ 'closed/ACME/systems/a.json': '{}' });
    const parsing = verbHere(packVerb(asked), tree, '--output', taken, ...PLAIN);
    await expect(parsing).rejects.toThrow('is there already');
    expect(asked).not.toHaveBeenCalled();
  });

  it('is silent on warnings', async () => {
    expect((await pack('warning')).stderr).not.toContain('odd');
  });

  it('asks for no check with --unchecked, and says so', async () => {
    const { asked, isThere, stdout } = await pack('error', '--unchecked');
    expect({ asked, isThere }).toEqual({ asked: 0, isThere: true });
    expect(stdout).toContain('NOT checked');
  });

  it.each([
    [
      ['--key-file', 'a', '--new-key-file', 'b'],
      'only one of --key-file, --new-key-file and --recipient',
    ],
    [['--recipient', 'age1x', '--encryption', 'openssl'], 'openssl knows no public keys'],
    [
      ['--encryption', 'age'],
      'name --new-key-file, --key-file or --recipient, or say --encryption none',
    ],
    [['--encryption', 'openssl'], 'name --new-key-file or --key-file, or say --encryption none'],
    [['--encryption', 'none', '--output', 'a.tar.gz.age'], 'not be in the form of age'],
    [['--new-key-file', 'b', '--encryption', 'none'], '--encryption none takes no key'],
  ])('refuses flags that cannot be together: %s', async (flags, message) => {
    await expect(pack('note', ...flags)).rejects.toThrow(message);
  });
});
