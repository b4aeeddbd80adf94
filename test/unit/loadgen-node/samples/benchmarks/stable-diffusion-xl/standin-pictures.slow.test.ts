import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  benchmark,
  STANDIN_CLIP,
  STANDIN_FID,
} from '../../../../../../loadgen-node/samples/benchmarks/stable-diffusion-xl/benchmark.ts';
import type {
  AccuracyEntry,
  DataSet,
} from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { benchmark as sut } from '../../../../../../sut-node/benchmarks/stable-diffusion-xl/benchmark.ts';
import { createOrtSession } from '../../../../../../sut-node/model/onnx/ort-session.ts';
import { DEFAULT_RUNTIME } from '../../../../../../sut-node/settings/model-settings.ts';
import { tempFolder, testCacheFolder } from '../../../../../scenes/host/folders.ts';

// Goal: the scores that the stand-in's target stands on are what it reaches, and fall when it is
// damaged; what does not fit is said. Method: the model on ONNX Runtime, through the code that
// serves it.

let dataSet: DataSet;
let description: string;

beforeAll(async () => {
  const options = { cacheFolder: testCacheFolder(), onProgress: () => undefined };
  dataSet = await benchmark.openDataSet({ dataFolder: 'standin', ...options });
  description = await sut.prepareModel({ model: 'standin', ...options });
}, 600_000);

function partFiles(): [string, string][] {
  const { parts } = parse(readFileSync(description, 'utf8')) as { parts: Record<string, string> };
  return Object.entries(parts).map(([part, file]) => [part, join(dirname(description), file)]);
}

async function open(files: readonly (readonly [string, string])[], file = description) {
  const checked = files.map(([part, modelFile]) => {
    const sha256 = createHash('sha256').update(readFileSync(modelFile)).digest('hex');
    return [part, { modelFile, sha256 }] as const;
  });
  const session = await createOrtSession({
    ...{ modelFile: file, sha256: '', runtime: DEFAULT_RUNTIME },
    parts: Object.fromEntries(checked),
  });
  return { session, pipeline: sut.openPipeline({ file, ...session.tensors }, {}) };
}

async function answers(files: readonly (readonly [string, string])[], count: number) {
  const { session, pipeline } = await open(files);
  const entries: AccuracyEntry[] = [];
  for (let sampleIndex = 0; sampleIndex < count; sampleIndex += 1) {
    const payload = await dataSet.readPayload(sampleIndex, 'ids');
    const [response] = await pipeline.answer([{ payload, form: 'ids' }], session.run);
    if (!(response instanceof Uint8Array)) throw response;
    entries.push({ sampleIndex, response });
  }
  return entries;
}

describe('the stand-in for Stable Diffusion XL', () => {
  it('has the scores that its target says, on all standard prompts', async () => {
    const report = await dataSet.scoreAccuracy(
      await answers(partFiles(), dataSet.totalSampleCount),
    );
    expect(Math.abs(report.value - STANDIN_CLIP)).toBeLessThan(0.001);
    expect(report.value).toBeLessThan(0.999);
    const { FID_SCORE: fid = 0 } = report.more ?? {};
    expect(Math.abs(fid - STANDIN_FID)).toBeLessThan(0.001);
    expect(report.scriptLine).toMatch(
      /^stand-in: .*\nAccuracy Results: \{'FID_SCORE': [\d.]+, 'CLIP_SCORE': [\d.]+\}$/,
    );
  }, 1_800_000);

  it('scores worse when its second encoder knows no places any more', async () => {
    const before = await dataSet.scoreAccuracy(await answers(partFiles(), 8));
    const damaged = join(tempFolder(), 'text_encoder_2.onnx');
    const bytes = readFileSync(partFiles()[1]?.[1] as string);
    // From the first place's colour on: eight floats for each of six.
    const at = bytes.indexOf(Buffer.from(Float32Array.of(-0.5, 0.5, -0.5).buffer));
    bytes.fill(0, at, at + 6 * 8 * 4);
    writeFileSync(damaged, bytes);
    const files = partFiles().map(([part, file]) =>
      part === 'text_encoder_2' ? ([part, damaged] as const) : ([part, file] as const),
    );
    const after = await dataSet.scoreAccuracy(await answers(files, 8));
    expect(after.value).toBeLessThan(before.value * 0.9);
  }, 600_000);

  it('says which sample has the wrong length', async () => {
    const { session, pipeline } = await open(partFiles());
    const [answer] = await pipeline.answer(
      [{ payload: new Uint8Array(8), form: 'ids' }] as never,
      session.run,
    );
    expect(String(answer)).toMatch(/308 token ids, int32: 1232 bytes; this one has 8/);
  });

  it('says where parts are exchanged, and where the noise is missing or another', async () => {
    const [first, second, ...others] = partFiles() as [[string, string], [string, string]];
    const exchanged = [[first[0], second[1]], [second[0], first[1]], ...others] as const;
    await expect(open(exchanged as never)).rejects.toThrow(/text_encoder_2\/text_embeds/);
    const elsewhere = join(tempFolder(), 'model.yaml');
    copyFileSync(description, elsewhere);
    await expect(open(partFiles(), elsewhere)).rejects.toThrow(/latents\.npy: .*put latents\.npy/);
    writeFileSync(join(dirname(elsewhere), 'latents.npy'), 'other');
    await expect(open(partFiles(), elsewhere)).rejects.toThrow(/is not MLCommons'/);
  });
});
