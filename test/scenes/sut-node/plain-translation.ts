import type { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';

// GNMT as TensorFlow NMT builds it (gnmt_v2, 4 + 4 layers), in double precision, for one sentence
// and one beam at a time: no batch, no filling, no mask. Weights are drawn in the order of the
// stand-in's graphs.

const LAYERS = 4;
/** The first two layers have no residual connection. */
const RESIDUAL_FROM = 2;

type Vector = readonly number[];

/** Rows of a matrix: a weight of each element of the input. */
type Matrix = readonly Vector[];

/** Cell and output of a layer. */
interface CellState {
  readonly h: Vector;
  readonly c: Vector;
}

/** Sentence as the decoder sees it. */
export interface PlainMemory {
  readonly memory: readonly Vector[];
  readonly keys: readonly Vector[];
}

/** State of a beam. */
export interface PlainState {
  readonly layers: readonly CellState[];
  readonly attention: Vector;
}

/** Weights of an LSTM in ONNX's order of gates: input, output, forget, cell. */
interface Gates {
  readonly ofInput: Matrix;
  readonly ofState: Matrix;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const dot = (a: Vector, b: Vector): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
const add = (a: Vector, b: Vector): number[] => a.map((value, i) => value + (b[i] as number));
const times = (rows: Matrix, x: Vector): number[] => rows.map((row) => dot(row, x));

export class PlainTranslation {
  readonly #units: number;
  readonly #encoder;
  readonly #decoder;

  /** @param spread Factor of all weights but those of the stand-in, which is 1. */
  constructor(
    { units, size, spread = 1 }: { units: number; size: number; spread?: number },
    random: { readonly encoder: SeededRandom; readonly decoder: SeededRandom },
  ) {
    this.#units = units;
    const draw = (of: SeededRandom, rows: number, columns: number, deviation: number): number[][] =>
      Array.from({ length: rows }, () =>
        Array.from({ length: columns }, () => Math.fround(of.nearlyNormal() * deviation * spread)),
      );
    const gates = (of: SeededRandom, directions: number, width: number): Gates[] => {
      const each = (columns: number): Matrix[] =>
        Array.from({ length: directions }, () => draw(of, 4 * units, columns, columns ** -0.5));
      const ofInput = each(width);
      const ofState = each(units);
      return ofInput.map((one, i) => ({ ofInput: one, ofState: ofState[i] as Matrix }));
    };
    /** As MatMul has it: the rows are the input. */
    const turned = (of: SeededRandom, inputs: number, outputs: number): Matrix => {
      const drawn = draw(of, inputs, outputs, inputs ** -0.5);
      return Array.from({ length: outputs }, (_, i) => drawn.map((row) => row[i] as number));
    };
    const { encoder, decoder } = random;
    this.#encoder = {
      embedding: draw(encoder, size, units, 1),
      both: gates(encoder, 2, units) as [Gates, Gates],
      layers: [2 * units, units, units].map((width) => gates(encoder, 1, width)[0] as Gates),
      keys: turned(encoder, units, units),
    };
    this.#decoder = {
      embedding: draw(decoder, size, units, 1),
      first: gates(decoder, 1, 2 * units)[0] as Gates,
      query: turned(decoder, units, units),
      score: turned(decoder, units, 1)[0] as Vector,
      layers: [1, 2, 3].map(() => gates(decoder, 1, 2 * units)[0] as Gates),
      projection: turned(decoder, units, size),
    };
  }

  #zero(): CellState {
    const zeros = new Array<number>(this.#units).fill(0);
    return { h: zeros, c: zeros };
  }

  #cell({ ofInput, ofState }: Gates, x: Vector, { h, c }: CellState): CellState {
    const sums = add(times(ofInput, x), times(ofState, h));
    const units = this.#units;
    const gate = (which: number, i: number): number => sums[which * units + i] as number;
    const next = c.map(
      (value, i) => sigmoid(gate(2, i)) * value + sigmoid(gate(0, i)) * Math.tanh(gate(3, i)),
    );
    return { c: next, h: next.map((value, i) => sigmoid(gate(1, i)) * Math.tanh(value)) };
  }

  #layer(gates: Gates, inputs: readonly Vector[]) {
    let state = this.#zero();
    const outputs = inputs.map((x) => {
      state = this.#cell(gates, x, state);
      return state.h;
    });
    return { outputs, state };
  }

  /**
   * The decoder's first state has the encoder's last ones; of the layer in both directions that of
   * the backward one.
   */
  encode(ids: readonly number[]): { readonly memory: PlainMemory; readonly state: PlainState } {
    const { embedding, both, layers, keys } = this.#encoder;
    const words = ids.map((id) => embedding[id] as Vector);
    const forward = this.#layer(both[0], words);
    const backward = this.#layer(both[1], words.toReversed());
    const back = backward.outputs.toReversed();
    const states = [backward.state];
    let x: Vector[] = forward.outputs.map((output, i) => [...output, ...(back[i] as Vector)]);
    for (const [i, gates] of layers.entries()) {
      const { outputs, state } = this.#layer(gates, x);
      states.push(state);
      const isResidual = i + 1 >= RESIDUAL_FROM;
      x = outputs.map((output, t) => (isResidual ? add(output, x[t] as Vector) : [...output]));
    }
    const state = { layers: states, attention: this.#zero().h };
    return { memory: { memory: x, keys: x.map((row) => times(keys, row)) }, state };
  }

  /**
   * One token further: the first layer's output asks the memory, and all layers above see what it
   * found in the same step.
   */
  step(token: number, { memory, keys }: PlainMemory, { layers, attention }: PlainState) {
    const weights = this.#decoder;
    const first = this.#cell(
      weights.first,
      [...(weights.embedding[token] as Vector), ...attention],
      layers[0] as CellState,
    );
    const asked = times(weights.query, first.h);
    const scores = keys.map((key) => dot(weights.score, add(key, asked).map(Math.tanh)));
    const shares = scores.map((score) => Math.exp(score - Math.max(...scores)));
    const total = shares.reduce((sum, share) => sum + share, 0);
    const found = this.#zero().h.map((_, i) =>
      shares.reduce((sum, share, t) => sum + (share / total) * (memory[t]?.[i] as number), 0),
    );
    const states = [first];
    let x: Vector = first.h;
    for (let layer = 1; layer < LAYERS; layer += 1) {
      const gates = weights.layers[layer - 1] as Gates;
      const state = this.#cell(gates, [...x, ...found], layers[layer] as CellState);
      states.push(state);
      x = layer >= RESIDUAL_FROM ? add(state.h, x) : state.h;
    }
    const logits = times(weights.projection, x);
    const most = Math.max(...logits);
    const sum = Math.log(logits.reduce((all, logit) => all + Math.exp(logit - most), 0));
    const logProbs = Float32Array.from(logits, (logit) => logit - most - sum);
    return { logProbs, state: { layers: states, attention: found } satisfies PlainState };
  }
}
