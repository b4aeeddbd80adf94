import { loadJpegCodec } from '../../../shared/benchmarks/image/jpeg.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { detectionElements } from '../../../shared/rules/cards/detection.ts';
import type { AnyPipeline } from '../../model/model-facts.ts';
import { encodeModel } from '../../model/onnx/graph-builder.ts';
import { ensureStandinFile } from '../ensure-standin.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { type StandinForm, standinModel } from './standin-graph.ts';

/** Raise with every change of the graph: no model of the old way is found in the cache then. */
const GRAPH_REVISION = 3;

/** A benchmark of object detection on the SUT node, with its stand-in. */
export function detectionSutBenchmark<Pipeline extends AnyPipeline>(
  form: StandinForm,
  parts: Pick<SutBenchmark<Pipeline>, 'reference' | 'openPipeline'>,
): SutBenchmark<Pipeline> {
  const { benchmark, title, costDefault } = form;
  // Unlike any model of MLPerf.
  const name = `${benchmark}-standin-fp32`;
  return {
    ...parts,
    rules: benchmarkRules(benchmark),
    builtInModels: { standin: name },
    // As many detections as the model gives.
    sampleElements: detectionElements(benchmark),
    hasStandinCost: true,
    takesHalf: true,
    prepareModel: ({ cost = costDefault, ...options }) =>
      ensureStandinFile(
        {
          name,
          original: `${title} at ${cost} of its cost`,
          recipe: { cost, graphRevision: GRAPH_REVISION },
          make: () => encodeModel(standinModel(form, cost)),
        },
        options,
      ),
    // The workers decode images: see loadJpegCodec for why the main thread loads the codec before them.
    prepareProcess: loadJpegCodec,
  };
}
