import { describeNodes, type QdlNode } from '../../../qdl/index.ts';
import {
  configInvalid,
  dataSetError,
  sutRefused,
} from '../../../shared/base/errors/mlperf-error.ts';
import { DATATYPE_OF_ONNX, type OipTensor, tensorsText } from '../../../shared/domain/tensors.ts';
import type { DataSet } from '../../samples/data-set/data-set.ts';
import type { DataAsked } from '../../samples/oip/oip-asked.ts';
import { openTensorDataSet } from '../../samples/oip/open-tensor-data-set.ts';
import { resolveInputs } from '../../samples/oip/resolve-inputs.ts';
import { type NamedTensor, tensorDataSet } from '../../samples/tensors/tensor-data-set.ts';
import { orAbort, progressOf, type RunHost } from '../host/host.ts';
import type { RunPlan } from '../plan/run-plan.ts';

/**
 * Opens the samples of `--data` for nodes that speak longhaul's own protocol: each is one sample of the inputs that Describe
 * tells, and is compared with them before the first query.
 * @throws MlperfError `ERR_SUT_REFUSED` where the nodes do not tell one and the same model; `ERR_CONFIG_INVALID`,
 *   `ERR_DATA_SET` as {@link openTensorDataSet}
 */
export async function openNativeData(
  { dispatch }: RunPlan,
  { data, inputShapes, dataSeed, dataCount }: DataAsked,
  host: RunHost,
): Promise<DataSet> {
  const nodes = await orAbort(
    host,
    describeNodes(dispatch, (address, what) =>
      host.progress?.(`waiting for SUT node ${address}`, what),
    ),
  );
  host.progress?.(null);
  const told = nodes.map((node) => ({ node, inputs: sampleInputs(node) }));
  const [first, ...others] = told;
  if (first === undefined) throw sutRefused('no SUT node was asked for its model');
  const other = others.find(({ inputs }) => tensorsText(inputs) !== tensorsText(first.inputs));
  if (other !== undefined) {
    throw sutRefused(
      `SUT nodes ${first.node.address} and ${other.node.address} take different samples: ` +
        `${tensorsText(first.inputs)}, and ${tensorsText(other.inputs)}`,
    );
  }
  const inputs = resolveInputs(first.inputs, inputShapes, false);
  const onProgress = progressOf(host);
  const opened = await orAbort(
    host,
    openTensorDataSet(data, inputs, { dataSeed, dataCount, onProgress }),
  );
  const sampleTensors = async (sampleIndex: number): Promise<readonly NamedTensor[]> => {
    const tensors = await opened.sampleTensors(sampleIndex);
    requireOneLength(sampleIndex, tensors, first.inputs);
    return tensors;
  };
  // A fault of the first sample mostly affects all: reported before the run has a folder.
  await sampleTensors(0);
  return tensorDataSet({ ...opened, sampleTensors });
}

/** Inputs of one sample, in the order in which a payload has them. */
function sampleInputs(node: QdlNode): OipTensor[] {
  const { address, modelInputs = [] } = node;
  const settings = node.evidence().description?.settings ?? {};
  const preprocess = settings['usage.preprocess'] || 'tensor';
  if (modelInputs.length === 0) {
    throw sutRefused(
      `SUT node ${address} does not tell the inputs of its model: --data needs them`,
    );
  }
  if (preprocess !== 'tensor') {
    throw configInvalid(
      `--data: the model of SUT node ${address} has the pre-processor ${preprocess}, which reads files, not tensors: --data-dir FOLDER`,
    );
  }
  const names = orderOf(settings);
  const inOrder = names.length === 0 ? modelInputs.map(({ name }) => name) : names;
  return inOrder.map((name, i) => {
    const input = modelInputs.find((one) => one.name === name);
    const datatype = input && DATATYPE_OF_ONNX[input.elementType];
    if (input === undefined || datatype === undefined) {
      throw sutRefused(`SUT node ${address} tells no element type of the input "${name}"`);
    }
    const own = settings['usage.batchAxis'] === 'none' ? input.shape : input.shape.slice(1);
    const described = settings[`usage.inputs.${i}.shape`];
    const lengths = described?.split(',').filter((length) => length !== '');
    return { name, datatype, shape: lengths?.map(Number) ?? own };
  });
}

/** Names of the inputs as the model's description has them; none without a description. */
function orderOf(settings: Readonly<Record<string, string>>): string[] {
  const names: string[] = [];
  for (;;) {
    const name = settings[`usage.inputs.${names.length}.name`];
    if (name === undefined) return names;
    names.push(name);
  }
}

/**
 * A payload has no shapes: a node takes the length of all free axes from its bytes.
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
      'a SUT node takes one length for all of them; --sut oip://HOST:PORT sends shapes',
  );
}
