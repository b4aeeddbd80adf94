import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STANDIN_CLASS_COUNT } from '../../../shared/benchmarks/standin/standin-sets.ts';
import type { LinearClassifier } from '../../../sut-node/benchmarks/fitting/ridge.ts';
import {
  STANDIN_FEATURE_COUNT,
  type StandinRecipe,
  standinModel,
} from '../../../sut-node/benchmarks/imagenet/standin-graph.ts';
import { STANDINS, type StandinBenchmark } from '../../../sut-node/benchmarks/imagenet/standins.ts';
import { encodeModel } from '../../../sut-node/model/onnx/onnx-schema.ts';

/** A stand-in whose trunk has a sixteenth of the channels. */
export function toyRecipe(benchmark: StandinBenchmark): StandinRecipe {
  return { ...STANDINS[benchmark], width: 1 / 16 };
}

/** A classifier that was not fitted: it says `label` whatever it sees. */
export function constantClassifier(label: number): LinearClassifier {
  return {
    weights: new Float32Array(STANDIN_FEATURE_COUNT * STANDIN_CLASS_COUNT),
    biases: Float32Array.from({ length: STANDIN_CLASS_COUNT }, (_, i) => (i === label ? 1 : 0)),
  };
}

/** Writes a toy that says `label` whatever it sees, and returns the path of its file. */
export function writeToyStandin(
  folder: string,
  benchmark: StandinBenchmark,
  label: number,
): string {
  const file = join(folder, `${benchmark}-toy.onnx`);
  writeFileSync(file, encodeModel(standinModel(toyRecipe(benchmark), constantClassifier(label))));
  return file;
}
