/** Elements of nested arrays in row-major order, and the lengths of the arrays from the outermost on. */
export interface NestedElements {
  readonly shape: readonly number[];
  readonly elements: readonly unknown[];
}

/** Deeper than any tensor. */
const RANK_MAX = 32;

/** @returns undefined where arrays at the same depth have different lengths. */
export function nestedElements(value: unknown): NestedElements | undefined {
  const shape: number[] = [];
  let elements: readonly unknown[] = [value];
  while (elements.length > 0 && elements.some(Array.isArray)) {
    const [first] = elements;
    if (!Array.isArray(first) || shape.length === RANK_MAX) return undefined;
    const { length } = first;
    if (!elements.every((one) => Array.isArray(one) && one.length === length)) return undefined;
    shape.push(length);
    elements = (elements as readonly unknown[][]).flat(1);
  }
  return { shape, elements };
}
