import { basename, dirname, extname, resolve } from 'node:path';
import { type Document, isMap, isNode, isScalar } from 'yaml';
import { z } from 'zod';
import {
  configFileError,
  configInvalid,
  describeSystemError,
  modelError,
} from '../../shared/base/errors/mlperf-error.ts';
import { inOurWords } from '../../shared/base/files/json-form.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../shared/base/files/read-file.ts';
import { parseGoodYaml } from '../../shared/base/files/yaml-text.ts';
import type { BenchmarkRules } from '../../shared/rules/rows/benchmark-card.ts';
import type { ModelFiles, ModelParts, ReferenceModel } from './model-file.ts';

/** Models that a benchmark can have. */
export interface BenchmarkModels {
  readonly rules: BenchmarkRules;
  /**
   * Models made by longhaul: word of `--model` → the model's name in logs and on the wire. The
   * first one is the default, unless there is a {@link reference}.
   */
  readonly builtInModels: Readonly<Record<string, string>>;
  /** The model required by the rules, which the user provides; undefined if there is none. */
  readonly reference: ReferenceModel | undefined;
  /** Names of a model's files; absent for models of one file. */
  readonly parts?: readonly string[];
}

/** Source of a model: made by longhaul, or a file of the user's. */
export type ModelSource = {
  readonly name: string;
  /** Settings of its description; empty without a description. */
  readonly usage: ModelUsage;
} & (
  | { readonly builtIn: string; readonly file: undefined }
  | ({ readonly builtIn: undefined } & ModelFiles)
);

/**
 * Resolves `--model`: one of the benchmark's own words, a model file, or its description.
 * @throws MlperfError `ERR_MODEL` if no model is named and the rules require one that longhaul does
 * not have; `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` for an invalid description
 */
export function modelSource(benchmark: BenchmarkModels, model: string | undefined): ModelSource {
  const { builtInModels, reference, rules, parts } = benchmark;
  if (model === undefined) {
    const [first] = Object.entries(builtInModels);
    if (reference !== undefined || first === undefined) {
      const words = Object.keys(builtInModels).map((word) => `, or --model ${word}`);
      throw modelError(
        `benchmark ${rules.key} needs a model: --model ${fileWord(parts)}${words.join('')}` +
          `${reference === undefined ? '' : `; ${reference.howToGet}`}`,
      );
    }
    return { builtIn: first[0], name: first[1], usage: {}, file: undefined };
  }
  const builtInName = Object.hasOwn(builtInModels, model) ? builtInModels[model] : undefined;
  if (builtInName !== undefined) {
    return { builtIn: model, name: builtInName, usage: {}, file: undefined };
  }
  if (isDescription(model)) {
    const described = readModelDescription(model);
    checkParts(benchmark, model, described.parts);
    return { builtIn: undefined, ...described };
  }
  checkParts(benchmark, model, undefined);
  return { builtIn: undefined, name: basename(model, extname(model)), usage: {}, file: model };
}

function fileWord(parts: readonly string[] | undefined): string {
  return parts === undefined ? 'FILE' : `FILE.yaml (its key parts: ${parts.join(', ')})`;
}

/** @throws MlperfError `ERR_MODEL` if the model's files differ from the benchmark's. */
function checkParts(
  { rules, parts, builtInModels }: BenchmarkModels,
  model: string,
  found: ModelParts | undefined,
): void {
  const names = Object.keys(found ?? {});
  const isFit =
    parts === undefined
      ? found === undefined
      : parts.length === names.length && parts.every((part) => names.includes(part));
  if (isFit) return;
  const wanted = [fileWord(parts), ...Object.keys(builtInModels)].join(' or ');
  const has = found === undefined ? 'is neither' : `has the parts ${names.join(', ')}`;
  throw modelError(`benchmark ${rules.key} takes --model ${wanted}; ${model} ${has}`);
}

/** File name extensions of descriptions; anything else is a model. */
const EXTENSIONS = ['.yaml', '.yml'];

const word = (what: string): z.ZodString =>
  z
    .string(`must be ${what}`)
    .trim()
    .min(1, 'must not be empty')
    .regex(/^\P{Cc}*$/u, 'must not hold control characters');

const oneOf = <const T extends readonly string[]>(words: T) =>
  z.enum(words, { error: `must be one of: ${words.join(', ')}` });

const PATH_WORDS = 'the path of an ONNX file, relative to this file';

const AXIS_MESSAGE = 'must be the length of an axis, a whole number of 0 or more';

