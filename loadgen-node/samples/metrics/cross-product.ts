import assert from 'node:assert';
import type { TurnTaker } from '../../../shared/base/async.ts';

/** A matrix, row-major. */
export interface Matrix {
  readonly values: Float64Array;
  readonly rows: number;
  readonly columns: number;
}

/** Known zeros and symmetry that save work. */
interface KnownForm {
  /** True: `a` (`b`) is lower triangular. */
  readonly isLowerA?: boolean;
  readonly isLowerB?: boolean;
  /** True: the product is symmetric; entries above its diagonal are undefined. */
  readonly isSymmetric?: boolean;
}

/** Rows per step: a strip of them stays in the L1 cache. */
const DEPTH = 128;

/** Tile size of the product: its sums fit into registers. */
const TILE_ROWS = 4;
const TILE_COLUMNS = 2;

/**
 * target += A' B, tile by tile from strips packed contiguously: several times faster than row by
 * row.
 * @param turns Yields between rows of tiles.
 * @param target Rows: columns of A; columns: columns of B.
 */
export async function addCrossProduct(
  target: Matrix,
  a: Matrix,
  b: Matrix,
  turns: TurnTaker,
  form: KnownForm = {},
): Promise<void> {
  assert(a.rows === b.rows && target.rows === a.columns && target.columns === b.columns);
  const stripsA = new Float64Array(DEPTH * (a.columns + TILE_ROWS));
  const stripsB = new Float64Array(DEPTH * (b.columns + TILE_COLUMNS));
  const tile = new Float64Array(TILE_ROWS * TILE_COLUMNS);
  for (let first = 0; first < a.rows; first += DEPTH) {
    const depth = Math.min(DEPTH, a.rows - first);
    const columnsA = columnsUntil(a, first + depth, form.isLowerA);
    const columnsB = columnsUntil(b, first + depth, form.isLowerB);
    packStrips(stripsA, a, { first, depth, columns: columnsA }, TILE_ROWS);
    packStrips(stripsB, b, { first, depth, columns: columnsB }, TILE_COLUMNS);
    for (let i = 0; i < columnsA; i += TILE_ROWS) {
      if (turns.isDue) await turns.take();
      const end = form.isSymmetric ? Math.min(columnsB, i + TILE_ROWS) : columnsB;
      for (let j = 0; j < end; j += TILE_COLUMNS) {
        multiplyStrips(stripsA, i * depth, stripsB, j * depth, depth, tile);
        addTile(target, i, j, tile);
      }
    }
  }
}

/** Number of columns that may be nonzero in the rows before `end`. */
function columnsUntil({ columns }: Matrix, end: number, isLower = false): number {
  return isLower ? Math.min(columns, end) : columns;
}

/** Part of a matrix: rows from `first` on, and the first columns. */
interface Part {
  readonly first: number;
  readonly depth: number;
  readonly columns: number;
}

/** Packs strips of `width` columns consecutively; the last one is padded with zeros. */
function packStrips(
  strips: Float64Array,
  { values, columns: stride }: Matrix,
  { first, depth, columns }: Part,
  width: number,
): void {
  for (let row = 0; row < depth; row += 1) {
    const from = (first + row) * stride;
    for (let column = 0; column < columns; column += width) {
      const to = column * depth + row * width;
      for (let i = 0; i < width; i += 1) {
        strips[to + i] = column + i < columns ? (values[from + column + i] as number) : 0;
      }
    }
  }
}

/** tile = (a strip of A)' x a strip of B. @param atA Offset of A's strip. */
function multiplyStrips(
  a: Float64Array,
  atA: number,
  b: Float64Array,
  atB: number,
  depth: number,
  tile: Float64Array,
): void {
  let [s00, s01, s10, s11, s20, s21, s30, s31] = [0, 0, 0, 0, 0, 0, 0, 0];
  let [i, j] = [atA, atB];
  for (let k = 0; k < depth; k += 1) {
    const b0 = b[j] as number;
    const b1 = b[j + 1] as number;
    const a0 = a[i] as number;
    const a1 = a[i + 1] as number;
    const a2 = a[i + 2] as number;
    const a3 = a[i + 3] as number;
    s00 += a0 * b0;
    s01 += a0 * b1;
    s10 += a1 * b0;
    s11 += a1 * b1;
    s20 += a2 * b0;
    s21 += a2 * b1;
    s30 += a3 * b0;
    s31 += a3 * b1;
    i += TILE_ROWS;
    j += TILE_COLUMNS;
  }
  tile[0] = s00;
  tile[1] = s01;
  tile[2] = s10;
  tile[3] = s11;
  tile[4] = s20;
  tile[5] = s21;
  tile[6] = s30;
  tile[7] = s31;
}

/** Adds a tile to the target, without the part beyond its edges. */
function addTile(
  { values, rows, columns }: Matrix,
  i: number,
  j: number,
  tile: Float64Array,
): void {
  const height = Math.min(TILE_ROWS, rows - i);
  const width = Math.min(TILE_COLUMNS, columns - j);
  for (let row = 0; row < height; row += 1) {
    const place = (i + row) * columns + j;
    for (let column = 0; column < width; column += 1) {
      values[place + column] =
        (values[place + column] as number) + (tile[row * TILE_COLUMNS + column] as number);
    }
  }
}
