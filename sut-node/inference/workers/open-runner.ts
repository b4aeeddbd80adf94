import { sutBenchmark } from '../../benchmarks/registry.ts';
import { isGenerating, isStepwise, type ModelTensors } from '../../model/model-facts.ts';
import { floatSession } from '../../model/onnx/half-session.ts';
import { createOrtSession } from '../../model/onnx/ort-session.ts';
import { batchShapeOf, withDescribedShapes } from '../../pipeline/model-fit.ts';
import { BatchRunner } from './batch-runner.ts';
import { GenerationRunner } from './generation-runner.ts';
import { StepwiseRunner } from './stepwise-runner.ts';
import type { TokensMessage, WorkerStart } from './worker-thread.ts';

/** Processes batches in the calling thread. */
export type Runner = BatchRunner | StepwiseRunner | GenerationRunner;

/**
 * Loads a benchmark's model and joins it with its pre- and post-processing.
 * @param onLoaded Called with the model's tensors before the rest.
 * @param onTokens Receives tokens of batches that request them.
 * @throws MlperfError `ERR_MODEL`, `ERR_NOT_INSTALLED`, `ERR_BENCHMARK_UNKNOWN`
 */
export async function openRunner(
  start: WorkerStart,
  onLoaded?: (tensors: ModelTensors) => void,
  onTokens: (message: TokensMessage) => void = () => {},
): Promise<Runner> {
  const benchmark = await sutBenchmark(start.benchmark);
  const opened = await createOrtSession({ ...start, additionsTo: benchmark.additionsTo });
  const loaded = { ...opened, tensors: withDescribedShapes(opened.tensors, start.usage) };
  const session = benchmark.takesHalf === true ? floatSession(loaded) : loaded;
  const model = { file: start.modelFile, ...session.tensors };
  const pipeline = benchmark.openPipeline(model, start.usage, start.batchSizeAsked);
  onLoaded?.(loaded.tensors);
  if (isGenerating(pipeline))
    return new GenerationRunner({ ...start, pipeline, session, onTokens });
  if (isStepwise(pipeline)) return new StepwiseRunner({ ...start, pipeline, session });
  return new BatchRunner({
    ...start,
    pipeline,
    session,
    shape: batchShapeOf(model, start.usage),
    // As many as the worker's threads.
    decodeCount: start.runtime.threadsPerWorker,
  });
}
