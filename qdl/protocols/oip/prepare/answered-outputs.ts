import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  isOipDataType,
  OIP_ELEMENT_BYTES,
  type OipTensor,
} from '../../../../shared/domain/tensors.ts';
import type { DescribedOutput } from '../../../../shared/wire/oip/response-decoder.ts';

/** Answer of a server to a request of one sample. */
type Answer = { readonly address: string; readonly outputs: readonly DescribedOutput[] };

/**
 * The outputs of a model whose metadata have none: those of the answers to a request of one sample, in their order there.
 * Shapes are those of the first server's answer, as lengths may follow the sample.
 * @param hasBatchAxis True where the first axis counts samples: of outputs it is taken for one where it is 1.
 * @throws MlperfError `ERR_SUT_REFUSED` where servers answer with different outputs, or with a datatype that is none
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
      `the servers at ${first.address} and ${other.address} answer one request with different outputs: ${here} and ${there}`,
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
