import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import {
  ELEMENT_TYPES,
  type ElementType,
  type InputTensor,
  type OutputTensor,
  type RunModel,
  type TensorElements,
} from '../../model/model-facts.ts';
import { BeamSearch } from './beam-search.ts';
import {
  type DecoderInput,
  LOG_PROBS,
  NEXT,
  PARTS,
  SOURCE_IDS,
  SOURCE_LENGTHS,
  TOKEN_IDS,
  type TranslationGraphs,
} from './graph-interface.ts';
import { END_ID, START_ID } from './vocabulary.ts';

/** Beams per sentence. Source: r0.5, translation/gnmt, standard_hparams/wmt16_gnmt_4_layer.json. */
const BEAM_WIDTH = 10;

/**
 * Steps of the decoder per token of the sentence. Source: the same folder, nmt/model.py,
 * decoding_length_factor.
 */
const STEPS_PER_TOKEN = 2;

/** A sentence in translation. */
interface Work {
  readonly search: BeamSearch;
  /** Index in the encoder's batch. */
  readonly place: number;
}

/**
 * Translates sentences together: the encoder runs once, padded to the longest, then the decoder
 * step by step, with a row per unfinished beam. Each sentence ends by itself, with the same result
 * as alone.
 * @param sentences Token ids of each, one or more.
 * @param targetSize Tokens of the target vocabulary.
 * @returns Token ids of each translation.
 * @throws Error of the model; MlperfError `ERR_MODEL` for outputs of another shape.
 */
export async function translate(
  sentences: readonly (readonly number[])[],
  graphs: TranslationGraphs,
  targetSize: number,
  run: RunModel,
): Promise<number[][]> {
  const encoded = await encode(sentences, graphs, run);
  const searches = sentences.map(
    ({ length }) =>
      new BeamSearch({
        width: BEAM_WIDTH,
        startToken: START_ID,
        endToken: END_ID,
        stepsMax: STEPS_PER_TOKEN * length,
      }),
  );
  let active: Work[] = searches.map((search, place) => ({ search, place }));
  /** By row: its parent in the last step; before the first step its row in the encoder's batch. */
  let parents = active.map(({ place }) => place);
  let outputs: ReadonlyMap<string, OutputTensor> | undefined;
  const fixed = new Repeated();
  while (active.length > 0) {
    const places = active.flatMap(({ search, place }) => search.tokens.map(() => place));
    const tokens = active.flatMap(({ search }) => search.tokens);
    const inputs = graphs.decoderInputs.map((input): InputTensor => {
      const first = encoded.get(input.name);
      // Checked with the model.
      if (!input.isState) return fixed.tensor(input, first as OutputTensor, places);
      const last = outputs?.get(`${PARTS.decoder}/${NEXT}${input.name}`) ?? first;
      return last === undefined ? zeros(input, places.length) : rowsOf(input, last, parents);
    });
    outputs = await run(
      [
        idTensor(`${PARTS.decoder}/${TOKEN_IDS}`, graphs.tokenType, tokens, [tokens.length]),
        ...inputs,
      ],
      [LOG_PROBS, ...stateOutputs(graphs)].map((name) => `${PARTS.decoder}/${name}`),
    );
    const scores = scoresOf(outputs, tokens.length, targetSize);
    let firstRow = 0;
    const nextParents: number[] = [];
    for (const { search } of active) {
      const count = search.tokens.length;
      const own = search.advance(scores, firstRow, targetSize);
      for (const parent of own) nextParents.push(firstRow + parent);
      firstRow += count;
    }
    parents = nextParents;
    active = active.filter(({ search }) => search.tokens.length > 0);
  }
  return searches.map((search) => search.result());
}

function stateOutputs({ decoderInputs }: TranslationGraphs): string[] {
  return decoderInputs.filter(({ isState }) => isState).map(({ name }) => NEXT + name);
}

