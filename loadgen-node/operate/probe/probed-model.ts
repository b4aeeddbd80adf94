import { elementCount, type OipTensor } from '../../../shared/domain/tensors.ts';
import type { OipModelFacts, OipModelRef } from '../../../shared/wire/oip/request-plan.ts';
import { hasBatchAxis, resolveInputs } from '../../samples/oip/resolve-inputs.ts';
import { madeUpBytes } from '../../samples/tensors/made-up-data-set.ts';

/** A model as its server describes it, and what follows for a run. */
export interface ProbedModel {
  readonly facts: OipModelFacts;
  /** As a run would name it; the version is the one that was asked for. */
  readonly model: OipModelRef;
  readonly hasBatchAxis: boolean;
  /** Of one sample; axes that the model leaves free are -1. */
  readonly inputs: readonly ProbedTensor[];
  readonly outputs: readonly ProbedTensor[];
  /** Raw contents of all inputs of one sample; null where an axis is free, or no input is told. Texts are those of random data. */
  readonly inputBytes: number | null;
  /** Likewise of all outputs; null also where one is of texts. */
  readonly outputBytes: number | null;
}

/** A tensor of one sample. */
export interface ProbedTensor extends OipTensor {
  /** Raw contents of one sample; null where an axis is free, or texts are of any length. */
  readonly sampleBytes: number | null;
}

/** @param version As it was asked for; empty: the server chooses. */
export function probedModel(facts: OipModelFacts, version: string): ProbedModel {
  const isBatch = hasBatchAxis(facts);
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

/** True where a run with random data can be said: settings can hold all names. */
export function takesMadeUpData({ model, inputs }: Pick<ProbedModel, 'model' | 'inputs'>): boolean {
  return [model, ...inputs].every(({ name }) => /^\P{Cc}+$/u.test(name));
}

/** Inputs with an axis that the user has to say. */
export function freeInputs({ inputs }: Pick<ProbedModel, 'inputs'>): readonly ProbedTensor[] {
  return inputs.filter(({ shape }) => shape.includes(-1));
}

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
