import type { _inference_ModelMetadataResponse_TensorMetadata__Output as TensorMetadata } from '../../../proto/gen/inference/ModelMetadataResponse.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { isOipDataType, OIP_ELEMENT_BYTES } from '../../../shared/domain/data-types.ts';
import { type OipTensor, tensorsText } from '../../../shared/domain/tensors.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/model-facts.ts';
import type { OipModelRef } from '../../../shared/wire/oip/request-plan.ts';
import type { OipControlClient } from './oip-control-client.ts';

/** What SUT nodes of longhaul tell among the properties of a model. */
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * All that a server tells of a model that it knows.
 * @throws MlperfError `ERR_SUT_REFUSED` for a model that it does not know, or tensors that the protocol has not.
 */
export async function askModelFacts(
  client: OipControlClient,
  model: OipModelRef,
): Promise<OipModelFacts> {
  const [server, metadata, config, statistics, hasStream] = await Promise.all([
    client.serverFacts(),
    client.modelMetadata(model),
    client.modelConfig(model),
    client.modelStatistics(model),
    client.hasStream(),
  ]);
  const { address } = client;
  const { sha256 = '' } = metadata.properties;
  return {
    address,
    server,
    // MLServer leaves out what it was asked for.
    name: metadata.name || model.name,
    versions: [...metadata.versions],
    platform: metadata.platform,
    ...(SHA256.test(sha256) && { sha256 }),
    inputs: metadata.inputs.map((tensor) =>
      tensorOf(tensor, `input of model "${model.name}"`, address),
    ),
    outputs: metadata.outputs.map((tensor) =>
      tensorOf(tensor, `output of model "${model.name}"`, address),
    ),
    batchSizeMax: config?.maxBatchSize,
    // Without the policy nothing is said: Dynamo leaves it out for models of several responses, too.
    isDecoupled: config?.modelTransactionPolicy?.decoupled,
    hasStream,
    hasStatistics: statistics !== undefined,
  };
}

/** @throws MlperfError `ERR_SUT_REFUSED` */
function tensorOf(
  { name, datatype, shape }: TensorMetadata,
  what: string,
  address: string,
): OipTensor {
  // Some servers write it small.
  const known = datatype.toUpperCase();
  if (!isOipDataType(known)) {
    throw refusal(
      `${address} describes the ${what} "${name}" with the datatype "${datatype}"; the protocol has ` +
        Object.keys(OIP_ELEMENT_BYTES).join(', '),
    );
  }
  if (shape.some((length) => !Number.isSafeInteger(length) || length < -1)) {
    throw refusal(
      `${address} describes the ${what} "${name}" with the shape [${shape.join(', ')}]; lengths are 0 or more, or -1`,
    );
  }
  return { name, datatype: known, shape: [...shape] };
}

function refusal(what: string): MlperfError {
  return new MlperfError('ERR_SUT_REFUSED', `the server at ${what}`);
}

/**
 * All nodes must serve one model: they are one SUT.
 * @throws MlperfError `ERR_SUT_REFUSED` naming the node and the difference.
 */
export function requireAgreement(facts: readonly OipModelFacts[]): void {
  const [first, ...others] = facts;
  if (first === undefined) return;
  for (const other of others) {
    for (const [what, tell] of COMPARED) {
      const [here, there] = [tell(first), tell(other)];
      if (here === there) continue;
      throw new MlperfError(
        'ERR_SUT_REFUSED',
        `the servers at ${first.address} and ${other.address} differ in ${what} of model "${first.name}": ` +
          `${here} and ${there}; all nodes of a SUT must serve the same model`,
      );
    }
  }
}

const COMPARED: readonly (readonly [what: string, tell: (facts: OipModelFacts) => string])[] = [
  ['the inputs', ({ inputs }) => tensorsText(inputs)],
  ['the outputs', ({ outputs }) => tensorsText(outputs)],
  ['the versions', ({ versions }) => versions.join(', ') || 'none told'],
  ['the platform', ({ platform }) => platform || 'none told'],
  ['the largest batch', ({ batchSizeMax }) => String(batchSizeMax ?? 'none told')],
  ['decoupled responses', ({ isDecoupled }) => String(isDecoupled ?? 'not told')],
];
