import assert from 'node:assert';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import {
  configInvalid,
  type MlperfError,
  messageOf,
  modelError,
  notInstalled,
} from '../../../shared/base/errors/mlperf-error.ts';
import { TENSORRT_OPTIONS_HINT } from '../../../shared/config/flag-names.ts';
import type { Provider, RuntimeSettings } from '../../settings/model-settings.ts';
import {
  ELEMENT_TYPES,
  type ElementType,
  FREE,
  type ModelTensor,
  type ModelTensors,
  NO_TENSOR,
  type OutputTensor,
  type RunModel,
} from '../model-facts.ts';
import { type DigestedFile, type DigestedModel, readModelFile } from '../model-file.ts';
import { decodeGraph, GraphBuilder } from './graph-builder.ts';
import { loadOnnxRuntime, type OnnxRuntime, sessionLogLevel } from './onnxruntime.ts';
import { describeRefusal, isOutsideFolder, reasonOf } from './ort-reasons.ts';

/** A loaded model that runs batches. Implemented on ONNX Runtime; a fake in tests. */
export interface ModelSession {
  readonly tensors: ModelTensors;
  /**
   * Outputs that {@link OrtSessionOptions.additionsTo} has added to the model; they are not among
   * the tensors.
   */
  readonly addedOutputs?: readonly string[];
  readonly run: RunModel;
}

/** The model, and how to run it. */
interface OrtSessionOptions extends DigestedModel {
  readonly runtime: RuntimeSettings;
  /**
   * Additional outputs for the model; they are appended to its bytes before it is loaded.
   */
  readonly additionsTo?: AdditionsTo | undefined;
}

/** Bytes to append to those of a model, and the names of the outputs that they add. */
export type AdditionsTo = (model: Uint8Array) => {
  readonly bytes: Uint8Array;
  readonly outputs: readonly string[];
};

/** ONNX's names of element types that have other names in ONNX Runtime's JavaScript API. */
const ONNX_TYPE: Readonly<Record<string, string>> = { float32: 'float', float64: 'double' };

/**
 * Loads a model into ONNX Runtime. `run` blocks the thread that calls it.
 * @throws MlperfError `ERR_MODEL` if ONNX Runtime cannot read the file as a model, or if the file
 *   has another digest than requested; `ERR_NOT_INSTALLED` without ONNX Runtime or without a
 *   requested provider.
 */
export async function createOrtSession(options: OrtSessionOptions): Promise<ModelSession> {
  const ort = await loadOnnxRuntime();
  const { runtime, parts, additionsTo } = options;
  await checkProviders(ort, runtime.providers);
  if (parts === undefined) return openSession(ort, options, runtime, additionsTo);
  const sessions = new Map<string, ModelSession>();
  for (const [name, file] of Object.entries(parts)) {
    sessions.set(name, await openSession(ort, file, runtime));
  }
  return joinedSession(sessions);
}

/**
 * A model of several files as one: its tensors are named `PART/NAME`, and one inference runs one
 * part.
 */
function joinedSession(parts: ReadonlyMap<string, ModelSession>): ModelSession {
  const all = (side: keyof ModelTensors): ModelTensor[] =>
    [...parts].flatMap(([part, { tensors }]) =>
      tensors[side].map((tensor) => ({ ...tensor, name: `${part}/${tensor.name}` })),
    );
  return {
    tensors: { inputs: all('inputs'), outputs: all('outputs') },
    run: async (inputs, outputNames) => {
      const [first = ''] = outputNames;
      const part = first.slice(0, first.indexOf('/'));
      const session = parts.get(part);
      assert(session !== undefined, `${first}: there is ${[...parts.keys()].join(', ')}`);
      const own = (name: string): string => {
        assert(name.startsWith(`${part}/`), `${name} in an inference of ${part}`);
        return name.slice(part.length + 1);
      };
      const found = await session.run(
        inputs.map((input) => ({ ...input, name: own(input.name) })),
        outputNames.map(own),
      );
      return new Map([...found].map(([name, output]) => [`${part}/${name}`, output]));
    },
  };
}