/** Outputs of the encoder, by the names of the decoder's inputs. */
async function encode(
  sentences: readonly (readonly number[])[],
  { sourceType, lengthType, encoderOutputs }: TranslationGraphs,
  run: RunModel,
): Promise<ReadonlyMap<string, OutputTensor>> {
  const lengths = sentences.map(({ length }) => length);
  const longest = Math.max(...lengths);
  const ids = sentences.flatMap((sentence) => [
    ...sentence,
    ...new Array<number>(longest - sentence.length).fill(END_ID),
  ]);
  const dims = [sentences.length, longest];
  const lengthInput = idTensor(`${PARTS.encoder}/${SOURCE_LENGTHS}`, lengthType, lengths, [
    lengths.length,
  ]);
  const found = await run(
    [idTensor(`${PARTS.encoder}/${SOURCE_IDS}`, sourceType, ids, dims), lengthInput],
    encoderOutputs.map((name) => `${PARTS.encoder}/${name}`),
  );
  const encoded = new Map<string, OutputTensor>([[SOURCE_LENGTHS, lengthInput]]);
  for (const name of encoderOutputs) {
    const output = found.get(`${PARTS.encoder}/${name}`) as OutputTensor; // The model returns all of them, or throws.
    if (output.dims[0] !== sentences.length) {
      throw modelError(
        `output "${name}" of the encoder has the shape [${output.dims.join(', ')}] for ${sentences.length} sentences: the first axis must be theirs`,
      );
    }
    encoded.set(name, output);
  }
  return encoded;
}

/** @throws MlperfError `ERR_MODEL` for another shape. */
function scoresOf(
  outputs: ReadonlyMap<string, OutputTensor>,
  rows: number,
  targetSize: number,
): Float32Array {
  const { data, dims } = outputs.get(`${PARTS.decoder}/${LOG_PROBS}`) as OutputTensor;
  const [rowsFound, size] = dims;
  if (data instanceof Float32Array && rowsFound === rows && size === targetSize) return data;
  throw modelError(
    `output "${LOG_PROBS}" of the decoder has the shape [${dims.join(', ')}] for ${rows} beams; ` +
      `[${rows}, ${targetSize}] is needed, the tokens of the target vocabulary`,
  );
}

function idTensor(
  name: string,
  elementType: string,
  ids: readonly number[],
  dims: readonly number[],
): InputTensor {
  const data = elementType === 'int64' ? BigInt64Array.from(ids, BigInt) : Int32Array.from(ids);
  return { name, elementType, data, dims };
}

function elementsOf(elementType: string, count: number): TensorElements {
  const { bytes, view } = ELEMENT_TYPES.get(elementType) as ElementType; // Checked with the model.
  return view(new ArrayBuffer(count * bytes), 0, count);
}

function zeros({ name, elementType, shape }: DecoderInput, rows: number): InputTensor {
  const dims = [rows, ...shape.slice(1)];
  const count = dims.reduce((product, length) => product * length, 1);
  return {
    name: `${PARTS.decoder}/${name}`,
    elementType,
    data: elementsOf(elementType, count),
    dims,
  };
}

/** The requested rows of a tensor, in this order. */
function rowsOf(
  { name, elementType }: DecoderInput,
  { data, dims }: OutputTensor,
  rows: readonly number[],
): InputTensor {
  const [count = 0, ...rest] = dims;
  const input = { name: `${PARTS.decoder}/${name}`, elementType, dims: [rows.length, ...rest] };
  if (rows.length === count && rows.every((row, i) => row === i)) return { ...input, data };
  const rowBytes = data.byteLength / count;
  const from = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const gathered = elementsOf(elementType, (data.length / count) * rows.length);
  const to = new Uint8Array(gathered.buffer);
  for (const [i, row] of rows.entries()) {
    to.set(from.subarray(row * rowBytes, (row + 1) * rowBytes), i * rowBytes);
  }
  return { ...input, data: gathered };
}

/**
 * Tensors that are constant over the steps, one row per beam: rebuilt only when a sentence's number
 * of beams changes.
 */
class Repeated {
  #places: readonly number[] = [];
  readonly #tensors = new Map<string, InputTensor>();

  tensor(input: DecoderInput, source: OutputTensor, places: readonly number[]): InputTensor {
    const isSame =
      places.length === this.#places.length &&
      places.every((place, i) => place === this.#places[i]);
    if (!isSame) {
      this.#tensors.clear();
      this.#places = places;
    }
    const known = this.#tensors.get(input.name);
    if (known !== undefined) return known;
    const made = rowsOf(input, source, places);
    this.#tensors.set(input.name, made);
    return made;
  }
}
