/**
 * How each pixel of a resized line is made of pixels of the source line: pixel `i` is the sum over
 * `k` of `weights[i * tapsMax + k] * source[starts[i] + k]`. Weights of a pixel add up to 1.
 */
export interface ResizeTaps {
  /** First source pixel of each pixel. */
  readonly starts: Int32Array;
  /** Weights, `tapsMax` per pixel; those beyond the last source pixel needed are 0. */
  readonly weights: Float32Array;
  readonly tapsMax: number;
}

/** A line of pixels, and the requested part of its resized form. */
export interface ResizedLine {
  /** Pixels of the source line. */
  readonly sourceSize: number;
  /** Pixels that the whole resized line would have. */
  readonly targetSize: number;
  /** First requested pixel of the resized line, and the number of pixels. */
  readonly from: number;
  readonly count: number;
}

/** Overlaps smaller than this share of a pixel are rounding errors of the division. */
const OVERLAP_MIN = 1e-3;

/**
 * Each target pixel is the mean of the `sourceSize / targetSize` source pixels that it covers,
 * weighted by the covered share (OpenCV's INTER_AREA, smaller and larger).
 */
export function areaTaps({ sourceSize, targetSize, from, count }: ResizedLine): ResizeTaps {
  const scale = sourceSize / targetSize;
  const tapsMax = Math.ceil(scale) + 1;
  const starts = new Int32Array(count);
  const weights = new Float32Array(count * tapsMax);
  for (let i = 0; i < count; i++) {
    const begin = (from + i) * scale;
    const end = Math.min(begin + scale, sourceSize);
    const first = Math.floor(begin + OVERLAP_MIN);
    starts[i] = first;
    let total = 0;
    for (let k = 0; k < tapsMax && first + k < sourceSize; k++) {
      const overlap = Math.min(end, first + k + 1) - Math.max(begin, first + k);
      if (overlap <= OVERLAP_MIN) continue;
      weights[i * tapsMax + k] = overlap;
      total += overlap;
    }
    for (let k = i * tapsMax; k < (i + 1) * tapsMax; k++)
      weights[k] = (weights[k] as number) / total;
  }
  return { starts, weights, tapsMax };
}

/**
 * Each target pixel is interpolated between the two nearest source pixels, whatever else it covers
 * (OpenCV's INTER_LINEAR).
 */
export function linearTaps({ sourceSize, targetSize, from, count }: ResizedLine): ResizeTaps {
  const scale = sourceSize / targetSize;
  const starts = new Int32Array(count);
  const weights = new Float32Array(count * 2);
  for (let i = 0; i < count; i++) {
    const centre = (from + i + 0.5) * scale - 0.5;
    const within = Math.min(Math.max(centre, 0), sourceSize - 1);
    // The last pixel uses its left neighbour's second tap, so no tap lies outside.
    const first = Math.min(Math.floor(within), Math.max(0, sourceSize - 2));
    starts[i] = first;
    weights[i * 2] = 1 - (within - first);
    weights[i * 2 + 1] = within - first;
  }
  return { starts, weights, tapsMax: 2 };
}

/** Red, green, blue. */
const CHANNELS = 3;

/**
 * Resizes an image row by row, each axis separately, in float.
 * @param rgb height x width x RGB bytes.
 * @param width Width of `rgb`.
 * @param emit Receives each resized row: columns x RGB. The next row reuses its memory.
 */
export function resizeRows(
  rgb: Uint8Array,
  width: number,
  rows: ResizeTaps,
  columns: ResizeTaps,
  emit: (line: Float64Array, row: number) => void,
): void {
  const resized = new Float64Array(columns.starts.length * CHANNELS);
  const { from, to } = span(columns, width);
  const line = new Float32Array((to - from) * CHANNELS);
  for (let row = 0; row < rows.starts.length; row++) {
    line.fill(0);
    for (let k = 0; k < rows.tapsMax; k++) {
      const weight = rows.weights[row * rows.tapsMax + k] as number;
      if (weight === 0) continue;
      const sourceRow = (rows.starts[row] as number) + k;
      addRow(line, rgb, (sourceRow * width + from) * CHANNELS, weight);
    }
    resizeRow(line, from, columns, resized);
    emit(resized, row);
  }
}

/** Source pixels that the columns need: `from` up to, not including, `to`. */
function span({ starts, tapsMax }: ResizeTaps, width: number): { from: number; to: number } {
  const last = starts.at(-1) as number;
  return { from: starts[0] as number, to: Math.min(last + tapsMax, width) };
}

function addRow(line: Float32Array, rgb: Uint8Array, start: number, weight: number): void {
  for (let i = 0; i < line.length; i++)
    line[i] = (line[i] as number) + weight * (rgb[start + i] as number);
}

function resizeRow(
  line: Float32Array,
  from: number,
  { starts, weights, tapsMax }: ResizeTaps,
  target: Float64Array,
): void {
  for (let column = 0; column < starts.length; column++) {
    let red = 0;
    let green = 0;
    let blue = 0;
    let at = ((starts[column] as number) - from) * CHANNELS;
    for (let k = 0; k < tapsMax; k++, at += CHANNELS) {
      const weight = weights[column * tapsMax + k] as number;
      // Zero weights also mark the taps beyond the end of the line: do not read them.
      if (weight === 0) continue;
      red += weight * (line[at] as number);
      green += weight * (line[at + 1] as number);
      blue += weight * (line[at + 2] as number);
    }
    const place = column * CHANNELS;
    target[place] = red;
    target[place + 1] = green;
    target[place + 2] = blue;
  }
}
