import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { type OipTensor, tensorsText } from '../../../shared/domain/tensors.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/model-facts.ts';
import type {
  OipMethod,
  OipModelRef,
  OipRequestPlan,
} from '../../../shared/wire/oip/request-plan.ts';
import type { NamedTensor } from '../tensors/tensor-data-set.ts';
import { hasBatchAxis, requireBatch, requireBatchAxis } from './batch-axis.ts';
import { fitEncoding } from './fit-encoding.ts';
import type { OipAsked } from './oip-asked.ts';
import type { OipContents } from './request-fields.ts';
import { resolveInputs } from './resolve-inputs.ts';
import { type ResponseClass, responseClass } from './response-class.ts';
import { sampleBytes } from './sample-source.ts';

/** An input of one sample. */
export interface SampleInput extends OipTensor {
  /** Raw bytes; undefined where samples bring their own lengths. */
  readonly sampleBytes: number | undefined;
}

/** What samples and responses of a run are to a model. */
export interface RequestLayout {
  /** Axes may be free where samples bring their own lengths. */
  readonly inputs: readonly SampleInput[];
  readonly hasBatchAxis: boolean;
  /** Empty: the server does not tell them before it answers. */
  readonly outputs: readonly OipTensor[];
  /** Encoding of the benchmark's samples; undefined where they are no benchmark's. */
  readonly encodingName: string | undefined;
  /** Set where the benchmark asks for a class. */
  readonly responseClass: ResponseClass | undefined;
}

type LayoutRules = Pick<BenchmarkRules, 'key' | 'sampleTensors' | 'responseTensor'>;

/**
 * Joins what a benchmark sends and expects with what a model takes and gives.
 * @param encodingName Encoding that was asked for; undefined: the one that fits.
 * @param payloadBytes Length of the payloads of a benchmark that leaves it to the run; undefined: it does not.
 * @throws MlperfError `ERR_MODEL`, `ERR_CONFIG_INVALID` with both sides in words
 */
export function requestLayout(
  rules: LayoutRules,
  facts: OipModelFacts,
  asked: Pick<OipAsked, 'inputShapes' | 'samplesPerRequest'>,
  encodingName: string | undefined,
  payloadBytes: number | undefined,
): RequestLayout {
  requireBatch(facts, asked.samplesPerRequest);
  const layout =
    rules.sampleTensors === undefined
      ? modelLayout(facts, asked)
      : benchmarkLayout(rules, facts, asked, { encodingName, payloadBytes });
  requireBatchAxis(facts, layout.hasBatchAxis, asked.samplesPerRequest);
  return layout;
}

/** What the run says of a benchmark's payloads. */
interface PayloadsAsked {
  readonly encodingName: string | undefined;
  readonly payloadBytes: number | undefined;
}

/** The model and the samples of a benchmark, as far as they fit. */
function benchmarkLayout(
  rules: LayoutRules,
  facts: OipModelFacts,
  asked: Pick<OipAsked, 'inputShapes'>,
  { encodingName, payloadBytes }: PayloadsAsked,
): RequestLayout {
  if (asked.inputShapes.size > 0) {
    throw configInvalid(
      `--input-shape is for samples that follow the model; those of benchmark ${rules.key} have their own shape`,
    );
  }
  const fitted = fitEncoding(rules, facts, encodingName);
  const layout = {
    inputs: [withBytes(withLength(fitted.input, payloadBytes))],
    hasBatchAxis: fitted.hasBatchAxis,
    outputs: [],
    encodingName: fitted.encodingName,
    responseClass: undefined,
  };
  return facts.outputs.length === 0 ? layout : withOutputs(layout, rules, facts.outputs);
}

/**
 * The layout with the outputs that are read: those of the server's metadata, or of an answer where it has none there.
 * @throws MlperfError `ERR_MODEL` where the benchmark asks for a class, and none of them tells it
 */
export function withOutputs(
  layout: RequestLayout,
  rules: LayoutRules,
  outputs: readonly OipTensor[],
): RequestLayout {
  const { sampleTensors, responseTensor } = rules;
  const asksForClass =
    sampleTensors !== undefined &&
    responseTensor !== undefined &&
    !responseTensor.shape.includes(-1);
  if (!asksForClass) return { ...layout, outputs };
  const found = responseClass(rules, responseTensor, outputs, layout.hasBatchAxis);
  return { ...layout, outputs: [found.output], responseClass: found };
}

/** The model alone decides. */
function modelLayout(
  facts: OipModelFacts,
  { inputShapes }: Pick<OipAsked, 'inputShapes'>,
): RequestLayout {
  const hasBatch = hasBatchAxis(facts);
  return {
    inputs: resolveInputs(facts.inputs, inputShapes, hasBatch).map(withBytes),
    hasBatchAxis: hasBatch,
    outputs: facts.outputs,
    encodingName: undefined,
    responseClass: undefined,
  };
}

function withBytes(input: OipTensor): SampleInput {
  return { ...input, sampleBytes: sampleBytes(input) };
}

/** The layout of samples that all are like this one. */
export function layoutOfSample(
  layout: RequestLayout,
  sample: readonly NamedTensor[],
): RequestLayout {
  const inputs = sample.map(({ name, datatype, shape, raw }) => ({
    ...{ name, datatype, shape },
    sampleBytes: raw.length,
  }));
  return { ...layout, inputs };
}

/** One free axis of bytes is as long as the payload. */
function withLength(input: OipTensor, payloadBytes: number | undefined): OipTensor {
  if (payloadBytes === undefined || input.datatype !== 'UINT8') return input;
  const { shape } = input;
  if (shape.filter((length) => length === -1).length !== 1) return input;
  return { ...input, shape: shape.map((length) => (length === -1 ? payloadBytes : length)) };
}

/** What is decided of a request beside the layout. */
export interface RequestChoice {
  readonly model: OipModelRef;
  readonly method: OipMethod;
  readonly contents: OipContents;
  readonly samplesPerRequest: number;
  /** True where all samples have the shapes and sizes of the layout. */
  readonly isUniform: boolean;
}

/**
 * The plan of the requests. Raw contents of fixed sizes go as they are; all else is encoded by the sample library.
 * @throws MlperfError `ERR_CONFIG_INVALID` where several samples are to share a request whose samples are encoded one by one
 */
export function requestPlan(layout: RequestLayout, choice: RequestChoice): OipRequestPlan {
  const { model, method, contents, samplesPerRequest, isUniform } = choice;
  const { inputs } = layout;
  const isPlain =
    isUniform &&
    contents === 'raw' &&
    inputs.every(({ sampleBytes: bytes }) => bytes !== undefined);
  if (!isPlain && samplesPerRequest > 1) {
    const why =
      contents === 'typed'
        ? 'typed contents are encoded for each sample'
        : `samples differ in their lengths (${tensorsText(inputs)})`;
    throw configInvalid(`--oip-batch ${samplesPerRequest}: ${why}, so a request has one sample`);
  }
  return {
    model,
    method,
    payloadForm: isPlain ? 'tensors' : 'fields',
    inputs: isPlain
      ? inputs.map(({ name, datatype, shape, sampleBytes: bytes }) => ({
          ...{ name, datatype },
          sampleShape: shape,
          sampleBytes: bytes as number, // Checked above.
        }))
      : [],
    hasBatchAxis: layout.hasBatchAxis,
    samplesPerRequest,
    outputs: layout.outputs,
  };
}
