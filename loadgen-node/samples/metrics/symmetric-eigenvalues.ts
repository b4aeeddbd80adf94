/** Iterations for one eigenvalue; two or three are usual. */
const ITERATIONS_MAX = 60;

/**
 * Eigenvalues of a symmetric matrix, in no order: Householder's reduction to three diagonals, then the QL method with implicit
 * shifts.
 * @param matrix Square, row-major, of which the lower triangle is read; overwritten.
 */
export function symmetricEigenvalues(matrix: Float64Array, size: number): Float64Array {
  const diagonal = new Float64Array(size);
  const beside = new Float64Array(size);
  reduce(matrix, size, diagonal, beside);
  for (let i = 0; i < size; i += 1) isolate(diagonal, beside, i);
  return diagonal;
}

/** Begins with the last row, so that what is left is the upper left part and rows stay rows. */
function reduce(
  matrix: Float64Array,
  size: number,
  diagonal: Float64Array,
  beside: Float64Array,
): void {
  const product = new Float64Array(size);
  for (let last = size - 1; last > 0; last -= 1) {
    diagonal[last] = matrix[last * size + last] as number;
    const vector = matrix.subarray(last * size, last * size + last);
    const end = vector[last - 1] as number;
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    if (length === 0) continue;
    const target = end > 0 ? -length : length;
    beside[last - 1] = target;
    const factor = length * (length + Math.abs(end));
    vector[last - 1] = end - target;
    multiply(matrix, size, vector, product);
    let overlap = 0;
    for (let i = 0; i < last; i += 1) overlap += (product[i] as number) * (vector[i] as number);
    const share = overlap / (2 * factor * factor);
    for (let i = 0; i < last; i += 1) {
      product[i] = (product[i] as number) / factor - share * (vector[i] as number);
    }
    subtract(matrix, size, vector, product);
  }
  diagonal[0] = matrix[0] ?? 0;
}

/** product = matrix x vector, of the lower triangle, for as many rows as the vector has. */
function multiply(
  matrix: Float64Array,
  size: number,
  vector: Float64Array,
  product: Float64Array,
): void {
  for (let i = 0; i < vector.length; i += 1) {
    const own = vector[i] as number;
    let sum = 0;
    const row = i * size;
    for (let j = 0; j < i; j += 1) {
      const value = matrix[row + j] as number;
      sum += value * (vector[j] as number);
      product[j] = (product[j] as number) + value * own;
    }
    product[i] = sum + (matrix[row + i] as number) * own;
  }
}

/** matrix -= vector x other' + other x vector', of the lower triangle. */
function subtract(
  matrix: Float64Array,
  size: number,
  vector: Float64Array,
  other: Float64Array,
): void {
  for (let i = 0; i < vector.length; i += 1) {
    const [v, o] = [vector[i] as number, other[i] as number];
    const row = i * size;
    for (let j = 0; j <= i; j += 1) {
      const change = v * (other[j] as number) + o * (vector[j] as number);
      matrix[row + j] = (matrix[row + j] as number) - change;
    }
  }
}

/** Last place of the block that begins at `first`: beside it stands nothing that counts. */
function blockEnd(diagonal: Float64Array, beside: Float64Array, first: number): number {
  for (let end = first; end < diagonal.length - 1; end += 1) {
    const size = Math.abs(diagonal[end] as number) + Math.abs(diagonal[end + 1] as number);
    if (Math.abs(beside[end] as number) <= Number.EPSILON * size) return end;
  }
  return diagonal.length - 1;
}

/** Turns the matrix of three diagonals until place `first` holds an eigenvalue. */
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
