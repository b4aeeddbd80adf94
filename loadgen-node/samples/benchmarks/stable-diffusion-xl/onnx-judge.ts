import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isatty } from 'node:tty';
import { isMainThread } from 'node:worker_threads';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import {
  dataSetError,
  errorCodeOf,
  MlperfError,
  messageOf,
  notInstalled,
} from '../../../../shared/base/errors/mlperf-error.ts';
import { absentOnnxRuntimeText } from '../../../../shared/host/component-versions.ts';
import { PICTURE_SIDE, PROMPT_TOKENS } from '../../../../shared/rules/cards/stable-diffusion-xl.ts';
import { readingFile } from '../../data-set/data-set.ts';
import { readNpzDoubles } from '../../tensors/npy/npz-doubles.ts';
import type { ClipTokenizer } from './clip-tokenizer.ts';
import type { PictureJudge } from './picture-score.ts';
import { CLIP_SIDE, clipInput, planesOf } from './resize-picture.ts';

/** Files for scoring pictures, in the data set's folder; only scoring needs them. */
export const JUDGE_FILES = {
  inception: 'inception.onnx',
  clip: 'clip.onnx',
  statistics: 'val2014.npz',
} as const;

/**
 * Scores pictures with the user's ONNX files, in this process.
 * @throws MlperfError `ERR_NOT_INSTALLED` if ONNX Runtime or a file is missing; `ERR_DATA_SET`
 *   for an unsuitable file.
 */
export async function openOnnxJudge(
  folder: string,
  tokenizer: ClipTokenizer,
): Promise<PictureJudge> {
  const path = (file: keyof typeof JUDGE_FILES): string => join(folder, JUDGE_FILES[file]);
  const statistics = (await readJudgeFile(path('statistics'))).line;
  const [mean, covariance] = (await readNpzDoubles(path('statistics'), ['mu', 'sigma'])) as [
    Float64Array,
    Float64Array,
  ];
  if (mean.length === 0 || covariance.length !== mean.length ** 2) {
    throw dataSetError(
      `${path('statistics')}: mu has ${mean.length} numbers and sigma ${covariance.length}; sigma must have their square`,
    );
  }
  const inception = await openModel(path('inception'));
  const [input = ''] = inception.session.inputNames;
  inception.requireTensors({ [input]: ['float32', [1, ...PICTURE_SHAPE]] }, [input], []);
  const clip = await openModel(path('clip'));
  clip.requireTensors(CLIP_INPUTS, ['input_ids', 'pixel_values'], CLIP_OUTPUTS);
  return {
    lines: [statistics, ...inception.lines, ...clip.lines],
    reference: { mean, covariance },
    features: async (rgb) => {
      const picture: Feed = { type: 'float32', data: planesOf(rgb), dims: [1, ...PICTURE_SHAPE] };
      const found = await inception.run({ [input]: picture });
      const features = found[inception.session.outputNames[0] as string];
      return inception.floats(features, mean.length);
    },
    cosine: async (caption, rgb) => {
      const found = await clip.run(clipFeeds(clip.session, tokenizer.idsOf(caption), rgb));
      const [text, picture] = CLIP_OUTPUTS.map((name) => clip.floats(found[name], undefined)) as [
        Float32Array,
        Float32Array,
      ];
      if (text.length === picture.length) return cosineOf(text, picture);
      throw dataSetError(
        `${path('clip')}: text_embeds has ${text.length} values and image_embeds ${picture.length}; both must have the same length`,
      );
    },
    close: async () => {
      await inception.session.release();
      await clip.session.release();
    },
  };
}

/** Input shape of the official script's Inception: channel, height, width. */
const PICTURE_SHAPE = [3, PICTURE_SIDE, PICTURE_SIDE];

/** Allowed tensors of a graph: element types, comma-separated, and shape. */
type Tensors = Readonly<Record<string, readonly [types: string, shape: readonly number[]]>>;

const CLIP_INPUTS: Tensors = {
  input_ids: ['int32, int64', [1, PROMPT_TOKENS]],
  attention_mask: ['int32, int64', [1, PROMPT_TOKENS]],
  pixel_values: ['float32', [1, 3, CLIP_SIDE, CLIP_SIDE]],
};

const CLIP_OUTPUTS = ['text_embeds', 'image_embeds'] as const;

/**
 * Inputs by name, as Hugging Face optimum exports CLIP: ids and mask of the caption, and the
 * picture's pixels.
 */
function clipFeeds(session: InferenceSession, ids: Int32Array, rgb: Uint8Array) {
  const isWide = session.inputMetadata.some(
    (input) => input.isTensor && input.name === 'input_ids' && input.type === 'int64',
  );
  const integers = (values: Int32Array): Feed =>
    isWide
      ? { type: 'int64', data: BigInt64Array.from(values, BigInt), dims: [1, PROMPT_TOKENS] }
      : { type: 'int32', data: values, dims: [1, PROMPT_TOKENS] };
  // The end token has the largest id; padding follows it.
  const end = ids.indexOf(Math.max(...ids));
  const feeds: Record<string, Feed> = {
    input_ids: integers(ids),
    attention_mask: integers(ids.map((_, i) => (i <= end ? 1 : 0))),
    pixel_values: { type: 'float32', data: clipInput(rgb), dims: [1, 3, CLIP_SIDE, CLIP_SIDE] },
  };
  return Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]]));
}

