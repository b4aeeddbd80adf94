import type { ImageSize } from './jpeg.ts';
import type { ResizeTaps } from './resize-taps.ts';

/** Red, green, blue. */
const CHANNELS = 3;

/**
 * Makes the part of a resized image that the taps describe, each axis for itself.
 * @param rgb height x width x RGB bytes.
 * @param size Of `rgb`.
 * @returns rows x columns x RGB, rounded to the nearest byte.
 */
export function resizeRgb(
  rgb: Uint8Array,
  { width }: ImageSize,
  rows: ResizeTaps,
  columns: ResizeTaps,
): Uint8Array {
  const rowCount = rows.starts.length;
  const rowBytes = columns.starts.length * CHANNELS;
  const resized = new Uint8Array(rowCount * rowBytes);
  const { from, to } = span(columns, width);
  const line = new Float32Array((to - from) * CHANNELS);
  for (let row = 0; row < rowCount; row++) {
    line.fill(0);
    for (let k = 0; k < rows.tapsMax; k++) {
      const weight = rows.weights[row * rows.tapsMax + k] as number;
      if (weight === 0) continue;
      const sourceRow = (rows.starts[row] as number) + k;
      const start = (sourceRow * width + from) * CHANNELS;
      addRow(line, rgb, start, weight);
    }
    resizeRow(line, from, columns, resized, row * rowBytes);
  }
  return resized;
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
  target: Uint8Array,
  offset: number,
): void {
  for (let column = 0; column < starts.length; column++) {
    let red = 0;
    let green = 0;
    let blue = 0;
    let at = ((starts[column] as number) - from) * CHANNELS;
    for (let k = 0; k < tapsMax; k++, at += CHANNELS) {
      const weight = weights[column * tapsMax + k] as number;
      // Also keeps the taps that do not exist, at the end of the line, from being read.
      if (weight === 0) continue;
      red += weight * (line[at] as number);
      green += weight * (line[at + 1] as number);
      blue += weight * (line[at + 2] as number);
    }
    const place = offset + column * CHANNELS;
    target[place] = red + 0.5;
    target[place + 1] = green + 0.5;
    target[place + 2] = blue + 0.5;
  }
}
