import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WirePart } from '../../../shared/wire/part-codec.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import {
  classOfPixel,
  tinyImages,
  writeTinyImagenet,
} from '../../scenes/simulated-run/data-sets.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import { FakeSutNode } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: a run over ImageNet's layout says what it measured: which data, which model, what accuracy
// against which target; and never runs on data that changed. Method: 40 generated images and a fake
// node that is right about all of them, as uint8 and float32.
const IMAGE_COUNT = 40;
const MODEL = {
  model: 'resnet50-standin-fp32',
  sha256: 'ab'.repeat(32),
  isStandIn: true,
  encodings: [{ form: 'uint8', compression: 'identity' }],
};

const folder = suiteFolder();
const data = ['--benchmark', 'resnet50', '--data-dir', folder];
let node: FakeSutNode;

beforeAll(async () => {
  await writeTinyImagenet(folder, tinyImages(IMAGE_COUNT));
  node = await FakeSutNode.start({
    ...{ name: 'sut-a', benchmark: 'resnet50', says: { Model: MODEL } },
    onPart: (fake, { samples }) => {
      for (const sample of samples) fake.complete([sample.id], labelOf(sample));
    },
  });
});

afterAll(() => node.stop());

function labelOf({ payload }: WirePart['samples'][number]): Uint8Array {
  return new Uint8Array(Float32Array.of(classOfPixel(payload[0] as number)).buffer);
}

async function run(...flags: string[]) {
  const output = suiteFolder();
  const ended = await longhaul([
    ...['run', '--sut', node.address, ...data, '--output', output, '--scenario', 'Offline'],
    ...['--mode', 'accuracy', '--target-qps', '1000', '--digest', '0', ...flags],
  ]);
  return { ...ended, output };
}

describe('longhaul run --benchmark resnet50', () => {
  it('tells accuracy, target, data and model, in the logs as on the screen', async () => {
    const list = join(folder, 'SHA256SUMS');
    const written = await longhaul(['submission', 'data', 'checksums', ...data, '--output', list]);
    const [, digest] =
      /^.* lists 41 files of .*; the list has SHA-256 (\w{64})\n$/.exec(written.stdout) ?? [];
    execFileSync('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { cwd: folder });

    const { stdout, output, stderr } = await run();
    expect(stderr).not.toContain('longhaul: ');
    expect(stdout).toContain(
      'top-1 100.00 % (40 of 40), target 75.695 % (99 % of 76.460 %, FP32 reference of round v4.1): met',
    );
    expect(stdout).toContain(`resnet50-standin-fp32, SHA-256 ${MODEL.sha256}: A STAND-IN`);
    const standIn = 'runs resnet50-standin-fp32, a stand-in for the model of resnet50';
    expect(stdout).toContain(standIn);
    const line = 'accuracy=100.000%, good=40, total=40';
    expect(stdout).toContain(line);
    const [first, ...notes] = readFileSync(join(output, 'accuracy.txt'), 'utf8').split('\n');
    expect(first).toBe(line);
    expect(notes).toEqual([
      expect.stringMatching(`^note: SUT node .* ${standIn}: neither its accuracy nor its speed`),
      expect.stringMatching('^note: the data set is not the validation set of ImageNet 2012'),
      '',
    ]);

    const logs = readRunLogs(output);
    expect(logs.summary).toContain(standIn);
    expect(logs.summary).toContain('is not the validation set of ImageNet 2012: 40 images');
    expect(logs.value('qsl_name')).toBe('imagenet-own-data');
    expect(logs.value('longhaul_model')).toMatchObject({ name: MODEL.model, is_stand_in: 'true' });
    expect(stdout).toContain(`41 files in ${folder}, all as in SHA256SUMS`);
    expect(logs.value('longhaul_data_set')).toMatchObject({ verified: 'yes', sha256: digest });
    expect(logs.value('longhaul_accuracy')).toMatchObject({ correct: '40', needed: '31' });
  });

  it('is refused by a node of another benchmark before the data set is opened', async () => {
    const other = ['--benchmark', 'digits', '--data-dir', '/nowhere', '--target-qps', '1'];
    const { code, stderr } = await longhaul(['run', '--sut', node.address, ...other]);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: `longhaul: SUT node ${node.address} does not serve benchmark "digits"; it serves resnet50\n`,
    });
  });

  it('does not begin on data that is not as its list has it', async () => {
    const verified = await longhaul(['submission', 'data', 'verify', ...data]);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('40 samples') });

    writeFileSync(join(folder, 'val_1.JPEG'), 'other');
    rmSync(join(folder, 'val_2.JPEG'));
    // No part of the data set: val_map.txt does not name it.
    writeFileSync(join(folder, 'val_99.JPEG'), 'more');
    const bad = await longhaul(['submission', 'data', 'verify', ...data]);
    expect(bad.code).toBe(5);
    expect(bad.stderr).toContain(
      'is not as SHA256SUMS has it: 1 missing (val_2.JPEG); 1 changed (val_1.JPEG)\n',
    );
    await writeTinyImagenet(folder, tinyImages(IMAGE_COUNT));
    writeFileSync(join(folder, 'val_1.JPEG'), 'other');
    const refused = await run();
    expect(refused).toMatchObject({ code: 5, stdout: '' });
    expect(refused.stderr).toContain('is not as SHA256SUMS has it: 1 changed (val_1.JPEG)');
  });

  it('takes the word standin for generated data, whatever lies here', async () => {
    const cwd = suiteFolder();
    mkdirSync(join(cwd, 'standin'));
    const flags = [
      '--benchmark',
      'resnet50',
      '--data-dir',
      'standin',
      '--cache-dir',
      '/dev/null/x',
    ];
    for (const verb of ['checksums', 'verify']) {
      const { code, stderr } = await longhaul(['submission', 'data', verb, ...flags], { cwd });
      expect({ code, stderr }).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('/dev/null/x'),
      });
    }
  });
});
