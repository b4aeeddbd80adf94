import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type PreparedStandin,
  preparedResult,
} from '../../../../../../loadgen-node/samples/benchmarks/imagenet/prepare-standin.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: who has prepared a stand-in reads where it is, what it is, how well it does and what to
// type next. Method: files of a few bytes in place of the real ones.
function prepared(changes: Partial<PreparedStandin> = {}): PreparedStandin {
  const folder = tempFolder();
  const models = { fp32: join(folder, 'fp32.onnx'), int8: join(folder, 'int8.onnx') };
  for (const file of Object.values(models)) writeFileSync(file, 'weights'.repeat(300_000));
  const dataFolder = join(folder, 'data set');
  mkdirSync(dataFolder);
  writeFileSync(join(dataFolder, '1.JPEG'), 'image'.repeat(100_000));
  return {
    ...{ benchmark: 'resnet50', models, dataFolder, imageCount: 1536, dataFlags: '' },
    ...{ cacheDir: undefined, isCopy: false },
    ...changes,
  };
}

async function preparedText(made: PreparedStandin): Promise<string> {
  return (await preparedResult(made)).text;
}

describe('preparedResult', () => {
  it('tells paths, sizes and checksums, and that nothing of it is of MLPerf', async () => {
    const made = prepared();
    const text = await preparedText(made);
    const sha256 = createHash('sha256').update('weights'.repeat(300_000)).digest('hex');
    expect(text).toContain(`${made.models.fp32}\n          2.1 MB, sha256 ${sha256}`);
    expect(text).toContain('1536 JPEG files, 0.5 MB');
    expect(text).toContain("Neither is MLPerf's");
  });

  it('tells the accuracy that the images are made for', async () => {
    const { text, json } = await preparedResult(prepared());
    expect(text).toContain('Top-1 of both on these images: 96.029 %  (1475 of 1536; ');
    expect(json).toMatchObject({ top1: 1475 / 1536 });
    expect(await preparedText(prepared({ imageCount: 24 }))).toContain('100.00 %  (24 of 24; ');
  });

  it('goes on with words where the cache is known, and with paths where copies were made', async () => {
    expect(await preparedText(prepared())).toContain(
      'longhaul sut --benchmark resnet50 --model standin --node sut-a\n',
    );
    const named = await preparedText(prepared({ cacheDir: '/big/cache' }));
    expect(named.match(/--cache-dir \/big\/cache/g)).toHaveLength(2);
    const copied = prepared({ isCopy: true, cacheDir: '/big/cache' });
    const text = await preparedText(copied);
    expect(text).toContain(`--model ${copied.models.fp32} `);
    // A shell would take it for two words.
    expect(text).toContain(`--data-dir '${copied.dataFolder}'`);
    expect(text).not.toContain('--cache-dir');
  });
});
