import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderDigit } from '../../../shared/benchmarks/digits/draw-digit.ts';
import { readTree, tempFolder, testCacheFolder, writeTree } from '../../scenes/host/folders.ts';
import { longhaulHere as longhaul } from '../../scenes/host/processes.ts';
import { accuracyLogOf } from '../../scenes/submission-tree/submission-tree.ts';
import { canRun } from '../../scenes/sut-node/certificates.ts';

const HAS_AGE = canRun('age', ['--version']);
const HAS_OPENSSL_AND_TAR = canRun('openssl', ['version']) && canRun('tar', ['--version']);

// Goal: who has no longhaul can check and open what is handed in. Method: the compiled command
// line, then the standard tools.

/**
 * A data set of four images of the classes 1 to 4, a log of three right answers and one wrong one.
 */
function scene() {
  const classes = [1, 2, 3, 4];
  const files = Object.fromEntries(classes.map((label) => [`v${label}.JPEG`, 'an image']));
  const list = classes.map((label) => `v${label}.JPEG ${label}\n`).join('');
  const dataSet = writeTree({ ...files, 'val_map.txt': list });
  const answer = (label: number): string => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(label === 4 ? 7 : label));
    return bytes.toString('hex');
  };
  const entries = classes.map((label, i) => ({ seq_id: i, qsl_idx: i, data: answer(label) }));
  const score = (log: unknown, ...flags: string[]) => {
    const path = join(tempFolder(), 'mlperf_log_accuracy.json');
    writeFileSync(path, JSON.stringify(log));
    const args = ['accuracy', path, '--benchmark', 'resnet50', '--data-dir', dataSet, ...flags];
    return longhaul(args);
  };
  return { entries, score };
}

describe('longhaul accuracy', () => {
  it("prints the official script's line of another harness's log, and writes it to a file", async () => {
    const { entries, score } = scene();
    const whole = await score(entries);
    expect(whole.stdout).toMatch(/^accuracy=75\.000%, good=3, total=4\n/);
    expect(whole.code).toBe(3);
    expect(whole.stderr).toContain('top-1 75.000 % (3 of 4), target 75.695 %');
    const output = join(tempFolder(), 'accuracy.txt');
    const part = await score(entries.slice(0, 2), '--partial', '--output', output);
    expect([part.code, part.stdout]).toEqual([0, '']);
    expect(readFileSync(output, 'utf8')).toMatch(/^accuracy=100\.000%, good=2, total=2\n/);
  });

  it('states no accuracy of a part of the data set, unless it is asked to', async () => {
    const { entries, score } = scene();
    const { code, stdout, stderr } = await score(entries.slice(0, 2));
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('responses to 2 of the 4 samples');
  });
});

describe('longhaul accuracy of images that longhaul draws', () => {
  it('scores a log over the images of another seed', async () => {
    const set = { seed: 77, sampleCount: 60 };
    const entries = Array.from({ length: set.sampleCount }, (_, i) => ({
      ...{ seq_id: i, qsl_idx: i },
      data: Buffer.from(new Int32Array([renderDigit(set, i).label]).buffer).toString('hex'),
    }));
    const path = join(tempFolder(), 'mlperf_log_accuracy.json');
    writeFileSync(path, JSON.stringify(entries));
    const flags = ['--benchmark', 'digits', '--cache-dir', testCacheFolder()];
    const other = ['--data-seed', String(set.seed), '--data-count', String(set.sampleCount)];
    const right = await longhaul(['accuracy', path, ...flags, ...other]);
    expect(right.code).toBe(0);
    expect(right.stdout).toMatch(
      /^accuracy=100\.000%, good=60, total=60\nnote: .* an example .*\nnote: .*60 samples of seed 77/,
    );
    const unsaid = await longhaul(['accuracy', path, ...flags]);
    expect(unsaid.code).toBe(3);
    expect(unsaid.stderr).toContain('--data-seed, --data-count');
  });
});

const ACCURACY = 'network/ACME/results/sys/resnet50/Offline/accuracy';
const FILES = {
  'closed/ACME/systems/sys.json': '{}\n',
  [`${ACCURACY}/mlperf_log_accuracy.json`]: accuracyLogOf(20_000),
  [`${ACCURACY}/accuracy.txt`]: 'accuracy=76.460%, good=38230, total=50000\n',
};

describe.skipIf(!HAS_OPENSSL_AND_TAR)('a tree for the upload (needs openssl and tar)', () => {
  it('is truncated, packed, encrypted, and whole where the standard tools unpack it', async () => {
    const folder = writeTree({});
    const at = (name: string): string => join(folder, name);
    const tree = writeTree(FILES, at('tree'));
    const truncate = ['submission', 'truncate', tree, '--backup', at('originals')];
    expect((await longhaul(truncate)).stdout).toContain('1 cut, 0 left whole');
    execFileSync('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { cwd: at('originals') });
    const key = ['--encryption', 'openssl', '--new-key-file', at('acme.key')];
    const pack = ['submission', 'pack', tree, '--unchecked', '--output', at('acme.tar.gz')];
    const packed = await longhaul([...pack, ...key]);
    expect([packed.code, packed.stderr]).toEqual([0, `packing ${tree}\n`]);
    expect(packed.stdout).not.toContain(readFileSync(at('acme.key'), 'utf8').trim());
    execFileSync('sha256sum', ['-c', '--quiet', 'acme.tar.gz.sha256'], { cwd: folder });
    mkdirSync(at('unpacked'));
    const unpack =
      'openssl enc -d -aes256 -pass file:acme.key -in acme.tar.gz | tar -xz -C unpacked';
    execFileSync('sh', ['-c', unpack], { cwd: folder, stdio: ['ignore', 'ignore', 'ignore'] });
    const list = ['-c', '--quiet', at('acme.tar.gz.SHA256SUMS')];
    execFileSync('sha256sum', list, { cwd: at('unpacked') });
    expect(readTree(at('unpacked'))).toEqual(readTree(tree));
    expect((await longhaul([...truncate, '--restore'])).code).toBe(0);
    expect(readTree(tree)).toEqual(FILES);
  });

  it('is not truncated where a log is damaged', async () => {
    const tree = writeTree({ ...FILES, [`${ACCURACY}/mlperf_log_accuracy.json`]: '[\n' });
    const truncate = ['submission', 'truncate', tree, '--backup', `${tree}-originals`];
    const { code, stderr } = await longhaul(truncate);
    expect(code).toBe(3);
    expect(stderr).toMatch(/is damaged at line 1 .*\nNo log was changed\.\n$/);
  });
});

describe.skipIf(!HAS_AGE)('a tarball in the age format (needs age)', () => {
  it('is opened by age with the key file', async () => {
    const folder = tempFolder();
    const tree = writeTree(FILES, join(folder, 'tree'));
    const key = ['--new-key-file', join(folder, 'acme.key')];
    const pack = ['submission', 'pack', tree, '--unchecked', '--output', join(folder, 'acme.age')];
    await longhaul([...pack, ...key]);
    mkdirSync(join(folder, 'unpacked'));
    const unpack = 'age --decrypt -i acme.key acme.age | tar -xz -C unpacked';
    execFileSync('sh', ['-c', unpack], { cwd: folder });
    expect(readTree(join(folder, 'unpacked'))).toEqual(FILES);
  });
});
