import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  standinText,
  TEXT_STANDIN_VOCABULARY,
} from '../../../shared/benchmarks/standin/standin-text.ts';
import { standinDecoder } from '../../../sut-node/benchmarks/language/standin-decoder.ts';
import { CachedDecoder } from '../../../sut-node/inference/generation/cached-decoder.ts';
import {
  ContinuousGenerator,
  type Sequence,
} from '../../../sut-node/inference/generation/continuous-generator.ts';
import type { GenerationLimits } from '../../../sut-node/model/model-facts.ts';
import { fileDigest } from '../../../sut-node/model/model-file.ts';
import { encodeModel, type ModelProto } from '../../../sut-node/model/onnx/graph-builder.ts';
import { createOrtSession } from '../../../sut-node/model/onnx/ort-session.ts';
import { decoderLayout } from '../../../sut-node/pipeline/decoder-fit.ts';
import { DEFAULT_RUNTIME } from '../../../sut-node/settings/model-settings.ts';
import { suiteFolder } from '../host/folders.ts';

/** The smallest stand-in that works: two layers do its work. */
const SMALL_DECODER = { layers: 2, width: 320 };

const TEXT_LIMITS: GenerationLimits = {
  promptTokensMax: 1024,
  newTokensMin: 1,
  newTokensMax: 200,
  endToken: TEXT_STANDIN_VOCABULARY.endId,
};

let modelCount = 0;

/** A stand-in decoder in ONNX Runtime. @param change Damages the graph, say. */
export async function smallDecoder(change: (model: ModelProto) => void = () => {}) {
  const model = standinDecoder('small', SMALL_DECODER);
  change(model);
  modelCount += 1;
  const modelFile = join(suiteFolder(), `model-${modelCount}.onnx`);
  writeFileSync(modelFile, encodeModel(model));
  const sha256 = await fileDigest(modelFile, 'sha256');
  const session = await createOrtSession({ modelFile, sha256, runtime: DEFAULT_RUNTIME });
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
export function promptOf(seed: number, index: number): { prompt: number[]; answer: number[] } {
  const prompt = [...standinText(seed, index).prompt];
  const { askId, endId } = TEXT_STANDIN_VOCABULARY;
  return { prompt, answer: prompt.slice(prompt.indexOf(askId) + 1, prompt.indexOf(endId) + 1) };
}

export function generatorOn(
  { session, layout }: Awaited<ReturnType<typeof smallDecoder>>,
  sequencesMax: number,
): ContinuousGenerator {
  return new ContinuousGenerator({
    model: new CachedDecoder(layout, session),
    limits: TEXT_LIMITS,
    sequencesMax,
  });
}
