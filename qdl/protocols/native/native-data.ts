import {
  configInvalid,
  dataSetError,
  sutRefused,
} from '../../../shared/base/errors/mlperf-error.ts';
import { type InputShapes, resolveInputs } from '../../../shared/domain/input-shapes.ts';
import {
  DATATYPE_OF_ONNX,
  joinedContents,
  type NamedTensor,
  type OipTensor,
  sampleBytes,
  tensorsText,
} from '../../../shared/domain/tensors.ts';
import type {
  OpenedSamples,
  PreparedSamples,
  SamplesToPrepare,
} from '../../dispatch/preparation.ts';
import type { QdlNode } from '../../dispatch/query-dispatch-library.ts';
import { describeNodes } from './describe-nodes.ts';

/**
 * Opens the samples of `--data`. Each sample has the inputs that Describe reports, and is checked
 * against them before the first query.
 * @throws MlperfError `ERR_SUT_REFUSED` if the nodes report no model or different ones;
 * `ERR_CONFIG_INVALID`, `ERR_DATA_SET` from opening the samples
 */
export async function prepareNativeData<S extends OpenedSamples>(
  inputShapes: InputShapes,
  { settings, host, open }: SamplesToPrepare<S>,
): Promise<PreparedSamples<S>> {
  const nodes = await host.orAbort(
    describeNodes(settings, (address, what) =>
      host.progress?.(`waiting for SUT node ${address}`, what),
    ),
  );
  host.progress?.(null);
  const told = nodes.map((node) => ({ node, inputs: sampleInputs(node) }));
  const [first, ...others] = told;
  if (first === undefined) throw sutRefused('no SUT node is in the settings');
  const other = others.find(({ inputs }) => tensorsText(inputs) !== tensorsText(first.inputs));
  if (other !== undefined) {
    throw sutRefused(
      `SUT nodes ${first.node.address} and ${other.node.address} take different samples: ` +
        `${tensorsText(first.inputs)}, and ${tensorsText(other.inputs)}`,
    );
  }
  const inputs = resolveInputs(first.inputs, inputShapes, false);
  const sized = inputs.map((input) => ({ ...input, sampleBytes: sampleBytes(input) }));
  const samples = await host.orAbort(open(sized, undefined));
  const payloadOf = (sampleIndex: number, tensors: readonly NamedTensor[]): Uint8Array => {
    requireOneLength(sampleIndex, tensors, first.inputs);
    return joinedContents(tensors);
  };
  // A fault of the first sample usually affects all: report it before the run has a folder.
  payloadOf(0, await samples.tensors(0));
  return { settings, samples, payloadOf };
}

/** Inputs of one sample, in payload order. */
function sampleInputs(node: QdlNode): OipTensor[] {
  const { address, modelInputs = [] } = node;
  const settings = node.evidence().description?.settings ?? {};
  const preprocess = settings['usage.preprocess'] || 'tensor';
  if (modelInputs.length === 0) {
    throw sutRefused(
      `SUT node ${address} does not report the inputs of its model; --data needs them`,
    );
  }
  if (preprocess !== 'tensor') {
    throw configInvalid(
      `--data: the model of SUT node ${address} has the pre-processor ${preprocess}, which reads files, not tensors; use --data-dir FOLDER`,
    );
  }
  const names = orderOf(settings);
  const inOrder = names.length === 0 ? modelInputs.map(({ name }) => name) : names;
  return inOrder.map((name, i) => {
    const input = modelInputs.find((one) => one.name === name);
    const datatype = input && DATATYPE_OF_ONNX[input.elementType];
    if (input === undefined || datatype === undefined) {
      throw sutRefused(`SUT node ${address} reports no element type for input "${name}"`);
    }
    const own = settings['usage.batchAxis'] === 'none' ? input.shape : input.shape.slice(1);
    const described = settings[`usage.inputs.${i}.shape`];
    const lengths = described?.split(',').filter((length) => length !== '');
    return { name, datatype, shape: lengths?.map(Number) ?? own };
  });
}

/** Input names in the order of the model's description; empty without a description. */
function orderOf(settings: Readonly<Record<string, string>>): string[] {
  const names: string[] = [];
  for (;;) {
    const name = settings[`usage.inputs.${names.length}.name`];
    if (name === undefined) return names;
    names.push(name);
  }
}

/**
 * A payload carries no shapes: a node derives the length of all free axes from its size.
 * @throws MlperfError `ERR_DATA_SET`
 */
function requireOneLength(
  sampleIndex: number,
  tensors: readonly NamedTensor[],
  inputs: readonly OipTensor[],
): void {
  const lengths = inputs.flatMap(({ shape }, i) =>
    shape.flatMap((length, axis) => (length === -1 ? [tensors[i]?.shape[axis]] : [])),
  );
  if (new Set(lengths).size <= 1) return;
  throw dataSetError(
    `sample ${sampleIndex} has the lengths ${lengths.join(', ')} in the free axes of the model's inputs (${tensorsText(inputs)}): ` +
      'over this protocol all free axes have one length; use --sut oip://HOST:PORT, which sends shapes',
  );
}
