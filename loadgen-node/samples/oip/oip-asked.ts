import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { isOipDataType, type OipTensor } from '../../../shared/domain/tensors.ts';
import type { OipMethod } from '../../../shared/wire/oip/request-plan.ts';
import type { OipContents } from './request-fields.ts';

/** Settings of a run over the Open Inference Protocol, before any server is asked. */
export interface OipAsked extends InputsAsked {
  readonly method: OipMethod | 'auto';
  readonly contents: OipContents | 'auto';
  /** Samples of one query in one request. */
  readonly samplesPerRequest: number;
  /** Undefined: the samples are the benchmark's. */
  readonly data: DataSource | undefined;
  readonly dataSeed: number | undefined;
  readonly dataCount: number | undefined;
  /** False: the model's inputs choose among the benchmark's encodings. */
  readonly isEncodingSaid: boolean;
}

/** Samples of `--data`, for nodes that speak longhaul's own protocol. */
export interface DataAsked extends Pick<OipAsked, 'inputShapes' | 'dataSeed' | 'dataCount'> {
  readonly data: DataSource;
}

/** Lengths of the axes of one sample by name of the input, as `--input-shape` says them; -1: any. */
export type InputShapes = ReadonlyMap<string, readonly number[]>;

/** Content of `--input-shape`. */
export interface InputsAsked {
  /** Of inputs that the server tells, or that are declared. */
  readonly inputShapes: InputShapes;
  /** Inputs as the server's metadata would have them: an axis that counts samples is the first one, and -1. */
  readonly declaredInputs: readonly OipTensor[];
}

/** Longest accepted axis. */
const LENGTH_MAX: number = 2 ** 31 - 1;

const FORMS =
  'must be NAME:LENGTHxLENGTH..., as in image:3x224x224, or NAME:DATATYPE:LENGTHxLENGTH..., as in image:FP32:-1x3x224x224';

/**
 * Reads shapes such as `NAME:3x224x224`, and declarations such as `NAME:FP32:-1x3x224x224`; `NAME:` is the shape of a single
 * number. Names may have colons in them: the last one counts, or the last two around a datatype.
 * @throws MlperfError `ERR_CONFIG_INVALID` naming the malformed text.
 */
export function parseInputShapes(texts: readonly string[]): InputsAsked {
  const inputShapes = new Map<string, readonly number[]>();
  const declared = new Map<string, OipTensor>();
  for (const text of texts) {
    const declaration = declaredInput(text);
    const { name, shape } = declaration ?? inputShape(text);
    const known: ReadonlyMap<string, unknown> = declaration === undefined ? inputShapes : declared;
    if (known.has(name)) throw configInvalid(`--input-shape names ${name} twice`);
    if (declaration === undefined) inputShapes.set(name, shape);
    else declared.set(name, declaration);
  }
  return { inputShapes, declaredInputs: [...declared.values()] };
}

/** Undefined for a text without a datatype before its lengths. */
function declaredInput(text: string): OipTensor | undefined {
  const [, name, datatype, axes] =
    /^(.+):([^:]+):((?:(?:\d+|-1)(?:x(?:\d+|-1))*)?)$/s.exec(text) ?? [];
  if (name === undefined || datatype === undefined || axes === undefined) return undefined;
  return isOipDataType(datatype) ? { name, datatype, shape: lengthsOf(axes, text) } : undefined;
}

function inputShape(text: string): Pick<OipTensor, 'name' | 'shape'> {
  const [, name, axes] = /^(.+):((?:(?:\d+|-1)(?:x(?:\d+|-1))*)?)$/s.exec(text) ?? [];
  if (name === undefined || axes === undefined) {
    throw configInvalid(`--input-shape ${text}: ${FORMS}`);
  }
  return { name, shape: lengthsOf(axes, text) };
}

function lengthsOf(axes: string, text: string): number[] {
  const lengths = axes === '' ? [] : axes.split('x').map(Number);
  if (lengths.every((length) => length === -1 || (length >= 0 && length <= LENGTH_MAX))) {
    return lengths;
  }
  throw configInvalid(
    `--input-shape ${text}: an axis has a length from 0 to ${LENGTH_MAX}, or -1: the samples bring it`,
  );
}

/** Where samples come from, as `--data` says it. */
export type DataSource =
  | { readonly kind: 'random' }
  | { readonly kind: 'zeros' }
  | { readonly kind: 'npy'; readonly folder: string }
  | { readonly kind: 'jsonl'; readonly file: string };

/** Forms of `--data`, for people. */
export const DATA_SOURCE_FORM = 'random|zeros|npy:DIR|jsonl:FILE';

/** @throws MlperfError `ERR_CONFIG_INVALID` that says what there is. */
export function parseDataSource(text: string): DataSource {
  if (text === 'random' || text === 'zeros') return { kind: text };
  const [, kind, path] = /^(npy|jsonl):(.+)$/s.exec(text) ?? [];
  if (path !== undefined) {
    return kind === 'npy' ? { kind, folder: path } : { kind: 'jsonl', file: path };
  }
  throw configInvalid(`--data ${text}: must be ${DATA_SOURCE_FORM}`);
}
