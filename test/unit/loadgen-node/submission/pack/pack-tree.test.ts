import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Decrypter } from 'age-encryption';
import { extract } from 'tar';
import { describe, expect, it } from 'vitest';
import {
  ageEncryption,
  type EncryptionName,
  encryptionOfKeyFile,
  isReadByOthers,
  makeKeyFile,
} from '../../../../../loadgen-node/submission/pack/encryption.ts';
import { packTree } from '../../../../../loadgen-node/submission/pack/pack-tree.ts';
import { readTree, tempFolder, writeTree } from '../../../../scenes/host/folders.ts';

// Goal: the tarball has every division and nothing else, is the same for the same tree, and opens
// with its key alone. Method: small trees; what comes out is unpacked again.
const FILES = {
  'README.md': 'read me\n',
  'closed/ACME/systems/a.json': '{}\n',
  'network/ACME/systems/a.json': '{"is_network": "True"}\n',
  'open/ACME/code/run.sh': '#!/bin/sh\n',
  [`network/ACME/documentation/${'evidence/'.repeat(20)}${'long'.repeat(30)}.yaml`]: 'long path\n',
};

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const NONE = async (): Promise<undefined> => undefined;

function treeOf(files: Readonly<Record<string, string>> = FILES): string {
  return writeTree(files);
}

async function pack(tree: string, encryption: Parameters<typeof packTree>[0]['encryption'] = NONE) {
  const output = join(tempFolder(), 'acme.tar.gz');
  const packed = await packTree({ tree, output, encryption });
  return { packed, output, bytes: readFileSync(output) };
}

async function unpack(tarball: Buffer): Promise<Record<string, string>> {
  const folder = tempFolder();
  writeFileSync(join(folder, 't.tar.gz'), tarball);
  const cwd = join(folder, 'tree');
  mkdirSync(cwd);
  await extract({ file: join(folder, 't.tar.gz'), cwd, strict: true });
  return readTree(cwd);
}

describe('packTree', () => {
  it('packs every division and the texts beside them', async () => {
    const { bytes, packed } = await pack(treeOf());
    expect(await unpack(bytes)).toEqual(FILES);
    expect(packed).toMatchObject({ fileCount: 5, bytes: bytes.length, sha256: sha256(bytes) });
  });

  it('writes checksums of the tarball and of what is in it, as sha256sum reads them', async () => {
    const { output, packed } = await pack(treeOf());
    expect(readFileSync(`${output}.sha256`, 'utf8')).toBe(`${packed.sha256}  acme.tar.gz\n`);
    expect(readFileSync(`${output}.sha1`, 'utf8')).toBe(`${packed.sha1}  acme.tar.gz\n`);
    const lines = Object.entries(FILES).map(([path, text]) => `${sha256(text)}  ${path}\n`);
    const list = readFileSync(`${output}.SHA256SUMS`, 'utf8');
    expect(list.split('\n').sort()).toEqual(lines.join('').split('\n').sort());
    expect(readdirSync(join(output, '..'))).toHaveLength(4);
  });

  it('gives the same bytes for the same tree, whatever its times, rights and links', async () => {
    const first = treeOf();
    const second = treeOf(Object.fromEntries(Object.entries(FILES).reverse()));
    utimesSync(join(second, 'README.md'), 1, 1);
    chmodSync(join(second, 'README.md'), 0o600);
    linkSync(join(second, 'README.md'), join(tempFolder(), 'second-name'));
    expect((await pack(first)).packed.sha256).toBe((await pack(second)).packed.sha256);
  });

  const refused: [string, (tree: string) => void, RegExp][] = [
    [
      'a link',
      (tree) => symlinkSync('README.md', join(tree, 'closed/link')),
      /closed\/link is a link/,
    ],
    [
      'a folder beside the divisions',
      (tree) => writeTree({ 'originals/x': '' }, tree),
      /originals\/ is no division/,
    ],
    [
      'a file beside the divisions',
      (tree) => writeTree({ 'acme.key': '' }, tree),
      /acme.key is no .md or .pdf/,
    ],
    [
      'the originals of truncated logs',
      (tree) => writeTree({ 'closed/ACME/kept/1/closed/a/mlperf_log_accuracy.json': '' }, tree),
      /is the original of a truncated log/,
    ],
    [
      'what an interrupted command left',
      (tree) => writeTree({ 'open/accuracy.txt.unfinished': '' }, tree),
      /interrupted command/,
    ],
    [
      'forty faults',
      (tree) =>
        writeTree(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`x${i}`, ''])), tree),
      /; and 20 more$/,
    ],
  ];
  it.each(refused)('refuses a tree with %s', async (_case, spoil, message) => {
    const tree = treeOf();
    spoil(tree);
    await expect(pack(tree)).rejects.toThrow(message);
  });

  it('refuses what is no tree', async () => {
    await expect(pack(treeOf({ 'README.md': 'x' }))).rejects.toThrow('no submission tree');
    await expect(pack(join(tempFolder(), 'nothing'))).rejects.toThrow('cannot read');
  });

  it('writes over nothing, and nothing into the tree', async () => {
    const tree = treeOf();
    const { output } = await pack(tree);
    await expect(packTree({ tree, output, encryption: NONE })).rejects.toThrow('is there already');
    const within = join(tree, 'closed', 'acme.tar.gz');
    await expect(packTree({ tree, output: within, encryption: NONE })).rejects.toThrow(
      'must not lie in the tree',
    );
    const keyFile = join(tree, 'key.md');
    const other = join(tempFolder(), 'x');
    await expect(packTree({ tree, output: other, encryption: NONE, keyFile })).rejects.toThrow(
      'the key file',
    );
    await expect(
      packTree({ tree, output: other, encryption: NONE, keyFile: other }),
    ).rejects.toThrow('cannot be the key file');
    expect(readTree(tree)).toEqual(FILES);
  });

  it('leaves nothing behind when it fails', async () => {
    const output = join(tempFolder(), 'acme.tar.gz');
    const failing = () =>
      Promise.resolve(async function* () {
        yield Buffer.from('begin');
        throw new Error('no more');
      });
    await expect(packTree({ tree: treeOf(), output, encryption: failing })).rejects.toThrow(
      'no more',
    );
    expect(readdirSync(join(output, '..'))).toEqual([]);
  });
});