async function openSession(
  ort: OnnxRuntime,
  file: DigestedFile,
  runtime: RuntimeSettings,
  additionsTo?: AdditionsTo,
): Promise<ModelSession> {
  let addedOutputs: readonly string[] = [];
  const session = await loadModel(ort, file, runtime, (bytes) => {
    const additions = additionsTo?.(bytes);
    addedOutputs = additions?.outputs ?? [];
    return additions?.bytes ?? new Uint8Array(0);
  });
  // A model that was loaded by its path has none.
  addedOutputs = addedOutputs.filter((name) => session.outputNames.includes(name));
  const outputs = session.outputMetadata.filter(({ name }) => !addedOutputs.includes(name));
  const tensors = await withRanks(file, {
    inputs: session.inputMetadata.map(describeTensor),
    outputs: outputs.map(describeTensor),
  });
  return {
    tensors,
    addedOutputs,
    run: async (inputs, outputNames) => {
      const feeds: Record<string, Tensor> = {};
      for (const { name, elementType, data, dims } of inputs) {
        // Checked with the model.
        const { runtimeName } = ELEMENT_TYPES.get(elementType) as ElementType;
        // The memory is that of the type (model-facts.ts), which the API's overloads cannot
        // express.
        const tensor = new ort.Tensor(runtimeName, data as Tensor['data'], dims);
        // The API puts float16 into a Float16Array if JavaScript has this class, but the API's
        // native part does not read it.
        if (tensor.data !== data) Object.defineProperty(tensor, 'data', { value: data });
        feeds[name] = tensor;
      }
      const results = await session.run(feeds, outputNames).catch((error: unknown) => {
        throw new Error(reasonOf(error), { cause: error });
      });
      return new Map(outputNames.map((name) => [name, outputTensor(name, results[name])]));
    },
  };
}

async function loadModel(
  { InferenceSession }: OnnxRuntime,
  { modelFile, sha256 }: DigestedFile,
  runtime: RuntimeSettings,
  additionsTo: (bytes: Uint8Array) => Uint8Array,
): Promise<InferenceSession> {
  const model = await readModelFile(modelFile, sha256, additionsTo);
  const refusal = (error: unknown): MlperfError =>
    modelError(describeRefusal(modelFile, runtime.providers, reasonOf(error)), error);
  try {
    return await InferenceSession.create(model.bytes, sessionOptions(runtime, dirname(modelFile)));
  } catch (error) {
    if (!isOutsideFolder(reasonOf(error))) throw refusal(error);
  } finally {
    // The session has its own copy.
    model.release();
  }
  // Hugging Face's cache holds links to a folder with all files: only by the path of the model ONNX
  // Runtime knows of it.
  const byPath = InferenceSession.create(modelFile, sessionOptions(runtime));
  const session = await byPath.catch((error: unknown) => {
    throw refusal(error);
  });
  // The file that it read is this one.
  (await readModelFile(modelFile, sha256, () => new Uint8Array(0))).release();
  return session;
}

/**
 * Options of ONNX Runtime. @param modelFolder Where the other files of a model lie that is given as
 * bytes.
 */
export function sessionOptions(
  settings: RuntimeSettings,
  modelFolder?: string,
): InferenceSession.SessionOptions {
  return {
    logSeverityLevel: sessionLogLevel(),
    executionProviders: [...settings.providers],
    intraOpNumThreads: settings.threadsPerWorker,
    interOpNumThreads: settings.interThreads,
    executionMode: settings.executionMode,
    graphOptimizationLevel: settings.graphLevel,
    enableCpuMemArena: settings.memoryArena === 'on',
    enableMemPattern: settings.memoryPattern === 'on',
    extra: {
      session: {
        intra_op: { allow_spinning: settings.spinning === 'on' ? '1' : '0' },
        inter_op: { allow_spinning: settings.spinning === 'on' ? '1' : '0' },
        // ONNX Runtime silently uses the CPU for operators that no other provider takes.
        disable_cpu_ep_fallback: settings.providers.includes('cpu') ? '0' : '1',
        // Weights in files of their own are named relative to the model's file.
        ...(modelFolder === undefined
          ? {}
          : { model_external_initializers_file_folder_path: modelFolder }),
      },
    },
  };
}

/** @throws Error for an optional output that the model left out. */
function outputTensor(
  name: string,
  value: InferenceSession.ReturnType[string] | undefined,
): OutputTensor {
  if (value === undefined) throw new Error(`the model gave no output "${name}"`);
  // Its element type was checked when the pipeline was opened: no strings.
  const data = value.data as OutputTensor['data'];
  if (value.type !== 'float16') return { data, dims: value.dims };
  const bits = new Uint16Array(data.buffer, data.byteOffset, data.length);
  return { data: bits, dims: value.dims };
}

/** Marks tensors without a shape in the model, which ONNX Runtime reports as single numbers. */
async function withRanks(
  { modelFile, sha256 }: DigestedFile,
  { inputs, outputs }: ModelTensors,
): Promise<ModelTensors> {
  if ([...inputs, ...outputs].every(({ shape }) => shape.length > 0)) return { inputs, outputs };
  const model = await readModelFile(modelFile, sha256, () => new Uint8Array(0));
  try {
    const graph = decodeGraph(model.bytes);
    const rankless = [...(graph.input ?? []), ...graph.output]
      .filter(({ type }) => type?.tensor_type && !type.tensor_type.shape)
      .map(({ name }) => name);
    const mark = (tensor: ModelTensor): ModelTensor =>
      rankless.includes(tensor.name) ? { ...tensor, isRankUnknown: true } : tensor;
    return { inputs: inputs.map(mark), outputs: outputs.map(mark) };
  } catch {
    // The file is not ONNX, but has ONNX Runtime's own format.
    return { inputs, outputs };
  } finally {
    model.release();
  }
}

