import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  fileDigest,
  isReferenceFile,
  type ReferenceFile,
} from '../../../../sut-node/model/model-file.ts';
import { tempFolder } from '../../../support/process/temp-folder.ts';

// Goal: weights pass for the reference only where their checksum is a published one, of either kind.
// Method: a file whose checksums are computed here, against lists that hold one, the other or none.
const CONTENT = 'weights';
const digest = (algorithm: string): string => createHash(algorithm).update(CONTENT).digest('hex');

async function isReference(files: readonly ReferenceFile[]): Promise<boolean> {
  const file = join(tempFolder(), 'model.onnx');
  writeFileSync(file, CONTENT);
  return isReferenceFile({ howToGet: '', files }, file, await fileDigest(file, 'sha256'));
}

describe('isReferenceFile', () => {
  it.each<[string, boolean, readonly ReferenceFile[]]>([
    ['its SHA-256', true, [{ algorithm: 'sha256', digest: digest('sha256') }]],
    ['its MD5', true, [{ algorithm: 'md5', digest: digest('md5') }]],
    ['its SHA-256 as an MD5', false, [{ algorithm: 'md5', digest: digest('sha256') }]],
    ['another MD5', false, [{ algorithm: 'md5', digest: '0'.repeat(32) }]],
    ['nothing', false, []],
  ])('knows a file by a list that holds %s: %s', async (_case, expected, files) => {
    expect(await isReference(files)).toBe(expected);
  });
});
