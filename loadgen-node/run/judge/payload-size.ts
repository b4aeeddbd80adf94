import type { QdlNode, QueryDispatchLibrary } from '../../../qdl/index.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { elementCount } from '../../../shared/domain/tensors.ts';
import { dtypeBytes } from '../../samples/bandwidth-formulas.ts';
import type { DataSet } from '../../samples/data-set/data-set.ts';
import type { RunPlan } from '../plan/run-plan.ts';

/** First bytes of every file in NumPy's format. */
const NPY_MAGIC = '\x93NUMPY';

/**
 * Compares the samples of a user's own benchmark with the inputs of the nodes' models: a sample of
 * a wrong length would fail only during the run. Of a data set that does not know the lengths
 * without reading, only the first sample. Not checked: models with free axes, which take many
 * lengths, and benchmarks with their own pre-processor.
 * @throws MlperfError `ERR_DATA_SET`
 */
export async function requirePayloadSize(
  { rules, compression: { encoding } }: RunPlan,
  dataSet: DataSet,
  { nodes }: Pick<QueryDispatchLibrary, 'nodes'>,
): Promise<void> {
  if (rules.key !== 'custom') return;
  for (const node of nodes) {
    const wanted = sampleBytes(node);
    if (wanted === undefined) continue;
    const { payloadBytes, totalSampleCount, files } = dataSet;
    const indices = Array.from({ length: payloadBytes ? totalSampleCount : 1 }, (_, i) => i);
    const first = indices.find((i) => payloadBytes?.(i, encoding.form) !== wanted);
    if (first === undefined) continue;
    const payload = await dataSet.readPayload(first, encoding.form);
    if (payload.length === wanted) continue;
    const file = payloadBytes && files ? ` (${files[first]})` : '';
    const inputs = (node.modelInputs ?? []).map(({ name, elementType, shape }) => {
      const lengths = shape.map((length) => (length === -1 ? 'free' : length));
      return `${name}: ${elementType} [${lengths.join(', ')}]`;
    });
    throw new MlperfError(
      'ERR_DATA_SET',
      `sample ${first} of ${dataSet.name}${file} has ${payload.length} bytes; the model of SUT node ${node.address} takes ${wanted} ` +
        `(${inputs.join('; ')})${hintOf(payload)}`,
    );
  }
}

/** Undefined if the node does not report it, or if its model takes several lengths. */
function sampleBytes(node: QdlNode): number | undefined {
  const { modelInputs = [] } = node;
  const settings = node.evidence().description?.settings ?? {};
  const { 'usage.preprocess': preprocess = 'tensor', 'usage.batchAxis': batchAxis } = settings;
  if (modelInputs.length === 0 || preprocess !== 'tensor') return undefined;
  let bytes = 0;
  for (const { elementType, shape } of modelInputs) {
    const isBatched = batchAxis !== 'none';
    // A fixed first axis may be the batch: the bytes of one sample are then unknown.
    if (isBatched && shape[0] !== -1) return undefined;
    const axes = isBatched ? shape.slice(1) : shape;
    const elementBytes = dtypeBytes(elementType);
    if (elementBytes === undefined || axes.includes(-1)) return undefined;
    bytes += elementCount(axes) * elementBytes;
  }
  return bytes;
}

function hintOf(payload: Uint8Array): string {
  const begin = Buffer.from(payload.subarray(0, NPY_MAGIC.length)).toString('latin1');
  if (begin !== NPY_MAGIC) return '; a payload is the elements of the inputs, without a header';
  return '; it is a .npy file with a header: read such files with --data npy:FOLDER instead of --data-dir';
}
