import { loadJpegCodec } from '../../../shared/benchmarks/image/jpeg.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { detectionElements } from '../../../shared/rules/cards/detection.ts';
import type { AnyPipeline } from '../../model/model-facts.ts';
import { standinModels } from '../standin/standin-models.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { type DetectionStandin, detectionStandin } from './standin.ts';

/** A benchmark of object detection on the SUT node, with its stand-in. */
export function detectionSutBenchmark<Pipeline extends AnyPipeline>(
  model: DetectionStandin,
  parts: Pick<SutBenchmark<Pipeline>, 'reference' | 'openPipeline'>,
): SutBenchmark<Pipeline> {
  return {
    ...parts,
    ...standinModels(detectionStandin(model)),
    rules: benchmarkRules(model.benchmark),
    // The response holds all detections of the model.
    sampleElements: detectionElements(model.benchmark),
    takesHalf: true,
    // Workers decode images: see loadJpegCodec for why the main thread loads the codec first.
    prepareProcess: loadJpegCodec,
  };
}
