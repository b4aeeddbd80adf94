import assert from 'node:assert';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import {
  elementCount,
  type NamedTensor,
  OIP_ELEMENT_BYTES,
  type OipDataType,
  type OipTensor,
} from '../../../shared/domain/tensors.ts';
import { SYNTHETIC_BYTES_MAX } from '../../../shared/rules/cards/synthetic.ts';
import { toSmallFloat } from './small-float.ts';
import { type TensorDataSet, tensorDataSet } from './tensor-data-set.ts';

/** Default number of samples of random data or of zeros. */
export const MADE_UP_COUNT_DEFAULT = 256;
/** Default seed of random data, so that runs are repeatable. */
export const MADE_UP_SEED_DEFAULT = 1;

/** Kind, seed and number of made-up samples. */
interface MadeUpSet {
  readonly kind: 'random' | 'zeros';
  /** 32 bits. */
  readonly seed: number;
  readonly sampleCount: number;
}

/**
 * Samples generated when loaded: sample i is the i-th sequence of the seed, so a larger set starts
 * with a smaller one. All have the same shape and length.
 * @param inputs Inputs of one sample, with all lengths known (requireKnownShapes).
 * @throws MlperfError `ERR_CONFIG_INVALID` if a sample would be too large.
 */
export function madeUpDataSet(
  inputs: readonly OipTensor[],
  { kind, seed, sampleCount }: MadeUpSet,
): TensorDataSet {
  const bytes = inputs.reduce(
    (sum, { datatype, shape }) => sum + madeUpBytes(datatype, elementCount(shape), kind),
    0,
  );
  if (bytes > SYNTHETIC_BYTES_MAX) {
    throw configInvalid(
      `--data ${kind}: a sample would have ${bytes} bytes; ${SYNTHETIC_BYTES_MAX} are the most`,
    );
  }
  const sampleTensors = (sampleIndex: number): Promise<readonly NamedTensor[]> => {
    assert(sampleIndex < sampleCount);
    const random = new SeededRandom(seed, sampleIndex);
    const tensors = inputs.map(({ name, datatype, shape }) => {
      const count = elementCount(shape);
      const raw =
        kind === 'random'
          ? randomContents(datatype, count, random)
          : new Uint8Array(madeUpBytes(datatype, count, kind));
      return { name, datatype, shape, raw };
    });
    return Promise.resolve(tensors);
  };
  return tensorDataSet({
    name: kind,
    folder: '',
    totalSampleCount: sampleCount,
    marks: [`the samples are generated (--data ${kind}): no accuracy of this run means anything`],
    isUniform: true,
    sampleTensors,
  });
}

/** Bytes of each generated text; equal, so that all samples are equally long. */
const TEXT_BYTES = 16;
/** Length prefix of a BYTES element. */
const LENGTH_BYTES = 4;
const TEXT_LETTERS = Buffer.from('abcdefghijklmnopqrstuvwxyz 0123456789');

/** Largest generated integer: valid as token id or index in nearly every model. */
const WHOLE_NUMBER_MAX = 99;

/** Draws one element into its position. */
type Draw = (view: DataView, at: number, random: SeededRandom) => void;

const drawByte: Draw = (view, at, random) => view.setUint8(at, random.nextUint32() & 0xff);

/**
 * Generators by datatype. 8-bit integers use their whole range, as in images; larger integers are
 * mostly indices. Floating-point numbers are uniform in [0, 1), in steps that the type holds
 * exactly, so that none is rounded to 1: sequences are bit-identical on every machine.
 */
const DRAWS: Readonly<Record<Exclude<OipDataType, 'BYTES'>, Draw>> = {
  BOOL: (view, at, random) => view.setUint8(at, random.nextUint32() >>> 31),
  UINT8: drawByte,
  INT8: drawByte,
  UINT16: (view, at, random) => view.setUint16(at, wholeNumber(random), true),
  INT16: (view, at, random) => view.setUint16(at, wholeNumber(random), true),
  UINT32: (view, at, random) => view.setUint32(at, wholeNumber(random), true),
  INT32: (view, at, random) => view.setUint32(at, wholeNumber(random), true),
  // The upper half stays 0.
  UINT64: (view, at, random) => view.setUint32(at, wholeNumber(random), true),
  INT64: (view, at, random) => view.setUint32(at, wholeNumber(random), true),
  FP16: (view, at, random) => setSmall(view, at, (random.nextUint32() >>> 21) / 2 ** 11, 'FP16'),
  BF16: (view, at, random) => setSmall(view, at, (random.nextUint32() >>> 24) / 2 ** 8, 'BF16'),
  FP32: (view, at, random) => view.setFloat32(at, (random.nextUint32() >>> 8) / 2 ** 24, true),
  FP64: (view, at, random) => {
    const high = random.nextUint32() >>> 5;
    const low = random.nextUint32() >>> 6;
    view.setFloat64(at, (high * 2 ** 26 + low) / 2 ** 53, true);
  },
};

/** Raw contents of a generated tensor. @param kind With zeros, texts are empty. */
export function madeUpBytes(
  datatype: OipDataType,
  elementCount: number,
  kind: 'random' | 'zeros',
): number {
  if (datatype !== 'BYTES') return elementCount * OIP_ELEMENT_BYTES[datatype];
  return elementCount * (LENGTH_BYTES + (kind === 'random' ? TEXT_BYTES : 0));
}

/** Raw contents of random elements. */
function randomContents(
  datatype: OipDataType,
  elementCount: number,
  random: SeededRandom,
): Uint8Array {
  const raw = new Uint8Array(madeUpBytes(datatype, elementCount, 'random'));
  const view = new DataView(raw.buffer);
  const step = raw.length / elementCount;
  const draw = datatype === 'BYTES' ? drawText : DRAWS[datatype];
  for (let at = 0; at < raw.length; at += step) draw(view, at, random);
  return raw;
}

function drawText(view: DataView, at: number, random: SeededRandom): void {
  view.setUint32(at, TEXT_BYTES, true);
  for (let i = 0; i < TEXT_BYTES; i += 1) {
    const letter = TEXT_LETTERS[random.integerBelow(TEXT_LETTERS.length)] as number;
    view.setUint8(at + LENGTH_BYTES + i, letter);
  }
}

function wholeNumber(random: SeededRandom): number {
  return random.integerBelow(WHOLE_NUMBER_MAX + 1);
}

/** @param value Below 1, so that the type can hold it. */
function setSmall(view: DataView, at: number, value: number, form: 'FP16' | 'BF16'): void {
  view.setUint16(at, toSmallFloat(value, form) as number, true);
}
