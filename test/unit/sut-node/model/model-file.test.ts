import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  checkModelFile,
  fileDigest,
  isReferenceFile,
} from '../../../../sut-node/model/model-file.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';

const CONTENT = 'weights';

function ownModel(): string {
  const file = join(tempFolder(), 'own.onnx');
  writeFileSync(file, CONTENT);
  return file;
}

// Goal: the absence of a user's own model is told at once. Method: a file, no file, a folder.
describe('checkModelFile', () => {
  it('takes a file', async () => {
    await expect(checkModelFile(ownModel(), [])).resolves.toBeUndefined();
  });

  it('names a file that is not there, and refuses a folder', async () => {
    const folder = tempFolder();
    const absent = join(folder, 'own.onnx');
    await expect(checkModelFile(absent, ['standin'])).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: `model file ${absent}: there is no such file or folder; without a file there is: --model standin`,
    });
    await expect(checkModelFile(folder, [])).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: `model file ${folder} is not a file`,
    });
  });
});

// Goal: weights pass for the reference only where their checksum is a published one, of either
// kind. Method: a file whose checksums are computed here, against lists that hold one, the other or
// none.
describe('isReferenceFile', () => {
  const digest = (algorithm: string): string => createHash(algorithm).update(CONTENT).digest('hex');

  it.each([
    ['its SHA-256', true, [{ algorithm: 'sha256', digest: digest('sha256') }]],
    ['its MD5', true, [{ algorithm: 'md5', digest: digest('md5') }]],
    ['its SHA-256 as an MD5', false, [{ algorithm: 'md5', digest: digest('sha256') }]],
    ['another MD5', false, [{ algorithm: 'md5', digest: '0'.repeat(32) }]],
    ['nothing', false, []],
  ] as const)('knows a file by a list that holds %s: %s', async (_case, expected, files) => {
    const file = ownModel();
    const sha256 = await fileDigest(file, 'sha256');
    expect(await isReferenceFile({ howToGet: '', files }, file, sha256)).toBe(expected);
  });
});
