import { type FileHandle, open } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';
import { dataSetError, messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import { readingFile } from '../../data-set/data-set.ts';
import { parseNpyHeader } from './npy-header.ts';
import { type NpzMember, readNpzMembers } from './npz-file.ts';

/**
 * Float32 or float64 arrays of a NumPy archive (`savez` or `savez_compressed`) as doubles, in file
 * order.
 * @param names Array names, such as `mu`.
 * @throws MlperfError `ERR_DATA_SET` with the file
 */
export function readNpzDoubles(path: string, names: readonly string[]): Promise<Float64Array[]> {
  return readingFile(path, async () => {
    const file = await open(path);
    try {
      const members = await readNpzMembers(file, path, true);
      const arrays: Float64Array[] = [];
      for (const name of names) {
        const member = members.get(`${name}.npy`);
        if (member === undefined) {
          throw dataSetError(
            `${path} has no array ${name}; it has ${[...members.keys()].join(', ')}`,
          );
        }
        const where = `${path}: ${name}`;
        arrays.push(doublesOf(await contentsOf(file, member, where), where));
      }
      return arrays;
    } finally {
      await file.close();
    }
  });
}

async function contentsOf(file: FileHandle, member: NpzMember, where: string): Promise<Buffer> {
  const bytes = Buffer.alloc(member.bytes);
  await file.read(bytes, 0, member.bytes, member.offset);
  if (!member.isDeflated) return bytes;
  try {
    return inflateRawSync(bytes);
  } catch (error) {
    throw dataSetError(`${where} is damaged: ${messageOf(error)}`, error);
  }
}

function doublesOf(bytes: Buffer, where: string): Float64Array {
  const { descr, shape, dataOffset } = parseNpyHeader(bytes, where);
  const count = shape.reduce((product, length) => product * length, 1);
  const size = { '<f4': 4, '<f8': 8 }[descr];
  if (size === undefined || bytes.length - dataOffset !== count * size) {
    throw dataSetError(
      `${where} has elements of ${descr} in ${bytes.length - dataOffset} bytes; its shape [${shape.join(', ')}] must be of <f4 or <f8`,
    );
  }
  const { buffer } = new Uint8Array(bytes.subarray(dataOffset));
  return size === 8 ? new Float64Array(buffer) : Float64Array.from(new Float32Array(buffer));
}
