import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STANDIN_CLASS_COUNT } from '../../../shared/benchmarks/standin/standin-sets.ts';
import {
  STANDIN_FEATURE_COUNT,
  type StandinBenchmark,
  standinModel,
} from '../../../sut-node/benchmarks/imagenet/standin-graph.ts';
import { encodeModel } from '../../../sut-node/model/onnx/graph-builder.ts';

/** Writes a stand-in with a sixteenth of the channels that was not fitted: it says `label` whatever it sees. */
export function writeToyStandin(
  folder: string,
  benchmark: StandinBenchmark,
  label: number,
): string {
  const file = join(folder, `${benchmark}-toy.onnx`);
  const classifier = {
    weights: new Float32Array(STANDIN_FEATURE_COUNT * STANDIN_CLASS_COUNT),
    biases: Float32Array.from({ length: STANDIN_CLASS_COUNT }, (_, i) => (i === label ? 1 : 0)),
  };
  writeFileSync(file, encodeModel(standinModel(benchmark, 1 / 16, classifier)));
  return file;
}
