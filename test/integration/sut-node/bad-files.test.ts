import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, longhaulHere, SutNodeProcess } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { otherModel } from '../../scenes/sut-node/sut-node.ts';

// Goal: a model or a data set that cannot be used is named in one line before anything is measured.
// Method: real nodes, and runs in this process, with files that are missing, damaged, or of another
// kind.

const cache = ['--cache-dir', testCacheFolder()];

/** The lines that are longhaul's error, progress left out. */
function told(stderr: string): string[] {
  expect(stderr).not.toMatch(/\n\s+at /);
  return stderr.split('\n').filter((line) => line.startsWith('longhaul: '));
}

describe('a SUT node with a model', () => {
  const serve = async (model: string) => {
    const verb = ['sut', '--benchmark', 'digits', '--listen', '127.0.0.1:0', '--model', model];
    const { code, stderr } = await longhaul([...verb, ...cache]);
    return { code, lines: told(stderr) };
  };

  it('that is not there says so and exits with 5', async () => {
    const { code, lines } = await serve('/no/such/model.onnx');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\/no\/such\/model\.onnx/);
    expect(code).toBe(5);
  });

  it('that is not ONNX says so', async () => {
    const folder = await smallDataSet(1);
    const path = join(folder, 'labels.txt');
    const { code, lines } = await serve(path);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(path);
    expect(code).toBe(5);
  });

  it('with other inputs says what was expected and what was found', async () => {
    const folder = await smallDataSet(1);
    const path = join(folder, 'other.onnx');
    writeFileSync(path, otherModel());
    const { code, lines } = await serve(path);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/48/);
    expect(lines[0]).toMatch(/pixels/);
    expect(code).toBe(5);
  });
});

describe('a file without an end', () => {
  const run = 'run --sut 127.0.0.1:1 --benchmark digits --target-qps 1';
  it.each([
    'run --config /dev/zero',
    'sut --config /dev/zero',
    `${run} --token-file /dev/zero`,
    `${run} --user-conf /dev/zero`,
    'probe name --sut 127.0.0.1:1 --tls-ca /dev/zero',
    'loadgen settings --scenario Server --benchmark resnet50 --user-conf /dev/zero',
    'loadgen trace --args /dev/zero',
  ])('ends "%s" with one line and exit code 2', async (line) => {
    const { code, stderr } = await longhaul(line.split(' '));
    const text = expect.stringMatching(/\/dev\/zero.*it is larger than \d+ bytes/);
    expect(told(stderr)).toEqual([text]);
    expect(code).toBe(2);
  });
});

describe('a run with a data set', () => {
  let node: SutNodeProcess;
  beforeAll(async () => {
    node = await SutNodeProcess.start('sut-a', cache);
  });
  afterAll(async () => {
    await node.stop();
  });

  it.each<[string, (folder: string) => void, RegExp]>([
    ['without its label list', (folder) => rmSync(join(folder, 'labels.txt')), /labels\.txt/],
    [
      'with a missing JPEG',
      (folder) => rmSync(join(folder, 'images', '000002.jpg')),
      /000002\.jpg/,
    ],
    [
      'with a JPEG that is cut off',
      (folder) => {
        const path = join(folder, 'images', '000003.jpg');
        writeFileSync(path, readFileSync(path).subarray(0, 300));
      },
      /000003\.jpg/,
    ],
    [
      'with a file that is no JPEG',
      (folder) => writeFileSync(join(folder, 'images', '000001.jpg'), 'not a picture'),
      /000001\.jpg/,
    ],
    [
      'with a label that is none',
      (folder) => writeFileSync(join(folder, 'labels.txt'), '000000.jpg 3\n000001.jpg ten\n'),
      /labels\.txt, line 2/,
    ],
    [
      'that is a folder of something else',
      (folder) => {
        rmSync(folder, { recursive: true });
        mkdirSync(folder);
      },
      /labels\.txt/,
    ],
  ])('%s names the file and exits with 5', async (_case, damage, message) => {
    const folder = await smallDataSet(4);
    damage(folder);
    const { code, stderr } = await longhaulHere([
      ...['run', '--sut', node.address, '--benchmark', 'digits', '--target-qps', '10'],
      ...['--min-duration', '10s'],
      ...['--data-dir', folder, ...cache],
    ]);
    expect(told(stderr)).toHaveLength(1);
    expect(told(stderr)[0]).toMatch(message);
    expect(code).toBe(5);
  });
});
