import { sutRefused } from '../../../shared/base/errors/mlperf-error.ts';
import {
  isOipDataType,
  OIP_ELEMENT_BYTES,
  type OipTensor,
  tensorsText,
} from '../../../shared/domain/tensors.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/request-plan.ts';

/** A tensor as a server describes it. */
interface TensorMetadata {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

/**
 * A tensor in the protocol's terms. @param what Text that names it. @throws MlperfError
 * `ERR_SUT_REFUSED`
 */
export function tensorOf(
  { name, datatype, shape }: TensorMetadata,
  what: string,
  address: string,
): OipTensor {
  // Some servers write it in lower case.
  const known = datatype.toUpperCase();
  if (!isOipDataType(known)) {
    throw sutRefused(
      `the server at ${address} describes the ${what} "${name}" with the datatype "${datatype}"; the protocol has ` +
        Object.keys(OIP_ELEMENT_BYTES).join(', '),
    );
  }
  if (shape.some((length) => !Number.isSafeInteger(length) || length < -1)) {
    throw sutRefused(
      `the server at ${address} describes the ${what} "${name}" with the shape [${shape.join(', ')}]; a length is 0 or more, or -1 for a free axis`,
    );
  }
  return { name, datatype: known, shape: [...shape] };
}

/**
 * All nodes must serve one model, because they are one SUT.
 * @throws MlperfError `ERR_SUT_REFUSED` naming the node and the difference.
 */
export function requireAgreement(facts: readonly OipModelFacts[]): void {
  const [first, ...others] = facts;
  if (first === undefined) return;
  for (const other of others) {
    for (const [what, tell] of COMPARED) {
      const [here, there] = [tell(first), tell(other)];
      if (here === there) continue;
      throw sutRefused(
        `the servers at ${first.address} and ${other.address} differ in ${what} of model "${first.name}": ` +
          `${here} and ${there}; all nodes of a SUT must serve the same model`,
      );
    }
  }
}

const COMPARED: readonly (readonly [what: string, tell: (facts: OipModelFacts) => string])[] = [
  ['the inputs', ({ inputs }) => tensorsText(inputs)],
  ['the outputs', ({ outputs }) => tensorsText(outputs)],
  ['the versions', ({ versions }) => versions.join(', ') || 'not reported'],
  ['the platform', ({ platform }) => platform || 'not reported'],
  ['the largest batch', ({ batchSizeMax }) => String(batchSizeMax ?? 'not reported')],
  ['decoupled responses', ({ isDecoupled }) => String(isDecoupled ?? 'not reported')],
];
