import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { repositoryFile } from '../../scenes/host/repository.ts';
import { HAS_OPENSSL } from '../../scenes/sut-node/certificates.ts';

// Goal: deploy/certificates/make-certificates.sh makes what mutual TLS and a token need, for their
// owner alone, and takes nothing that would fail later. Method: the script itself, by sh; what it
// wrote is read by Node.

const SCRIPT = repositoryFile('deploy/certificates/make-certificates.sh');
const FILES = ['ca.crt', 'tls.crt', 'tls.key', 'token'];
const IS_ROOT = process.getuid?.() === 0;

function make(folder: string, ...args: string[]): { code: number | null; said: string } {
  const { status, stderr, stdout } = spawnSync('sh', [SCRIPT, folder, ...args], {
    encoding: 'utf8',
  });
  return { code: status, said: stderr === '' ? stdout : stderr };
}

describe.skipIf(!HAS_OPENSSL)('make-certificates.sh (openssl)', () => {
  const root = suiteFolder();
  const folder = join(root, 'tls');
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const certificate = (name: string): X509Certificate =>
    new X509Certificate(read(`${name}/tls.crt`));
  const authority = (): X509Certificate => new X509Certificate(read('authority/ca.crt'));

  beforeAll(() => {
    const nodes = ['--sut', 'sut-a=sut-a.lab,10.0.0.2,::1', '--sut', 'sut-b=*.lab.org'];
    expect(make(folder, ...nodes, '--days', '30')).toMatchObject({ code: 0 });
  });

  it('signs a certificate for each node and for LoadGen, each with its use and its names', () => {
    for (const name of ['sut-a', 'sut-b', 'loadgen']) {
      const one = certificate(name);
      expect(one.checkIssued(authority()) && one.verify(authority().publicKey)).toBe(true);
      expect(one.checkPrivateKey(createPrivateKey(read(`${name}/tls.key`)))).toBe(true);
      expect(one.ca).toBe(false);
      expect(read(`${name}/ca.crt`)).toBe(read('authority/ca.crt'));
    }
    expect(certificate('sut-a').keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate('loadgen').keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(certificate('sut-a').checkHost('sut-a.lab')).toBe('sut-a.lab');
    expect(certificate('sut-a').checkIP('10.0.0.2')).toBe('10.0.0.2');
    expect(certificate('sut-b').checkHost('any.lab.org')).toBe('*.lab.org');
    expect(certificate('sut-b').checkHost('sut-a.else')).toBeUndefined();
  });

  it('leaves keys and tokens to their owner alone, and nothing else behind', () => {
    expect(readdirSync(folder).sort()).toEqual(['authority', 'loadgen', 'sut-a', 'sut-b']);
    for (const name of ['loadgen', 'sut-a', 'sut-b']) {
      expect(readdirSync(join(folder, name)).sort()).toEqual(FILES);
      for (const file of FILES) expect(statSync(join(folder, name, file)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(join(folder, 'authority/ca.key')).mode & 0o777).toBe(0o600);
    expect(read('sut-a/token')).toMatch(/^[0-9a-f]{64}\n$/);
    expect(read('loadgen/token')).toBe(read('sut-a/token'));
  });

  it('rotates: new certificates of the same authority, a new token only where one is requested', () => {
    const before = [
      authority().fingerprint256,
      certificate('sut-a').serialNumber,
      read('sut-a/token'),
    ];
    make(folder, '--sut', 'sut-a=10.0.0.2', '--days', '30');
    const after = [
      authority().fingerprint256,
      certificate('sut-a').serialNumber,
      read('sut-a/token'),
    ];
    expect(after.map((value, i) => value === before[i])).toEqual([true, false, true]);
    make(folder, '--sut', 'sut-a=10.0.0.2', '--new-token');
    expect(read('sut-a/token')).not.toBe(before[2]);
    expect(read('loadgen/token')).toBe(read('sut-a/token'));
  });

  it.each([
    ['no node', [], 2, /no node: --sut NAME=HOST/],
    ['a node without a host', ['--sut', 'sut-a'], 2, /written NAME=HOST/],
    ['half an IPv4 address', ['--sut', 'a=10.0.0'], 2, /"10\.0\.0" is no IPv4 address/],
    ['a port', ['--sut', 'a=10.0.0.2:50051'], 2, /is a host with a port/],
    ['a star that no client takes', ['--sut', 'a=*.lab'], 2, /too wide for TLS clients/],
    ['a name that leaves the folder', ['--sut', '../a=h'], 2, /is no name for a certificate/],
    ["the authority's name", ['--sut', 'authority=h'], 2, /"authority" is taken/],
    ['two nodes of one name', ['--sut', 'a=h', '--sut', 'a=i'], 2, /"a" is named twice/],
    ["a node of LoadGen's name", ['--sut', 'loadgen=h'], 2, /"loadgen" is named twice/],
    ['no days', ['--sut', 'a=h', '--days', '0'], 2, /--days 0: a whole number/],
    ['an owner by name', ['--sut', 'a=h', '--owner', 'me:me'], 2, /--owner me:me: numbers/],
    ['an unknown flag', ['--sut', 'a=h', '--sutt'], 2, /"--sutt" is no flag/],
  ])('refuses %s, before it writes anything', (_what, args, code, said) => {
    const nothing = join(root, 'nothing');
    const result = make(nothing, ...args);
    expect(result.said).toMatch(said);
    expect(result.code).toBe(code);
    expect(existsSync(nothing)).toBe(false);
  });

  it('says that the authority does not last, in place of certificates that outlive it', () => {
    const result = make(folder, '--sut', 'a=h', '--days', '9999');
    expect(result).toMatchObject({
      code: 6,
      said: expect.stringContaining('does not last for 9999 days'),
    });
  });

  it('is one at a time', () => {
    const busy = join(root, 'busy');
    mkdirSync(join(busy, '.new'), { recursive: true });
    expect(make(busy, '--sut', 'a=h')).toMatchObject({
      code: 6,
      said: expect.stringContaining('another make-certificates.sh is at work'),
    });
    expect(readdirSync(busy)).toEqual(['.new']);
  });

  it('makes a token again where an empty one was left', () => {
    writeFileSync(join(folder, 'authority/token'), '');
    make(folder, '--sut', 'sut-a=10.0.0.2');
    expect(read('sut-a/token')).toMatch(/^[0-9a-f]{64}\n$/);
  });

  it.skipIf(!IS_ROOT)(
    'gives the files to another owner, who can read them, the authority not (root)',
    () => {
      const given = join(root, 'given');
      expect(make(given, '--sut', 'sut-a=h', '--owner', '65532:65532').code).toBe(0);
      const owners = (name: string): number[] =>
        readdirSync(join(given, name)).map((file) => statSync(join(given, name, file)).uid);
      expect(owners('sut-a')).toEqual([65532, 65532, 65532, 65532]);
      expect(owners('authority')).toEqual([0, 0, 0]);
      const user = { uid: 65532, gid: 65532, cwd: join(given, 'sut-a'), encoding: 'utf8' } as const;
      expect(execFileSync('cat', ['tls.key'], user)).toContain('PRIVATE KEY');
      rmSync(given, { recursive: true });
    },
  );
});