/** The file, key by key; missing keys default to the benchmark's or the model's values. */
const DESCRIPTION = z.strictObject({
  name: word('the name of the model').exactOptional(),
  model: word(PATH_WORDS).exactOptional(),
  /** Replaces `model`: the files of a model of several, by the benchmark's names. */
  parts: z
    .record(
      z.string().regex(/^[\w.-]+$/),
      word(PATH_WORDS),
      'must be a map: the name of each part (of letters, digits, _, - and .), and the path of its ONNX file',
    )
    .exactOptional(),
  /** Inputs to fill, in payload order; a shape is that of one sample. */
  inputs: z
    .array(
      z.strictObject({
        name: word('the name of an input'),
        shape: z
          .array(
            z.int(AXIS_MESSAGE).min(0, AXIS_MESSAGE),
            'must be a list of lengths, [3, 224, 224]',
          )
          .readonly()
          .exactOptional(),
      }),
      'must be a list of inputs, each with its name',
    )
    .min(1, 'must name an input')
    .refine(
      (inputs) => new Set(inputs.map(({ name }) => name)).size === inputs.length,
      'must not name an input twice',
    )
    .readonly()
    .exactOptional(),
  preprocess: oneOf(['tensor', 'imagenet-vgg', 'imagenet-mobilenet']).exactOptional(),
  postprocess: oneOf(['raw', 'class']).exactOptional(),
  /** Name of the output for the post-processor. */
  output: word('the name of an output').exactOptional(),
  /** Added to a class from the model: -1 if class 0 is the background. */
  classOffset: z.int('must be a whole number').exactOptional(),
  response: oneOf(['float32', 'int32', 'int64']).exactOptional(),
  batchAxis: z
    .union([z.literal(0), z.literal('none')], { error: 'must be 0 or none' })
    .exactOptional(),
  /**
   * Samples of different lengths in a free axis: never in one batch, or padded with zeros to the
   * longest.
   */
  freeAxes: oneOf(['group', 'pad']).exactOptional(),
});

/**
 * Usage of a model from its description file; plain data, since it is sent to workers. Undefined
 * values: the benchmark or the model decides.
 */
export type ModelUsage = Readonly<Omit<z.infer<typeof DESCRIPTION>, 'name' | 'model' | 'parts'>>;

/** A model that is described. */
interface Described extends ModelFiles {
  readonly name: string;
  readonly usage: ModelUsage;
}

/** True for a description file, false for a model file. */
function isDescription(path: string): boolean {
  return EXTENSIONS.includes(extname(path).toLowerCase());
}

/**
 * Reads a model's description: its name on the wire and in logs, the paths of its ONNX files, and
 * its usage (docs/models.md shows one).
 * @throws MlperfError `ERR_MODEL` (unreadable), `ERR_CONFIG_FILE` (not YAML), `ERR_CONFIG_INVALID`
 * listing all faults with their lines.
 */
export function readModelDescription(path: string): Described {
  let text: string;
  try {
    text = readBoundedText(path, FILE_BYTES_MAX.settings);
  } catch (error) {
    const why = describeSystemError(error);
    throw modelError(`model description ${path}: ${why}`, error);
  }
  const { document, placeOf } = parseGoodYaml(path, text);
  if (!isMap(document.contents)) {
    const keys = Object.keys(DESCRIPTION.shape).join(', ');
    throw configFileError(`${path}:1:1: a map is expected here: ${keys}`);
  }
  const checked = DESCRIPTION.safeParse(document.toJS(), { error: inOurWords });
  if (!checked.success) {
    const problems = checked.error.issues.flatMap((issue) => describeIssue(issue, document));
    const inOrder = problems.sort((a, b) => a.offset - b.offset);
    const texts = inOrder.map(({ offset, text: problem }) => `${placeOf(offset)}: ${problem}`);
    throw configInvalid(texts.join('\n'));
  }
  const { name, model, parts, ...usage } = checked.data;
  if ((model === undefined) === (parts === undefined)) {
    const which = model === undefined ? '"model" is missing' : 'has both "model" and "parts"';
    throw configInvalid(
      `${placeOf(0)}: ${which}: give either model, ${PATH_WORDS}, or, if the model has several files, parts, with such a path for each name`,
    );
  }
  const fileOf = (own: string): string => resolve(dirname(path), own);
  const file = model === undefined ? resolve(path) : fileOf(model);
  const named = { name: name ?? basename(file, extname(file)), file, usage };
  if (parts === undefined) return named;
  const files = Object.entries(parts).map(([part, own]) => [part, fileOf(own)]);
  return { ...named, parts: Object.fromEntries(files) as ModelParts };
}

/** A fault and its position in the text. */
interface Problem {
  readonly offset: number;
  readonly text: string;
}

/** One problem per unknown key and wrong value: which key, which value, what would be right. */
function describeIssue(issue: z.core.$ZodIssue, document: Document): Problem[] {
  const path = issue.path as (string | number)[]; // YAML has no symbols.
  if (issue.code === 'unrecognized_keys') {
    const known = path.length === 0 ? Object.keys(DESCRIPTION.shape) : ['name', 'shape'];
    return issue.keys.map((key) => ({
      offset: keyOffset(document, path, key),
      text: `unknown key "${[...path, key].join('.')}"; there is: ${known.join(', ')}`,
    }));
  }
  const node = document.getIn(path, true);
  const name = path.join('.');
  if (!isNode(node)) {
    // A missing key: report the position of its parent.
    const parent = document.getIn(path.slice(0, -1), true);
    const offset = isNode(parent) ? (parent.range?.[0] ?? 0) : 0;
    return [{ offset, text: `"${name}" is needed: it ${issue.message}` }];
  }
  const value = JSON.stringify(node.toJS(document));
  return [{ offset: node.range?.[0] ?? 0, text: `${name}: ${value} ${issue.message}` }];
}

function keyOffset(document: Document, path: readonly (string | number)[], key: string): number {
  const map = path.length === 0 ? document.contents : document.getIn(path, true);
  if (!isMap(map)) return 0;
  const pair = map.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
  return isScalar(pair?.key) ? (pair.key.range?.[0] ?? 0) : 0;
}

/** Files of a model made by longhaul. @param path Path of the model, or of its description. */
export function modelFiles(path: string): ModelFiles {
  return isDescription(path) ? readModelDescription(path) : { file: path };
}
