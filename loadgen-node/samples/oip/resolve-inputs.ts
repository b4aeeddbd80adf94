import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { OipTensor } from '../../../shared/domain/tensors.ts';
import type { InputShapes } from './parse-input-shapes.ts';

/**
 * The inputs of one sample: without the batch axis, and of the shapes that were asked for. Axes that neither the model nor a
 * shape fixes stay free (-1): samples that are read from files bring their own lengths, and {@link requireKnownShapes}
 * refuses them for all others.
 * @param inputs As the server describes them.
 * @param overrides Shapes of one sample, without the batch axis.
 * @param hasBatchAxis True where the first axis of every input counts samples.
 * @throws MlperfError `ERR_CONFIG_INVALID` where a shape is for no input, or is not what the model has.
 */
export function resolveInputs(
  inputs: readonly OipTensor[],
  overrides: InputShapes,
  hasBatchAxis: boolean,
): readonly OipTensor[] {
  const unknown = [...overrides.keys()].find((name) => !inputs.some((one) => one.name === name));
  if (unknown !== undefined) {
    const names = inputs.map(({ name }) => name).join(', ');
    throw configInvalid(`--input-shape ${unknown}: the model has no such input; it has ${names}`);
  }
  return inputs.map((input) => {
    const shape = hasBatchAxis ? input.shape.slice(1) : input.shape;
    const asked = overrides.get(input.name);
    if (asked !== undefined) checkFits(input.name, asked, shape, hasBatchAxis);
    return { ...input, shape: asked ?? shape };
  });
}

/**
 * For samples that are made up: every length has to be known, and is not guessed, as another length is another load.
 * @param inputs Of one sample, as {@link resolveInputs} gives them.
 * @throws MlperfError `ERR_CONFIG_INVALID` with the flag that would say what is missing.
 */
export function requireKnownShapes(inputs: readonly OipTensor[]): void {
  const free = inputs.filter(({ shape }) => shape.includes(-1));
  if (free.length === 0) return;
  const flag = free.map((input) => inputShapeText(input, 'N')).join(',');
  throw configInvalid(
    `the model leaves axes free (-1 in ${free.map(inShort).join(', ')}): say their lengths for one sample by --input-shape ${flag}, with a number in place of each N`,
  );
}

/**
 * What `--input-shape` says of an input.
 * @param freeLength Stands for each axis whose length nobody knows.
 */
export function inputShapeText(
  { name, shape }: Pick<OipTensor, 'name' | 'shape'>,
  freeLength: string,
): string {
  return `${name}:${shape.map((length) => (length === -1 ? freeLength : length)).join('x')}`;
}

/** @throws MlperfError `ERR_CONFIG_INVALID` */
function checkFits(
  name: string,
  asked: readonly number[],
  shape: readonly number[],
  hasBatchAxis: boolean,
): void {
  const fits =
    asked.length === shape.length &&
    asked.every((length, axis) => shape[axis] === -1 || shape[axis] === length);
  if (fits) return;
  const batchHint =
    hasBatchAxis && asked.length === shape.length + 1
      ? '; the axis that counts samples is left out'
      : '';
  throw configInvalid(
    `--input-shape ${name}:${asked.join('x')}: a sample of the model has the shape [${shape.join(', ')}]${batchHint}`,
  );
}

function inShort({ name, shape }: OipTensor): string {
  return `${name} [${shape.join(', ')}]`;
}
