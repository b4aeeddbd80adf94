import { writeFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseNpyHeader } from '../../../../../loadgen-node/samples/tensors/npy/npy-header.ts';
import { readNpzMembers } from '../../../../../loadgen-node/samples/tensors/npy/npz-file.ts';
import { SeededRandom } from '../../../../../shared/benchmarks/digits/seeded-random.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: arrays are found in an archive of NumPy, and any other file is an error of one line.
// Method: archives that NumPy and Python's zipfile wrote (test/golden/npy/make-archives.py), cut
// and damaged ones.

const GOLDEN = new URL('../../../../golden/npy/archives/', import.meta.url).pathname;

async function membersOf(path: string) {
  const file = await open(path);
  try {
    return await readNpzMembers(file, path);
  } finally {
    await file.close();
  }
}

describe('readNpzMembers', () => {
  it.each(['stored', 'short'])('finds the arrays of %s.npz', async (name) => {
    const path = `${GOLDEN}${name}.npz`;
    const bytes = await readFile(path);
    const members = await membersOf(path);
    expect([...members.keys()]).toEqual(['0.npy', 'names with blanks.npy']);
    const [pairs, numbers] = [...members.values()].map(({ offset, bytes: length }) => {
      const member = bytes.subarray(offset, offset + length);
      const header = parseNpyHeader(member, name);
      return { ...header, data: Uint8Array.from(member.subarray(header.dataOffset)) };
    });
    expect(pairs).toMatchObject({ descr: '<i4', shape: [3, 2] });
    expect([...new Int32Array(pairs?.data.buffer as ArrayBuffer)]).toEqual([0, 1, 2, 3, 4, 5]);
    expect(numbers).toMatchObject({ descr: '<f4', shape: [4] });
    expect([...new Float32Array(numbers?.data.buffer as ArrayBuffer)]).toEqual([0, 1, 2, 3]);
  });

  it('refuses compressed members and says how to save them', async () => {
    await expect(membersOf(`${GOLDEN}compressed.npz`)).rejects.toThrow(
      /compressed\.npz: 0\.npy in it is compressed.*numpy\.savez, not savez_compressed/,
    );
  });

  it.each([
    ['an empty file', (): Buffer => Buffer.alloc(0)],
    ['no archive', (): Buffer => Buffer.alloc(1000, 'x')],
    ['a cut archive', (bytes: Buffer): Buffer => bytes.subarray(0, -30)],
    ['an archive without its beginning', (bytes: Buffer): Buffer => bytes.subarray(100)],
  ])('refuses %s', async (_what, change) => {
    const path = join(tempFolder(), 'x.npz');
    writeFileSync(path, change(await readFile(`${GOLDEN}stored.npz`)));
    await expect(membersOf(path)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message: expect.stringContaining(path) }),
    );
  });

  it('never fails in another way, whatever byte is wrong', async () => {
    const bytes = await readFile(`${GOLDEN}short.npz`);
    const random = new SeededRandom(1, 0);
    const path = join(tempFolder(), 'x.npz');
    for (let round = 0; round < 200; round += 1) {
      const damaged = Buffer.from(bytes);
      // The directory and its end are the last bytes.
      damaged[damaged.length - 1 - random.integerBelow(200)] = random.integerBelow(256);
      writeFileSync(path, damaged);
      const error = await membersOf(path).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error !== undefined) expect(error).toMatchObject({ code: 'ERR_DATA_SET' });
    }
  });
});
