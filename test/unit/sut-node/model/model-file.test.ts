import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkModelFile } from '../../../../sut-node/model/model-file.ts';
import { tempFolder } from '../../../support/process/temp-folder.ts';

// Goal: the absence of a user's own model is told at once. Method: a file, no file, a folder.
describe('checkModelFile', () => {
  it('takes a file', async () => {
    const modelFile = join(tempFolder(), 'own.onnx');
    await writeFile(modelFile, 'any bytes');
    await expect(checkModelFile(modelFile, [])).resolves.toBeUndefined();
  });

  it('names a file that is not there', async () => {
    const modelFile = join(tempFolder(), 'own.onnx');
    await expect(checkModelFile(modelFile, ['standin'])).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: `model file ${modelFile}: there is no such file or folder; without a file there is: --model standin`,
    });
  });

  it('refuses a folder', async () => {
    const folder = tempFolder();
    await expect(checkModelFile(folder, [])).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: `model file ${folder} is not a file`,
    });
  });
});
