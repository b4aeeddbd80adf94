import assert from 'node:assert';
import type { FreeLength } from '../../pipeline/sample-size.ts';

/** Samples of a batch that go through the model in one inference. */
export interface Chunk {
  /** Rows of the batch, ascending. */
  readonly rows: readonly number[];
  /** Length that the free axes have in the tensors; no sample of the chunk is longer. */
  readonly freeLength: FreeLength;
}

/** What bounds an inference. */
export interface ChunkLimits {
  /** Most samples. */
  readonly sizeMax: number;
  readonly freeAxes: 'group' | 'pad';
  /** Bytes of a sample's tensors by the length of its free axes. */
  bytesOf(length: FreeLength): number;
  /** Most bytes of padded tensors of several samples; infinite where fewer samples would need no less. */
  readonly paddedBytesMax: number;
}

/**
 * Cuts a batch into inferences: nearly always one. More where the batcher joined samples of different lengths
 * that may not be padded, more samples than the model takes at once, or where one long sample would make all others
 * so long that the tensors have no bound but the memory.
 * @param rows Rows of the batch that can be read, ascending.
 * @param lengthOf Length of a sample's free axes.
 */
export function cutIntoChunks(
  rows: readonly number[],
  lengthOf: (row: number) => FreeLength,
  limits: ChunkLimits,
): Chunk[] {
  const { sizeMax, freeAxes } = limits;
  assert(sizeMax >= 1);
  const groups = new Map<FreeLength, number[]>();
  for (const row of rows) {
    const key = freeAxes === 'pad' ? 0 : lengthOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  const chunks: Chunk[] = [];
  for (const group of groups.values()) {
    for (let first = 0; first < group.length; first += sizeMax) {
      const part = group.slice(first, first + sizeMax);
      const freeLength = Math.max(...part.map(lengthOf));
      if (freeAxes === 'group' || fits(part.length, freeLength, limits)) {
        chunks.push({ rows: part, freeLength });
      } else chunks.push(...cutByBytes(part, lengthOf, limits));
    }
  }
  return chunks;
}

/** Short samples go with short ones, so that few inferences are enough. */
function cutByBytes(
  part: readonly number[],
  lengthOf: (row: number) => FreeLength,
  limits: ChunkLimits,
): Chunk[] {
  const chunks: { rows: number[]; freeLength: FreeLength }[] = [];
  for (const row of part.toSorted((a, b) => lengthOf(a) - lengthOf(b))) {
    const freeLength = lengthOf(row); // The longest so far.
    const last = chunks.at(-1);
    if (last !== undefined && fits(last.rows.length + 1, freeLength, limits)) {
      last.rows.push(row);
      last.freeLength = freeLength;
    } else chunks.push({ rows: [row], freeLength });
  }
  for (const { rows } of chunks) rows.sort((a, b) => a - b);
  return chunks;
}

function fits(rowCount: number, length: FreeLength, limits: ChunkLimits): boolean {
  return rowCount * limits.bytesOf(length) <= limits.paddedBytesMax;
}
