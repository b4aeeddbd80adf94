import { stringify } from 'yaml';
import type { ProbedFacts } from '../../../qdl/protocols/index.ts';
import { inputShapeText, resolveInputs } from '../../../shared/domain/input-shapes.ts';
import { elementCount, type OipTensor } from '../../../shared/domain/tensors.ts';
import { flagText } from '../../run/plan/flag-text.ts';
import { madeUpBytes } from '../../samples/tensors/made-up-data-set.ts';

/**
 * A model as its server describes it, and what follows for a run.
 * @param version As it was asked for; empty: the server chooses.
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

/** A model of a server, in the sizes of one sample. */
export interface ProbedModel {
  readonly facts: ProbedFacts;
  /** As a run would name it. */
  readonly model: { readonly name: string; readonly version: string };
  readonly hasBatchAxis: boolean;
  /** Of one sample; axes that the model leaves free are -1. */
  readonly inputs: readonly ProbedTensor[];
  readonly outputs: readonly ProbedTensor[];
  /** Raw contents of all inputs of one sample, texts as random data has them; null where an axis is free, or no input is told. */
  readonly inputBytes: number | null;
  /** Likewise of all outputs; null also where one is of texts. */
  readonly outputBytes: number | null;
}

/** True where a run with random data can be requested: settings can hold all names. */
export function takesMadeUpData({ model, inputs }: Pick<ProbedModel, 'model' | 'inputs'>): boolean {
  return [model, ...inputs].every(({ name }) => /^\P{Cc}+$/u.test(name));
}

/** An input or output of one sample. */
export interface ProbedTensor extends OipTensor {
  /** Bytes of its raw contents; null where an axis is free, or for texts. */
  readonly sampleBytes: number | null;
}

/** Inputs with an axis whose length the user has to give. */
export function freeInputs({ inputs }: Pick<ProbedModel, 'inputs'>): readonly ProbedTensor[] {
  return inputs.filter(({ shape }) => shape.includes(-1));
}

/**
 * A tensor of one sample, with the bytes of its raw contents; null where an axis is free, or texts
 * are of any length.
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

/** Stands for each length that the user has to say. */
const PLACEHOLDER = 'N';

/** Placeholder for each input of a model whose server reports no inputs. */
const DECLARATION = 'NAME:DATATYPE:LENGTHS';

/** Server of a run. Values as in a configuration file; undefined ones are left out. */
interface RunTarget {
  /** With its scheme. */
  readonly address: string;
  /** By key of the configuration file: service, TLS, token. */
  readonly connection: Readonly<Record<string, string | boolean | undefined>>;
}

/**
 * A run with random data of the model's shape. SingleStream needs no figure that is still unknown,
 * and its latency is the base for the other scenarios.
 * @param program How longhaul is called.
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
  // As `--model` takes it: the last colon is before the version.
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

/** A run of the model, ready to be copied. */
export interface ReadyMadeRun {
  readonly command: string;
  /** Text of a file for `longhaul run --config`. */
  readonly config: string;
  /** `--input-shape` has placeholders that have to become numbers first. */
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
 * Names are the server's: what is not plain is quoted, so that none of them becomes a key or a line
 * of its own.
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
