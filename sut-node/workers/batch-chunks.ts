import assert from 'node:assert';
import type { FreeLength } from '../pipeline/sample-size.ts';

/** Samples of a batch that go through the model in one inference. */
export interface Chunk {
  /** Rows of the batch, ascending. */
  readonly rows: readonly number[];
  /** Length that the free axes have in the tensors; no sample of the chunk is longer. */
  readonly freeLength: FreeLength;
}

/**
 * Cuts a batch into inferences: nearly always one. More where the batcher joined samples of different lengths
 * that may not be padded, or more samples than the model takes at once.
 * @param rows Rows of the batch that can be read, ascending.
 * @param lengthOf Length of a sample's free axes.
 * @param sizeMax Most samples of one inference.
 */
export function cutIntoChunks(
  rows: readonly number[],
  lengthOf: (row: number) => FreeLength,
  { sizeMax, freeAxes }: { readonly sizeMax: number; readonly freeAxes: 'group' | 'pad' },
): Chunk[] {
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
      chunks.push({ rows: part, freeLength: Math.max(...part.map(lengthOf)) });
    }
  }
  return chunks;
}
