import { LoopTurns, type TurnTaker } from '../../../shared/base/async.ts';

/** Most iterations per eigenvalue; two or three are usual. */
const ITERATIONS_MAX = 60;

/**
 * Eigenvalues of a symmetric matrix, unordered: Householder reduction to tridiagonal form, then the
 * QL method with implicit shifts.
 * @param matrix Square, row-major; the lower triangle is read; overwritten.
 */
export async function symmetricEigenvalues(
  matrix: Float64Array,
  size: number,
  turns: TurnTaker = new LoopTurns(),
): Promise<Float64Array> {
  const diagonal = new Float64Array(size);
  const beside = new Float64Array(size);
  await reduce(matrix, diagonal, beside, turns);
  for (let i = 0; i < size; i += 1) {
    if (turns.isDue) await turns.take();
    isolate(diagonal, beside, i);
  }
  return diagonal;
}

/**
 * Householder reduction from the last row on, so that the rest is the upper left part and rows stay
 * contiguous. Each reflection's update is combined with the next product, since reading the matrix
 * dominates the time.
 */
async function reduce(
  matrix: Float64Array,
  diagonal: Float64Array,
  beside: Float64Array,
  turns: TurnTaker,
): Promise<void> {
  const size = diagonal.length;
  const product = new Float64Array(size);
  /**
   * Pending update matrix -= vector x other' + other x vector', except for rows already updated.
   */
  let pending: Change = { vector: new Float64Array(size), other: new Float64Array(size) };
  for (let last = size - 1; last > 0; last -= 1) {
    if (turns.isDue) await turns.take();
    const row = matrix.subarray(last * size, last * size + last + 1);
    subtractFromRow(row, pending, last);
    diagonal[last] = row[last] as number;
    const vector = row.slice(0, last);
    const factor = reflector(vector, beside, last);
    changeAndMultiply(matrix, size, pending, vector, product);
    pending = { vector, other: otherOf(product, vector, factor) };
  }
  if (size > 0) {
    const row = matrix.subarray(0, 1);
    subtractFromRow(row, pending, 0);
    diagonal[0] = row[0] as number;
  }
}

/** A rank-2 update of the matrix: two vectors. */
interface Change {
  readonly vector: Float64Array;
  readonly other: Float64Array;
}

function subtractFromRow(row: Float64Array, { vector, other }: Change, i: number): void {
  const [v, o] = [vector[i] as number, other[i] as number];
  for (let j = 0; j < row.length; j += 1) {
    row[j] = (row[j] as number) - (v * (other[j] as number) + o * (vector[j] as number));
  }
}

/**
 * Turns a row into a reflection vector that leaves only its last element, stored in `beside`
 * (off-diagonal).
 * @returns Half the squared length of the vector; 0 if nothing is to be done.
 */
function reflector(vector: Float64Array, beside: Float64Array, last: number): number {
  const end = vector[last - 1] as number;
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  const target = end > 0 ? -length : length;
  beside[last - 1] = target;
  vector[last - 1] = end - target;
  return length * (length + Math.abs(end));
}

function otherOf(product: Float64Array, vector: Float64Array, factor: number): Float64Array {
  if (factor === 0) return new Float64Array(vector.length);
  const overlap = vector.reduce((sum, value, i) => sum + value * (product[i] as number), 0);
  const share = overlap / (2 * factor * factor);
  return vector.map((value, i) => (product[i] as number) / factor - share * value);
}

/**
 * Applies the pending update to the lower triangle and computes product = matrix x vector, for as
 * many rows as the vector has; two rows at a time share reads of the vectors.
 */
