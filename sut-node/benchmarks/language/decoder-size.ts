/** Numbers per head of a stand-in, and of each part of what stands for a token. */
export const HEAD_WIDTH = 64;

/** Sizes of a stand-in. */
export interface DecoderSize {
  /** 2 or more. */
  readonly layers: number;
  /** Numbers that stand for a token: 5 {@link HEAD_WIDTH} or more. */
  readonly width: number;
  readonly vocabulary: number;
}

/** Weights of a stand-in: of its layers, and the code of each token. */
export function decoderParameters({ layers, width, vocabulary }: DecoderSize): number {
  return 12 * layers * width ** 2 + vocabulary * HEAD_WIDTH;
}

const SMALLEST = { layers: 2, width: 5 * HEAD_WIDTH };
const LARGEST = { layers: 32, width: 4096 };

/** Layers by width of the models that this one stands for, about. */
const LAYERS_PER_WIDTH = 1 / 96;

/** The size with about so many weights, in about the proportions of the real models. */
export function decoderSizeOf(parameters: number, vocabulary: number): DecoderSize {
  let best = { ...SMALLEST, vocabulary };
  let bestDistance = Number.POSITIVE_INFINITY;
  for (let { layers } = SMALLEST; layers <= LARGEST.layers; layers += 1) {
    for (let { width } = SMALLEST; width <= LARGEST.width; width += HEAD_WIDTH) {
      const size = { layers, width, vocabulary };
      const away = Math.abs(Math.log(decoderParameters(size) / parameters));
      const distance = away + Math.abs(Math.log(layers / width / LAYERS_PER_WIDTH)) / 10;
      if (distance >= bestDistance) continue;
      best = size;
      bestDistance = distance;
    }
  }
  return best;
}