function describeTensor(metadata: InferenceSession.ValueMetadata): ModelTensor {
  const { name } = metadata;
  if (!metadata.isTensor) return { name, elementType: NO_TENSOR, shape: [] };
  return {
    name,
    elementType: ONNX_TYPE[metadata.type] ?? metadata.type,
    shape: metadata.shape.map((length) => (typeof length === 'number' ? length : FREE)),
  };
}

/**
 * Libraries of providers that are too large for the package: its install script downloads them.
 * This project skips the script, because an installation without internet would fail.
 */
const FETCHED_LIBRARIES: Readonly<Partial<Record<Provider, readonly string[]>>> = {
  cuda: ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'],
  tensorrt: ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_tensorrt.so'],
};

/**
 * Checks, before a model is loaded, that ONNX Runtime can compute on each of these providers here:
 * it knows the provider, the provider's libraries are there, and the provider alone can run a
 * session of one operator.
 * @throws MlperfError `ERR_NOT_INSTALLED` that names the missing part and how to get it.
 */
export async function checkProviders(
  ort: OnnxRuntime,
  providers: readonly Provider[],
): Promise<void> {
  const known = ort.listSupportedBackends().map(({ name }) => name);
  for (const provider of providers) {
    if (!known.includes(provider)) {
      throw notInstalled(
        `--providers ${provider}: onnxruntime-node for ${process.platform}-${process.arch} does not ` +
          `have it; there is: ${known.join(', ')}`,
      );
    }
    if (provider === 'tensorrt') refuseUnreadVariables(process.env);
    checkLibraries(provider);
    if (provider !== 'cpu') await tryProvider(ort, provider);
  }
}

/**
 * If a provider refuses the user's model, the cause may be anything. If it refuses the smallest
 * model, the cause is the provider.
 */
async function tryProvider({ InferenceSession }: OnnxRuntime, provider: Provider): Promise<void> {
  const graph = new GraphBuilder('probe');
  const x = graph.input('x', 'float', ['N', 4]);
  graph.output(graph.operator('Abs', [x], {}, 'y'), 'float', ['N', 4]);
  try {
    const session = await InferenceSession.create(graph.build('probe of a provider'), {
      executionProviders: [provider],
      extra: { session: { disable_cpu_ep_fallback: '1' } },
    });
    await session.release();
  } catch (error) {
    throw notInstalled(
      `--providers ${provider}: ONNX Runtime cannot use it on this machine (${messageOf(error)}); ` +
        NEEDS[provider],
      error,
    );
  }
}

/** Requirements of a provider beside ONNX Runtime's own libraries. */
const NEEDS: Readonly<Record<Provider, string>> = {
  cpu: 'it needs no further libraries',
  cuda:
    'it needs an NVIDIA GPU with its driver, and CUDA 12 and cuDNN 9 where the loader finds them ' +
    '(LD_LIBRARY_PATH)',
  tensorrt:
    'it needs an NVIDIA GPU with its driver, and CUDA 12, cuDNN 9 and TensorRT 10 (libnvinfer.so.10) where the loader finds ' +
    'them (LD_LIBRARY_PATH)',
  webgpu: 'it needs a GPU with a Vulkan driver (Linux: libvulkan.so.1 and the driver of the GPU)',
};

/** Variables of ONNX Runtime for options of TensorRT. */
const TENSORRT_VARIABLE = /^ORT_TENSORRT_/;

/**
 * ONNX Runtime reads the variables only if a program gives the provider no options.
 * onnxruntime-node always gives options, and lets a program choose only the device. So ONNX Runtime
 * would silently ignore the variables.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
function refuseUnreadVariables(environment: NodeJS.ProcessEnv): void {
  const names = Object.keys(environment).filter((name) => TENSORRT_VARIABLE.test(name));
  if (names.length === 0) return;
  throw configInvalid(
    `--providers tensorrt: ${names.join(', ')} would have no effect. ${TENSORRT_OPTIONS_HINT}`,
  );
}

function checkLibraries(provider: Provider): void {
  const require = createRequire(import.meta.url);
  const root = dirname(require.resolve('onnxruntime-node/package.json'));
  const folder = join(root, 'bin', 'napi-v6', process.platform, process.arch);
  const wanted = FETCHED_LIBRARIES[provider] ?? [];
  const missing = wanted.filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return;
  throw notInstalled(
    `--providers ${provider}: ${missing.join(' and ')} missing in ${folder}: not part of the package. ` +
      `To get them, with internet: node ${join(root, 'script', 'install.js')} ` +
      `--onnxruntime-node-install=cuda12; ${NEEDS[provider]}`,
  );
}
