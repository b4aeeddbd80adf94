import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type StandinTexts,
  standinText,
  standinTextsOf,
} from '../../../shared/benchmarks/standin/standin-text.ts';
import type { GenerationLimits } from '../../../shared/rules/rows/benchmark-card.ts';
import { decoderGraph, SMALLEST } from '../../../sut-node/benchmarks/language/standin.ts';
import { CachedDecoder } from '../../../sut-node/inference/generation/cached-decoder.ts';
import {
  ContinuousGenerator,
  type Sequence,
} from '../../../sut-node/inference/generation/continuous-generator.ts';
import { fileDigest } from '../../../sut-node/model/model-file.ts';
import { encodeModel, type ModelProto } from '../../../sut-node/model/onnx/graph-builder.ts';
import { createOrtSession } from '../../../sut-node/model/onnx/ort-session.ts';
import { cacheAdditions } from '../../../sut-node/pipeline/cache-additions.ts';
import { decoderLayout } from '../../../sut-node/pipeline/decoder-fit.ts';
import { DEFAULT_RUNTIME } from '../../../sut-node/settings/model-settings.ts';
import { suiteFolder } from '../host/folders.ts';

/** Texts that one word after another finds, and texts that only several beams find. */
const PLAIN_TEXTS = standinTextsOf('llama2-70b');
export const FORKED_TEXTS = standinTextsOf('gptj');

/** Limits of stand-in texts. */
export function textLimits({ endId }: StandinTexts, beams?: number): GenerationLimits {
  const limits = { promptTokensMax: 1024, newTokensMin: 1, newTokensMax: 200, endToken: endId };
  return beams === undefined ? limits : { ...limits, beams };
}

let modelCount = 0;

/** A stand-in decoder in ONNX Runtime. @param change Damages the graph, say. */
export async function smallDecoder(
  change: (model: ModelProto) => void = () => {},
  { vocabularySize: vocabulary }: StandinTexts = PLAIN_TEXTS,
) {
  const model = decoderGraph(SMALLEST, vocabulary).toModel('small');
  change(model);
  modelCount += 1;
  const modelFile = join(suiteFolder(), `model-${modelCount}.onnx`);
  writeFileSync(modelFile, encodeModel(model));
  const sha256 = await fileDigest(modelFile, 'sha256');
  const session = await createOrtSession({
    ...{ modelFile, sha256, runtime: DEFAULT_RUNTIME },
    additionsTo: cacheAdditions,
  });
  return { session, layout: decoderLayout({ file: modelFile, ...session.tensors }, 'a test') };
}

/** What generators gave: all tokens of a prompt, and its first one. */
export interface Generated {
  readonly first: number[];
  readonly tokens: readonly number[] | Error;
}

/** Waits for the tokens of a prompt. */
export function generated(
  generator: ContinuousGenerator,
  prompt: readonly number[],
  onSequence: (sequence: Sequence) => void = () => {},
): Promise<Generated> {
  return new Promise((resolve) => {
    const first: number[] = [];
    const end = (tokens: readonly number[] | Error): void => resolve({ first, tokens });
    const sequence = {
      prompt,
      onFirstToken: (id: number) => first.push(id),
      onEnd: end,
      onFailed: end,
    };
    onSequence(sequence);
    generator.add(sequence);
  });
}

/** Prompts of the stand-in data and their answers, without the reference's changes. */
export function promptOf(
  seed: number,
  index: number,
  texts: StandinTexts = PLAIN_TEXTS,
): { prompt: number[]; answer: number[] } {
  const prompt = [...standinText(texts, seed, index).prompt];
  const { askId, endId } = texts;
  return { prompt, answer: prompt.slice(prompt.indexOf(askId) + 1, prompt.indexOf(endId) + 1) };
}

export function generatorOn(
  { session, layout }: Awaited<ReturnType<typeof smallDecoder>>,
  sequencesMax: number,
  limits: GenerationLimits = textLimits(PLAIN_TEXTS),
): ContinuousGenerator {
  return new ContinuousGenerator({
    model: new CachedDecoder(layout, session),
    limits,
    sequencesMax,
  });
}
