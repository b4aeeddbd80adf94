import type { NodeEvidence } from '../../../shared/evidence/network-evidence.ts';
import { ownSoftware, toldSoftware } from '../../../shared/wire/protocol-versions.ts';

/**
 * What a result says where the ends of a run are of several releases: nodes of one SUT, or the SUT and LoadGen. Nodes that tell no
 * software, or one that is not longhaul, are compared with each other only.
 */
export function softwareMarks(nodes: readonly NodeEvidence[]): string[] {
  const told = nodes.flatMap(({ address, description, streams }) =>
    description === null || description.software === ''
      ? []
      : [{ address, software: toldSoftware(description), streams }],
  );
  const kinds = new Set(told.map(({ software }) => software));
  if (kinds.size > 1) {
    const list = told.map(({ address, software }) => `${address} ${software}`).join(', ');
    return [`the SUT nodes run different software: ${list}: they may not be equally fast`];
  }
  const [first] = told;
  if (first === undefined || first.software === ownSoftware()) return [];
  if (!first.software.startsWith('longhaul ')) return [];
  const versions = new Set(
    told.flatMap(({ streams }) => streams.map(({ protocolVersion }) => protocolVersion)),
  );
  const agreed =
    versions.size === 0 ? '' : `, agreed on version ${[...versions].join(', ')} of the protocol`;
  return [`LoadGen is ${ownSoftware()}, the SUT ${first.software}${agreed}`];
}
