import { stringify } from 'yaml';
import type { ProbedFacts } from '../../../qdl/protocols/index.ts';
import { inputShapeText, resolveInputs } from '../../../shared/domain/input-shapes.ts';
import { elementCount, type OipTensor } from '../../../shared/domain/tensors.ts';
import { flagText } from '../../run/plan/flag-text.ts';
import { madeUpBytes } from '../../samples/tensors/made-up-data-set.ts';

/**
 * A model as described by its server, and the derived facts for a run.
 * @param version Requested version; empty: the server chooses.
 */
export function probedModel(facts: ProbedFacts, version: string): ProbedModel {
  const { hasBatchAxis: isBatch } = facts;
  const inputs = resolveInputs(facts.inputs, new Map(), isBatch).map(withBytes);
  const outputs = facts.outputs.map(({ shape, ...tensor }) =>
    withBytes({ ...tensor, shape: isBatch && shape[0] === -1 ? shape.slice(1) : shape }),
  );
  return {
    facts,
    model: { name: facts.name, version },
    hasBatchAxis: isBatch,
    inputs,
    outputs,
    inputBytes: sumOf(inputs.map(madeUpInput)),
    outputBytes: sumOf(outputs.map(({ sampleBytes }) => sampleBytes)),
  };
}

/** A model of a server, with sizes per sample. */
export interface ProbedModel {
  readonly facts: ProbedFacts;
  /** Name and version for a run. */
  readonly model: { readonly name: string; readonly version: string };
  readonly hasBatchAxis: boolean;
  /** Inputs of one sample; free axes are -1. */
  readonly inputs: readonly ProbedTensor[];
  readonly outputs: readonly ProbedTensor[];
  /**
   * Bytes of all inputs' raw contents of one sample, with texts as in random data; null if an axis
   * is free, or if no input is reported.
   */
  readonly inputBytes: number | null;
  /** The same for all outputs; also null if an output is text. */
  readonly outputBytes: number | null;
}

/** True if a run with random data is possible: settings can express all names. */
export function takesMadeUpData({ model, inputs }: Pick<ProbedModel, 'model' | 'inputs'>): boolean {
  return [model, ...inputs].every(({ name }) => /^\P{Cc}+$/u.test(name));
}

/** An input or output of one sample. */
export interface ProbedTensor extends OipTensor {
  /** Bytes of its raw contents; null if an axis is free, and for text. */
  readonly sampleBytes: number | null;
}

/** Inputs with an axis whose length the user must set. */
export function freeInputs({ inputs }: Pick<ProbedModel, 'inputs'>): readonly ProbedTensor[] {
  return inputs.filter(({ shape }) => shape.includes(-1));
}

/**
 * A tensor of one sample, with the bytes of its raw contents; null if an axis is free, or if texts
 * have any length.
 */
function withBytes(tensor: OipTensor): ProbedTensor {
  return { ...tensor, sampleBytes: tensor.datatype === 'BYTES' ? null : madeUpInput(tensor) };
}

function madeUpInput({ datatype, shape }: OipTensor): number | null {
  return shape.includes(-1) ? null : madeUpBytes(datatype, elementCount(shape), 'random');
}

function sumOf(bytes: readonly (number | null)[]): number | null {
  if (bytes.length === 0) return null;
  return bytes.reduce<number | null>(
    (sum, one) => (sum === null || one === null ? null : sum + one),
    0,
  );
}

/** Placeholder for each length that the user must set. */
const PLACEHOLDER = 'N';

/** Placeholder for each input of a model whose server reports no inputs. */
const DECLARATION = 'NAME:DATATYPE:LENGTHS';

/** Server of a run. Values as in a configuration file; undefined ones are omitted. */
interface RunTarget {
  /** Address with its scheme. */
  readonly address: string;
  /** By key of the configuration file: service, TLS, token. */
  readonly connection: Readonly<Record<string, string | boolean | undefined>>;
}

/**
 * A run with random data of the model's shape. SingleStream needs no unknown figure, and its
 * latency is the basis for other scenarios.
 * @param program Command that starts longhaul.
 */
export function readyMadeRun(
  program: string,
  { address, connection }: RunTarget,
  probed: ProbedModel,
): ReadyMadeRun {
  const isUntold = probed.inputs.length === 0;
  const shapes = isUntold
    ? [DECLARATION]
    : freeInputs(probed).map((input) => inputShapeText(input, PLACEHOLDER));
  const { name, version } = probed.model;
  // In `--model` the last colon precedes the version.
  const model = version === '' && !name.includes(':') ? name : `${name}:${version}`;
  const settings: Record<string, unknown> = {
    sut: [address],
    ...said(connection),
    model,
    data: 'random',
    scenario: 'SingleStream',
  };
  const flags = Object.entries({
    ...settings,
    ...(shapes.length > 0 && { inputShape: shapes }),
  }).map(([key, value]) => flagText(key, value));
  return {
    command: [`${program} run`, ...flags].join(' '),
    config: configText(settings, shapes, isUntold ? UNTOLD_COMMENT : FREE_COMMENT),
    hasPlaceholders: shapes.length > 0,
  };
}

/** A run of the model, ready to copy. */
export interface ReadyMadeRun {
  readonly command: string;
  /** File content for `longhaul run --config`. */
  readonly config: string;
  /** True if `--input-shape` has placeholders to be replaced by numbers. */
  readonly hasPlaceholders: boolean;
}

const FREE_COMMENT = `The model leaves axes free: put the length of one sample in place of each ${PLACEHOLDER}`;
const UNTOLD_COMMENT =
  'The server reports no inputs: say each as the model takes it, as in image:FP32:-1x3x224x224 (-1 first: counts samples)';

function configText(
  settings: Readonly<Record<string, unknown>>,
  shapes: readonly string[],
  comment: string,
): string {
  const lines = Object.entries(settings).map(([key, value]) => `  ${key}: ${scalar(value)}`);
  const at = lines.findIndex((line) => line.startsWith('  data:'));
  const placeholders =
    shapes.length === 0
      ? []
      : [`  # ${comment}, and take the # away.`, `  # inputShape: ${scalar(shapes)}`];
  return [
    'run:',
    ...lines.slice(0, at),
    '  # Or zeros, npy:FOLDER, jsonl:FILE.',
    ...lines.slice(at, at + 1),
    ...placeholders,
    '  # Or Server or Offline, with a targetQps.',
    ...lines.slice(at + 1),
    '',
  ].join('\n');
}

/**
 * A value as YAML. The server chose these names: anything unusual is quoted, so that no name
 * becomes a key or another line.
 */
function scalar(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(scalar).join(', ')}]`;
  if (typeof value === 'string' && !/^\w[\w./:-]*$/.test(value)) return JSON.stringify(value);
  return stringify(value, { lineWidth: 0 }).trim();
}

function said(values: RunTarget['connection']): Record<string, string | boolean> {
  const entries = Object.entries(values).filter(
    (entry): entry is [string, string | boolean] => entry[1] !== undefined && entry[1] !== false,
  );
  return Object.fromEntries(entries);
}
