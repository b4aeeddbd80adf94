import {
  DATATYPE_OF_ONNX,
  type OipDataType,
  type OipTensor,
  type SampleTensor,
} from '../../../shared/domain/tensors.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import { batchPolicy } from '../../inference/batcher/dynamic-batcher.ts';
import type { LoadedModel, ResponseNumber } from '../../model/model-facts.ts';
import { type NodeFacts, readBy } from '../describe/node-offer.ts';

/** The only version of the only model. */
export const MODEL_VERSION = '1';

/** Names of a benchmark's tensors; the tensors of the model have other names. */
const INPUT_NAME = 'input';
const OUTPUT_NAME = 'output';

const DATATYPE_OF_NUMBER: Readonly<Record<ResponseNumber, OipDataType>> = {
  float32: 'FP32',
  int32: 'INT32',
  int64: 'INT64',
};

/** A form of an input: a tensor of one sample, and the node's number of its encoding. */
export interface InputKind extends SampleTensor {
  readonly form: number;
  /** Name of that form, for people. */
  readonly formName: string;
}

/** An input as clients see it. */
export interface OipInput {
  readonly name: string;
  /** Tensors that it may be, at least one; the first is announced. */
  readonly kinds: readonly InputKind[];
}

/** The node's model as the Open Inference Protocol describes it. */
export interface OipModel {
  /** Its name, and the benchmark's, under which it is found as well. */
  readonly name: string;
  readonly alias: string;
  readonly platform: string;
  /** False if a request has one sample, and shapes have no batch axis. */
  readonly hasBatchAxis: boolean;
  /**
   * Most samples of one inference; 0 without a batch axis. Unless the model is decoupled, a request
   * may have more.
   */
  readonly batchSizeMax: number;
  /**
   * Most samples of a request; undefined: as many as the queue holds. Responses of a decoupled
   * model do not name their sample, and the tokens of two samples do not fit one tensor.
   */
  readonly requestSamplesMax: number | undefined;
  /** True if a stream gets the first token of a sample before the rest. */
  readonly isDecoupled: boolean;
  /** In the order of the payload; all free axes of all of them have one length. */
  readonly inputs: readonly OipInput[];
  /** In the order of the response; shapes of one sample. */
  readonly outputs: readonly OipTensor[];
  readonly properties: Readonly<Record<string, string>>;
  /** Why the model cannot be served by this protocol; undefined: it can. */
  readonly refusal: string | undefined;
}

/** Describes a loaded model by its tensors. */
export function oipModel(facts: NodeFacts, rules: BenchmarkRules, loaded: LoadedModel): OipModel {
  const { settings, offer } = facts;
  const { layout } = loaded;
  const { tokens, tokenType = 'int64' } = settings.delay;
  const hasTokens = tokens !== undefined || loaded.sequencesMax !== undefined;
  const hasBatchAxis = layout?.hasBatchAxis ?? true;
  const inputs = inputsOf(facts, rules, loaded);
  const outputs =
    tokens !== undefined
      ? [{ name: OUTPUT_NAME, datatype: DATATYPE_OF_NUMBER[tokenType], shape: [-1] }]
      : outputsOf(rules, loaded);
  return {
    name: offer.model,
    alias: offer.benchmark,
    platform: layout === undefined ? `longhaul_${offer.benchmark}` : 'onnxruntime_onnx',
    hasBatchAxis,
    batchSizeMax: hasBatchAxis ? (hasTokens ? 1 : batchPolicy(settings, loaded).batchSizeMax) : 0,
    requestSamplesMax: hasTokens || !hasBatchAxis ? 1 : undefined,
    isDecoupled: hasTokens,
    inputs: inputs as readonly OipInput[],
    outputs: outputs as readonly OipTensor[],
    properties: {
      benchmark: offer.benchmark,
      ...(loaded.sha256 !== '' && { sha256: loaded.sha256 }),
      stand_in: String(loaded.isStandIn),
      ...encodingsInWords(inputs),
    } as Readonly<Record<string, string>>,
    refusal: refusalOf(settings.responseCompression, outputs),
  };
}

function inputsOf(facts: NodeFacts, rules: BenchmarkRules, loaded: LoadedModel): OipInput[] {
  const { encodings } = facts.offer;
  const isRead = readBy(loaded);
  const formOf = (formName: string): number =>
    encodings.findIndex((one) => one.form === formName && one.compression === 'identity');
  const { sampleTensors } = rules;
  if (sampleTensors === undefined) {
    const form = encodings.findIndex((one) => one.compression === 'identity' && isRead(one));
    const formName = encodings[form]?.form ?? '';
    return (loaded.layout?.inputs ?? []).map(({ name, elementType, sampleShape }) => ({
      name,
      kinds: [{ datatype: datatypeOf(elementType), shape: sampleShape, form, formName }],
    }));
  }
  const kinds = Object.entries(rules.encodings).flatMap(([name, encoding]): InputKind[] => {
    const tensor = sampleTensors[name];
    if (tensor === undefined || !isRead(encoding)) return [];
    return [{ ...tensor, form: formOf(encoding.form), formName: encoding.form }];
  });
  // A tensor is what clients of this protocol expect; a file in BYTES comes second.
  kinds.sort((a, b) => Number(a.datatype === 'BYTES') - Number(b.datatype === 'BYTES'));
  return [{ name: INPUT_NAME, kinds }];
}

function outputsOf(rules: BenchmarkRules, { layout, tensors }: LoadedModel): OipTensor[] {
  if (layout === undefined) {
    const { responseTensor } = rules;
    return responseTensor === undefined ? [] : [{ name: OUTPUT_NAME, ...responseTensor }];
  }
  const { responseNumber, outputNames } = layout;
  if (responseNumber !== undefined) {
    return [{ name: OUTPUT_NAME, datatype: DATATYPE_OF_NUMBER[responseNumber], shape: [1] }];
  }
  return tensors.outputs
    .filter(({ name }) => outputNames.includes(name))
    .map(({ name, elementType, shape, isRankUnknown }) => ({
      name,
      datatype: datatypeOf(elementType),
      // Its elements in a row, where the model does not tell how they lie.
      shape: isRankUnknown ? [-1] : shape.slice(layout.hasBatchAxis ? 1 : 0),
    }));
}

function datatypeOf(elementType: string): OipDataType {
  // Those of model/model-facts.ts, which a pipeline checked.
  return DATATYPE_OF_ONNX[elementType] as OipDataType;
}

/** Meaning of each datatype of an input, where it may have several. */
function encodingsInWords(inputs: readonly OipInput[]): Record<string, string> {
  const [input] = inputs;
  if (input === undefined || input.kinds.length < 2) return {};
  const words = input.kinds.map(
    ({ datatype, shape, formName }) => `${datatype} [${shape.join(', ')}] is ${formName}`,
  );
  return { input_encodings: words.join('; ') };
}

function refusalOf(compression: string, outputs: readonly OipTensor[]): string | undefined {
  if (compression !== 'identity') {
    return (
      `the node compresses its responses (--response-compression ${compression}), ` +
      'but tensors of this protocol are not compressed; start the node with --response-compression identity'
    );
  }
  const freeCount = outputs.flatMap(({ shape }) => shape.filter((length) => length < 0)).length;
  if (freeCount < 2) return undefined;
  const shapes = outputs.map(({ name, shape }) => `${name} [${shape.join(', ')}]`);
  return (
    `the outputs have ${freeCount} free axes, whose lengths do not follow from a response: ${shapes.join('; ')}; ` +
    'name one output with one free axis in the description of the model ("output: NAME")'
  );
}
