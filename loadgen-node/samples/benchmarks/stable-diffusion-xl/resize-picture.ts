import { PICTURE_SIDE } from '../../../../shared/rules/cards/stable-diffusion-xl.ts';

/** Input width and height of CLIP ViT-B/32. */
export const CLIP_SIDE = 224;

const CLIP_MEAN = [0.481_454_66, 0.457_827_5, 0.408_210_73] as const;
const CLIP_DEVIATION = [0.268_629_54, 0.261_302_58, 0.275_777_11] as const;

/**
 * A picture like torchvision's ToTensor: values 0 to 1.
 * @param rgb 1024 x 1024 x RGB.
 * @returns Channel x height x width.
 */
export function planesOf(rgb: Uint8Array): Float32Array {
  const count = rgb.length / 3;
  const planes = new Float32Array(rgb.length);
  for (let i = 0; i < count; i += 1) {
    for (let channel = 0; channel < 3; channel += 1) {
      planes[channel * count + i] = (rgb[i * 3 + channel] as number) / 255;
    }
  }
  return planes;
}

/**
 * A picture as CLIP's input in open_clip: Pillow's bicubic resize (a square needs no crop),
 * normalised.
 * @param rgb 1024 x 1024 x RGB.
 * @returns Channel x height x width.
 */
export function clipInput(rgb: Uint8Array): Float32Array {
  const bytes = bicubicBytes(rgb, PICTURE_SIDE, CLIP_SIDE);
  const count = CLIP_SIDE * CLIP_SIDE;
  return Float32Array.from({ length: 3 * count }, (_, i) => {
    const channel = Math.floor(i / count);
    const value = (bytes[(i % count) * 3 + channel] as number) / 255;
    return (value - (CLIP_MEAN[channel] as number)) / (CLIP_DEVIATION[channel] as number);
  });
}

/** Pillow's fixed-point unit: 22 fraction bits for weights. */
const WEIGHT_UNIT: number = 2 ** 22;

/**
 * Pillow's BICUBIC reduction of a square: columns first, then rows, each rounded to bytes. Source:
 * Pillow, src/libImaging/Resample.c.
 */
export function bicubicBytes(rgb: Uint8Array, side: number, targetSide: number): Uint8Array {
  const taps = bicubicTaps(side, targetSide);
  const narrow = new Uint8Array(side * targetSide * 3);
  const small = new Uint8Array(targetSide * targetSide * 3);
  for (let row = 0; row < side; row += 1) {
    const [from, to] = [row * side * 3, row * targetSide * 3];
    resampleLine(rgb, { from, step: 3 }, narrow, { from: to, step: 3 }, taps);
  }
  for (let column = 0; column < targetSide; column += 1) {
    const line = { from: column * 3, step: targetSide * 3 };
    resampleLine(narrow, line, small, line, taps);
  }
  return small;
}

/** Memory layout of a line's pixels. */
interface Line {
  readonly from: number;
  readonly step: number;
}

type Taps = readonly { readonly first: number; readonly weights: readonly number[] }[];

function resampleLine(
  source: Uint8Array,
  sourceLine: Line,
  target: Uint8Array,
  targetLine: Line,
  taps: Taps,
): void {
  for (const [i, { first, weights }] of taps.entries()) {
    for (let channel = 0; channel < 3; channel += 1) {
      let sum = WEIGHT_UNIT / 2;
      let at = sourceLine.from + first * sourceLine.step + channel;
      for (const weight of weights) {
        sum += weight * (source[at] as number);
        at += sourceLine.step;
      }
      const value = Math.min(Math.max(Math.floor(sum / WEIGHT_UNIT), 0), 255);
      target[targetLine.from + i * targetLine.step + channel] = value;
    }
  }
}

function bicubicTaps(side: number, targetSide: number): Taps {
  const scale = side / targetSide;
  const support = 2 * scale;
  return Array.from({ length: targetSide }, (_, i) => {
    const centre = (i + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const end = Math.min(side, Math.trunc(centre + support + 0.5));
    const shares = Array.from({ length: end - first }, (_, k) =>
      bicubic((first + k - centre + 0.5) / scale),
    );
    const total = shares.reduce((sum, share) => sum + share, 0);
    // Halves are rounded away from zero.
    const weights = shares.map((share) => {
      const weight = (share / total) * WEIGHT_UNIT;
      return Math.trunc(weight + (weight < 0 ? -0.5 : 0.5));
    });
    return { first, weights };
  });
}

/** The cubic of Keys with a = -0.5. */
function bicubic(distance: number): number {
  const x = Math.abs(distance);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}
