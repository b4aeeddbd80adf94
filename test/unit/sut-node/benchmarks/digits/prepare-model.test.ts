import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareModel } from '../../../../../sut-node/benchmarks/digits/prepare-model.ts';
import { tempFolder } from '../../../../support/temp-folder.ts';

// Goal: a user's own model is taken as it is, or its absence is told at once.
// Method: a file, no file, a folder. The fit itself is tested in test/integration/digits-model.test.ts.
function prepare(modelFile: string): Promise<string> {
  const cacheFolder = join(modelFile, 'must-not-be-used');
  return prepareModel({ modelFile, cacheFolder, onProgress: () => undefined });
}

describe("prepareModel of digits with a user's model", () => {
  it('returns its path and uses no cache', async () => {
    const modelFile = join(tempFolder(), 'own.onnx');
    await writeFile(modelFile, 'any bytes');
    expect(await prepare(modelFile)).toBe(modelFile);
  });

  it('names a file that is not there', async () => {
    const modelFile = join(tempFolder(), 'own.onnx');
    await expect(prepare(modelFile)).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: `model file ${modelFile}: there is no such file or folder`,
    });
  });

  it('refuses a folder', async () => {
    const folder = tempFolder();
    await expect(prepare(folder)).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: `model file ${folder} is not a file`,
    });
  });
});
