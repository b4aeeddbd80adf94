import { CELL_MIDDLE, CELL_SPAN } from '../../../shared/benchmarks/standin/planted-cells.ts';
import type { GraphBuilder, TensorName } from '../../model/onnx/graph-builder.ts';

/** Share of a cell's side around its middle that is looked at: resizing blurs the rest. */
const INNER = 0.4;

/** Images of [N, 3, side, side] whose values are (byte - mean) / deviation. */
export interface CellImages {
  readonly side: number;
  /** Cells along a side. */
  readonly grid: number;
  readonly means: readonly number[];
  readonly deviations: readonly number[];
}

/** Adds one operator that reads what all cells of images say: [N, 1, grid, grid]. */
export function readCells(
  graph: GraphBuilder,
  image: TensorName,
  { side, grid, means, deviations }: CellImages,
): TensorName {
  const size = side / grid;
  const isInner = (place: number): boolean => Math.abs(place + 0.5 - size / 2) < (INNER * size) / 2;
  const inner = Array.from({ length: size ** 2 }, (_, i) =>
    Number(isInner(i % size) && isInner(Math.floor(i / size))),
  );
  const count = 3 * inner.reduce((sum, share) => sum + share, 0);
  const weights = deviations.flatMap((deviation) =>
    inner.map((share) => (share * deviation) / (count * CELL_SPAN)),
  );
  const mean = means.reduce((sum, value) => sum + value / 3, 0);
  return graph.operator(
    'Conv',
    [
      image,
      graph.constant([1, 3, size, size], Float32Array.from(weights)),
      Float32Array.of((mean - CELL_MIDDLE) / CELL_SPAN),
    ],
    { kernel_shape: [size, size], strides: [size, size] },
  );
}