function changeAndMultiply(
  matrix: Float64Array,
  size: number,
  { vector: before, other }: Change,
  vector: Float64Array,
  product: Float64Array,
): void {
  const count = vector.length;
  for (let i = 0; i + 1 < count; i += 2) {
    const [v0, o0, own0] = [before[i] as number, other[i] as number, vector[i] as number];
    const [v1, o1] = [before[i + 1] as number, other[i + 1] as number];
    const own1 = vector[i + 1] as number;
    const [row0, row1] = [i * size, (i + 1) * size];
    let [sum0, sum1] = [0, 0];
    for (let j = 0; j < i; j += 1) {
      const [b, o, x] = [before[j] as number, other[j] as number, vector[j] as number];
      const value0 = (matrix[row0 + j] as number) - (v0 * o + o0 * b);
      const value1 = (matrix[row1 + j] as number) - (v1 * o + o1 * b);
      matrix[row0 + j] = value0;
      matrix[row1 + j] = value1;
      sum0 += value0 * x;
      sum1 += value1 * x;
      product[j] = (product[j] as number) + (value0 * own0 + value1 * own1);
    }
    const first = (matrix[row0 + i] as number) - 2 * v0 * o0;
    const between = (matrix[row1 + i] as number) - (v1 * o0 + o1 * v0);
    const second = (matrix[row1 + i + 1] as number) - 2 * v1 * o1;
    matrix[row0 + i] = first;
    matrix[row1 + i] = between;
    matrix[row1 + i + 1] = second;
    product[i] = sum0 + first * own0 + between * own1;
    product[i + 1] = sum1 + between * own0 + second * own1;
  }
  if (count % 2 === 0) return;
  const last = count - 1;
  const row = matrix.subarray(last * size, last * size + count);
  subtractFromRow(row, { vector: before, other }, last);
  const own = vector[last] as number;
  product[last] = 0;
  for (let j = 0; j < last; j += 1) {
    product[j] = (product[j] as number) + (row[j] as number) * own;
    product[last] = (product[last] as number) + (row[j] as number) * (vector[j] as number);
  }
  product[last] = (product[last] as number) + (row[last] as number) * own;
}

/** Last index of the block that begins at `first`: its off-diagonal element is negligible. */
function blockEnd(diagonal: Float64Array, beside: Float64Array, first: number): number {
  for (let end = first; end < diagonal.length - 1; end += 1) {
    const size = Math.abs(diagonal[end] as number) + Math.abs(diagonal[end + 1] as number);
    if (Math.abs(beside[end] as number) <= Number.EPSILON * size) return end;
  }
  return diagonal.length - 1;
}

/** Iterates on the tridiagonal matrix until index `first` holds an eigenvalue. */
function isolate(diagonal: Float64Array, beside: Float64Array, first: number): void {
  const at = (values: Float64Array, i: number): number => values[i] as number;
  for (let iteration = 0; iteration < ITERATIONS_MAX; iteration += 1) {
    const end = blockEnd(diagonal, beside, first);
    if (end === first) return;
    const half = (at(diagonal, first + 1) - at(diagonal, first)) / (2 * at(beside, first));
    const root = Math.hypot(half, 1);
    let rest =
      at(diagonal, end) -
      at(diagonal, first) +
      at(beside, first) / (half + (half >= 0 ? root : -root));
    let [sine, cosine, moved] = [1, 1, 0];
    let i = end - 1;
    for (; i >= first; i -= 1) {
      const turned = sine * at(beside, i);
      const kept = cosine * at(beside, i);
      const length = Math.hypot(turned, rest);
      beside[i + 1] = length;
      if (length === 0) {
        diagonal[i + 1] = at(diagonal, i + 1) - moved;
        beside[end] = 0;
        break;
      }
      sine = turned / length;
      cosine = rest / length;
      const base = at(diagonal, i + 1) - moved;
      const mixed = (at(diagonal, i) - base) * sine + 2 * cosine * kept;
      moved = sine * mixed;
      diagonal[i + 1] = base + moved;
      rest = cosine * mixed - kept;
    }
    if (i >= first) continue;
    diagonal[first] = at(diagonal, first) - moved;
    beside[first] = rest;
    beside[end] = 0;
  }
}
