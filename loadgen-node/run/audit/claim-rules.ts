import { contradictsResult, type NodeClaim } from '../../../shared/evidence/node-claims.ts';
import {
  type AuditRule,
  broken,
  holds,
  type Judged,
  notProvable,
} from '../../observe/audit/finding.ts';
import type { AuditFacts } from '../../observe/audit/network-audit.ts';

/** longhaul's own: the rules do not speak of a node that contradicts itself. */
export const CLAIMS_RULE: AuditRule = {
  id: 'claims-possible',
  rule: 'What a SUT node says of a run can be: it contradicts neither the protocol nor what was seen here.',
  source: 'longhaul: what the result is believed by',
  judge: judgeClaims,
};

/** Broken by what contradicts the result; what goes into no figure stands as evidence. */
function judgeClaims({ nodes }: AuditFacts): Judged {
  const claims = nodes.flatMap(({ address, claims: ofNode = [] }) =>
    ofNode.map((claim) => ({ claim, line: lineOf(address, claim) })),
  );
  const evidence = claims.map(({ line }) => line);
  if (claims.some(({ claim }) => contradictsResult(claim))) {
    return broken('A SUT node said what contradicts the result.', evidence);
  }
  if (claims.length > 0) {
    return holds(
      'A SUT node said what cannot be, but nothing that goes into a figure of the result.',
      evidence,
    );
  }
  return nodes.every(({ claims: ofNode }) => ofNode === undefined)
    ? notProvable('The file is of a build that did not look.')
    : holds('Nothing was seen that cannot be.');
}

function lineOf(address: string, { kind, count, text }: NodeClaim): string {
  return `${address}: ${text} (${kind}, ${count} in all)`;
}
