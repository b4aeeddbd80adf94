import type { StandinRecipe } from './standin-graph.ts';
import { addMobileNetTrunk, addResNet50Trunk } from './standin-trunks.ts';

/** Benchmarks that have a stand-in. */
export type StandinBenchmark = 'resnet50' | 'mobilenet';

/**
 * Stand-ins by benchmark. Names of inputs and outputs are those of the reference models.
 * Source: MLCommons inference, vision/classification_and_detection/tools/convert-to-onnx.sh.
 */
export const STANDINS: Readonly<Record<StandinBenchmark, Omit<StandinRecipe, 'width'>>> = {
  resnet50: {
    benchmark: 'resnet50',
    original: 'ResNet-50 v1.5',
    surface: {
      inputName: 'input_tensor:0',
      scoresName: 'softmax_tensor:0',
      labelName: 'ArgMax:0',
    },
    addTrunk: addResNet50Trunk,
  },
  mobilenet: {
    benchmark: 'mobilenet',
    original: 'MobileNet v1 1.0 224',
    surface: {
      inputName: 'input:0',
      scoresName: 'MobilenetV1/Predictions/Reshape_1:0',
      labelName: undefined,
    },
    addTrunk: addMobileNetTrunk,
  },
};

/** True for a benchmark that has one. */
export function hasStandin(benchmark: string): benchmark is StandinBenchmark {
  return Object.hasOwn(STANDINS, benchmark);
}

/** Precisions in which a stand-in is made. */
export const STANDIN_PRECISIONS = ['fp32', 'int8'] as const;

/** One of {@link STANDIN_PRECISIONS}. */
export type StandinPrecision = (typeof STANDIN_PRECISIONS)[number];

/** Name of a stand-in in its file's name, in logs and on the wire: nobody shall take it for a model of MLPerf. */
export function standinName(benchmark: StandinBenchmark, precision: StandinPrecision): string {
  return `${benchmark}-standin-${precision}`;
}

/** What `--model` takes → the name of the stand-in. */
export function standinWords(benchmark: StandinBenchmark): Readonly<Record<string, string>> {
  return {
    standin: standinName(benchmark, 'fp32'),
    'standin-int8': standinName(benchmark, 'int8'),
  };
}
