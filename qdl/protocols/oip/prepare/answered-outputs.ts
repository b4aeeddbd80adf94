import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  isOipDataType,
  OIP_ELEMENT_BYTES,
  type OipTensor,
} from '../../../../shared/domain/tensors.ts';
import type { DescribedOutput } from '../../../../shared/wire/oip/response-decoder.ts';

/** A server's response to a request of one sample. */
type Answer = { readonly address: string; readonly outputs: readonly DescribedOutput[] };

/**
 * Outputs of a model whose metadata lists none: those of the responses to a request of one sample,
 * in that order. Shapes come from the first server's response, since lengths may depend on the
 * sample.
 * @param hasBatchAxis True if the first axis counts samples: an output axis of length 1 counts as
 * that axis.
 * @throws MlperfError `ERR_SUT_REFUSED` if servers respond with different outputs, or with an
 * unknown datatype
 */
export function answeredOutputs(
  answers: readonly Answer[],
  hasBatchAxis: boolean,
): readonly OipTensor[] {
  const [first, ...others] = answers;
  if (first === undefined) return [];
  for (const other of others) {
    const [here, there] = [inShort(first), inShort(other)];
    if (here === there) continue;
    throw new MlperfError(
      'ERR_SUT_REFUSED',
      `the servers at ${first.address} and ${other.address} answered one request with different outputs: ${here} and ${there}`,
    );
  }
  return first.outputs.map(({ name, datatype, shape }) => {
    if (!isOipDataType(datatype)) {
      throw new MlperfError(
        'ERR_SUT_REFUSED',
        `the server at ${first.address} answers with output "${name}" of the datatype "${datatype}"; the protocol has ` +
          Object.keys(OIP_ELEMENT_BYTES).join(', '),
      );
    }
    const [batch, ...own] = shape;
    return { name, datatype, shape: hasBatchAxis && batch === 1 ? [-1, ...own] : shape };
  });
}

function inShort({ outputs }: Answer): string {
  return outputs.map(({ name, datatype }) => `${name} ${datatype}`).join(', ');
}