describe('encryption', () => {
  const keyed = async (name: EncryptionName) => {
    const key = join(tempFolder(), 'key');
    await makeKeyFile(key, name);
    return { key, made: await pack(treeOf(), () => encryptionOfKeyFile(key, name)) };
  };

  it('to a key file of age is opened by it alone', async () => {
    const { key, made } = await keyed('age');
    const other = (await keyed('age')).key;
    const decrypt = (path: string) => {
      const decrypter = new Decrypter();
      decrypter.addIdentity(readFileSync(path, 'utf8').split('\n')[1] as string);
      return decrypter.decrypt(made.bytes);
    };
    expect(await unpack(Buffer.from(await decrypt(key)))).toEqual(FILES);
    await expect(decrypt(other)).rejects.toThrow('no identity matched');
  });

  it('of age finds a changed byte', async () => {
    const { key, made } = await keyed('age');
    const decrypter = new Decrypter();
    decrypter.addIdentity(readFileSync(key, 'utf8').split('\n')[1] as string);
    made.bytes.writeUInt8(made.bytes.readUInt8(made.bytes.length - 20) ^ 1, made.bytes.length - 20);
    await expect(decrypter.decrypt(made.bytes)).rejects.toThrow();
  });

  it.each(['age', 'openssl'] as const)(
    "makes a key that is the owner's alone, and never another one: %s",
    async (name) => {
      const { key, made } = await keyed(name);
      expect(statSync(key).mode & 0o777).toBe(0o600);
      expect(isReadByOthers(key)).toBe(false);
      chmodSync(key, 0o640);
      expect(isReadByOthers(key)).toBe(true);
      await expect(makeKeyFile(key, name)).rejects.toThrow(/there already.*--key-file/);
      const secret = readFileSync(key, 'utf8').trim().split('\n').at(-1) as string;
      expect(made.bytes.includes(secret)).toBe(false);
      expect(made.bytes.subarray(0, 8).toString()).toBe(name === 'age' ? 'age-encr' : 'Salted__');
    },
  );

  it.each(['age', 'openssl'] as const)('refuses a tree with its key in it: %s', async (name) => {
    const keyFile = join(tempFolder(), 'key');
    await makeKeyFile(keyFile, name);
    const tree = treeOf();
    cpSync(keyFile, join(tree, 'closed/ACME/key.txt'));
    const output = join(tempFolder(), 'acme.tar.gz');
    const packing = { tree, output, encryption: () => encryptionOfKeyFile(keyFile, name), keyFile };
    await expect(packTree(packing)).rejects.toThrow(/keys in it.*: closed\/ACME\/key\.txt/);
  });

  it.each([
    ['age', 'a password', 'is no key file of age'],
    ['age', '# nothing\n', 'is no key file of age'],
    ['openssl', 'hunter2\n', 'is shorter than 20 characters'],
  ] as const)(
    'refuses a wrong key file for %s without showing it: %s',
    async (name, text, message) => {
      const key = join(tempFolder(), 'key');
      writeFileSync(key, text);
      const failure = await encryptionOfKeyFile(key, name).catch((error: Error) => error.message);
      expect(failure).toContain(message);
      expect(failure).not.toContain(text.trim());
    },
  );

  it('refuses what is no public key, and shows no secret one', () => {
    expect(() => ageEncryption(['age1x'])).toThrow('age1x is no public key of age');
    expect(() => ageEncryption(['AGE-SECRET-KEY-1X'])).toThrow(/^this is no public key/);
  });
});