export function cosineOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, ownA, ownB] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [a[i] as number, b[i] as number];
    product += x * y;
    ownA += x * x;
    ownB += y * y;
  }
  return product / Math.sqrt(ownA * ownB);
}

interface Feed {
  readonly type: 'float32' | 'int32' | 'int64';
  readonly data: Float32Array | Int32Array | BigInt64Array;
  readonly dims: readonly number[];
}

async function openModel(path: string) {
  const { bytes, line } = await readJudgeFile(path);
  const weights = await weightFiles(path, bytes);
  const ort = await loadRuntime();
  const fitting = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dataSetError(`${path}: ${messageOf(error)}`, error);
    }
  };
  const session = await fitting(() =>
    ort.InferenceSession.create(bytes, {
      logSeverityLevel: isatty(2) ? 2 : 4,
      // External weight files are named relative to the model's file.
      extra: { session: { model_external_initializers_file_folder_path: dirname(path) } },
    }),
  );
  return {
    lines: [line, ...weights],
    session,
    /** @throws MlperfError `ERR_DATA_SET` if the graph has other inputs, or lacks an output. */
    requireTensors: (
      inputs: Tensors,
      needed: readonly string[],
      outputs: readonly string[],
    ): void => {
      const own = session.inputMetadata;
      const isFitting =
        own.every((input) => isInput(input, inputs)) &&
        needed.every((name) => session.inputNames.includes(name)) &&
        outputs.every((name) => session.outputNames.includes(name));
      if (isFitting) return;
      const wanted = Object.entries(inputs).map(
        ([name, [types, shape]]) =>
          `${name} (${types} [${shape.join(', ')}])${needed.includes(name) ? '' : ' if any'}`,
      );
      throw dataSetError(
        `${path} does not fit: expected inputs ${wanted.join(', ')}${outputs.length === 0 ? '' : ` and outputs ${outputs.join(', ')}`}; ` +
          `found inputs ${own.map(inWords).join(', ') || 'none'} and outputs ${session.outputNames.join(', ')} (see the README of the benchmark)`,
      );
    },
    run: (feeds: Readonly<Record<string, Feed | undefined>>) =>
      fitting(() => {
        const tensors = Object.entries(feeds).map(([name, feed]) => {
          if (feed === undefined) throw new Error(`input ${name} is not known`);
          return [name, new ort.Tensor(feed.type, feed.data as Tensor['data'], feed.dims)];
        });
        return session.run(Object.fromEntries(tensors) as Record<string, Tensor>);
      }),
    /** @throws MlperfError `ERR_DATA_SET` for an output of another shape. */
    floats: (tensor: Tensor | undefined, length: number | undefined): Float32Array => {
      const data = tensor?.data;
      if (data instanceof Float32Array && (length === undefined || data.length === length)) {
        return data;
      }
      throw dataSetError(
        `${path}: an output is expected that has ${length ?? 'any number of'} values of float32; found ` +
          `${session.outputNames.join(', ')}${tensor === undefined ? '' : ` with [${tensor.dims.join(', ')}]`}`,
      );
    },
  };
}

function isInput(input: InferenceSession.ValueMetadata, inputs: Tensors): boolean {
  const [types, shape] = inputs[input.name] ?? ['', []];
  // A named axis may have any length.
  return (
    input.isTensor &&
    types.split(', ').includes(input.type) &&
    input.shape.length === shape.length &&
    input.shape.every((axis, i) => typeof axis === 'string' || axis < 0 || axis === shape[i])
  );
}

function inWords(input: InferenceSession.ValueMetadata): string {
  return input.isTensor ? `${input.name} (${input.type} [${input.shape.join(', ')}])` : input.name;
}

/** External weight files by the names that exporters use, and the model's line for accuracy.txt. */
async function weightFiles(path: string, model: Uint8Array): Promise<string[]> {
  const names = ['.data', '_data'].map((ending) => `${basename(path)}${ending}`);
  const used = names.filter((name) => Buffer.from(model.buffer, model.byteOffset).includes(name));
  return Promise.all(
    used.map(async (name) => {
      const file = join(dirname(path), name);
      const hash = createHash('sha256');
      await readingFile(file, () => pipeline(createReadStream(file), hash)).catch(asMissing);
      return lineOf(file, hash.digest('hex'));
    }),
  );
}

async function readJudgeFile(path: string) {
  const bytes = await readingFile(path, () => readFile(path)).catch(asMissing);
  return { bytes, line: lineOf(path, createHash('sha256').update(bytes).digest('hex')) };
}

function asMissing(error: unknown): never {
  const hint = 'pictures are scored with it (see the README of the benchmark)';
  throw notInstalled(`${messageOf(error)}; ${hint}`, error);
}

function lineOf(path: string, sha256: string): string {
  return `${path}: SHA-256 ${sha256}`;
}

/** ONNX Runtime without telemetry; reasons in sut-node/model/onnx/onnxruntime.ts. */
async function loadRuntime(): Promise<typeof import('onnxruntime-node')> {
  if (isMainThread) process.env['ORT_DISABLE_TELEMETRY'] = '1';
  try {
    const runtime = await import('onnxruntime-node');
    if (!isatty(2)) runtime.env.logLevel = 'fatal';
    return runtime;
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    const isAbsent = errorCodeOf(error) === 'ERR_MODULE_NOT_FOUND';
    const why = isAbsent ? absentOnnxRuntimeText() : messageOf(error);
    throw notInstalled(`scoring pictures needs ONNX Runtime: ${why}`, error);
  }
}
