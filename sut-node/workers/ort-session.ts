import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { messageOf } from '../../shared/errors/to-mlperf-error.ts';
import { loadOnnxRuntime } from '../onnx/onnxruntime.ts';
import { ELEMENT_TYPES, type ElementType, type TensorElements } from '../pipeline/element-types.ts';
import type { OutputTensor } from '../pipeline/model-pipeline.ts';
import type { ModelTensor, ModelTensors } from './worker-messages.ts';

/** A loaded model that runs batches. Implemented on ONNX Runtime; a fake in tests. */
export interface ModelSession {
  readonly tensors: ModelTensors;
  /**
   * Runs the model and returns the outputs of these names.
   * @throws Error of the model.
   */
  run(
    inputs: readonly InputTensor[],
    outputNames: readonly string[],
  ): Promise<ReadonlyMap<string, OutputTensor>>;
}

/** An input tensor; `data` holds exactly the elements of `dims` and is not kept. */
export interface InputTensor {
  readonly name: string;
  /** ONNX element type in lower case. */
  readonly elementType: string;
  readonly data: TensorElements;
  readonly dims: readonly number[];
}

/** What a session needs to know. */
export interface OrtSessionOptions {
  readonly modelFile: string;
  readonly threads: number;
}

/** ONNX's words for element types where ONNX Runtime's JavaScript API has its own. */
const ONNX_TYPE: Readonly<Record<string, string>> = { float32: 'float', float64: 'double' };

/**
 * Loads a model into ONNX Runtime. `run` blocks the thread that calls it.
 * @throws MlperfError `ERR_MODEL` when the file is not a model that ONNX Runtime reads,
 *   `ERR_NOT_INSTALLED` without ONNX Runtime.
 */
export async function createOrtSession(options: OrtSessionOptions): Promise<ModelSession> {
  const { modelFile, threads } = options;
  const ort = await loadOnnxRuntime();
  let session: InferenceSession;
  try {
    session = await ort.InferenceSession.create(modelFile, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      // Idle pool threads sleep: spinning ones take the cores that decode images and serve the network.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
  } catch (error) {
    const what = `${modelFile} is not an ONNX model that ONNX Runtime reads: ${messageOf(error)}`;
    throw new MlperfError('ERR_MODEL', what, { cause: error });
  }
  return {
    tensors: {
      inputs: session.inputMetadata.map(describeTensor),
      outputs: session.outputMetadata.map(describeTensor),
    },
    run: async (inputs, outputNames) => {
      const feeds: Record<string, Tensor> = {};
      for (const { name, elementType, data, dims } of inputs) {
        const { runtimeName } = ELEMENT_TYPES.get(elementType) as ElementType; // Checked with the model.
        feeds[name] = new ort.Tensor(runtimeName, data as Tensor['data'], dims);
      }
      const results = await session.run(feeds, outputNames);
      const outputs = new Map<string, OutputTensor>();
      for (const name of outputNames) {
        // The outputs were checked when the pipeline was opened (model-fit.ts).
        const { data, dims } = results[name] as InferenceSession.ReturnType[string];
        outputs.set(name, { data: data as OutputTensor['data'], dims });
      }
      return outputs;
    },
  };
}

function describeTensor(metadata: InferenceSession.ValueMetadata): ModelTensor {
  const { name } = metadata;
  if (!metadata.isTensor) return { name, elementType: 'not a tensor', shape: [] };
  return {
    name,
    elementType: ONNX_TYPE[metadata.type] ?? metadata.type,
    shape: metadata.shape.map((length) => (typeof length === 'number' ? length : 0)),
  };
}
