import type { DispatchSettings, QueryDispatchLibrary } from '../../../qdl/index.ts';
import { asOneLine } from '../../../shared/base/text.ts';
import type { NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import { compressionBreaches } from '../../../shared/rules/check-compression.ts';
import { ownSoftware, toldSoftware } from '../../../shared/wire/protocol-versions.ts';
import type { Judgement } from '../../loadgen/engine/test-context.ts';
import type { AuditFinding, NetworkAudit } from '../../observe/audit/network-audit.ts';
import type { RunPlan } from '../plan/run-plan.ts';

/**
 * Marks that a run outside the Network division carries on the screen and in every log: that its rules were
 * not enforced, and which of them the settings break.
 */
export function divisionMarks({ division, compression }: RunPlan): string[] {
  if (division === 'network') return [];
  return [
    'division open: the rules of the Network division are not enforced, this is no result of it',
    ...compressionBreaches(compression).map(
      (breach) => `against the rules of the Network division: ${breach}`,
    ),
  ];
}

/** Where a lost node ends the run, the fault names it; where it does not, no sample need be lost with it. */
export function lostNodeNotes(
  onNodeLoss: DispatchSettings['onNodeLoss'],
  qdl: Pick<QueryDispatchLibrary, 'nodes' | 'activity'>,
): string[] {
  if (onNodeLoss !== 'continue') return [];
  const states = qdl.activity();
  return qdl.nodes.flatMap(({ address, ledger }, i) => {
    if (states[i]?.isLost !== true) return [];
    const { sampleCount, completedCount } = ledger;
    return [
      `SUT node ${address} was lost in the middle of the run, or shut down; it had answered ${completedCount} of ${sampleCount} samples, and the run went on without it`,
    ];
  });
}

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

/** What the SUT nodes said that cannot be, and the workers that they lost: it changes no figure, and readers must know it. */
export function nodeNotes({ nodes }: NetworkAudit): string[] {
  return nodes.flatMap(({ address, claims = [], theirs }) => {
    const texts = claims.map(({ text }) => text);
    const replaced = theirs?.replacedWorkerCount ?? 0;
    if (replaced > 0) texts.push(replacedText(replaced));
    return texts.map((text) => asOneLine(`SUT node ${address} ${text}`));
  });
}

/** A sentence without its subject, the node. @param count 1 or more. */
function replacedText(count: number): string {
  return count === 1
    ? 'lost a worker during the run and replaced it'
    : `lost ${count} workers during the run and replaced them`;
}

/** What may stand between LoadGen and SUT; nothing where nothing does. What did harm is a problem, no note. */
export function pathNotes({ rules }: NetworkAudit): string[] {
  return rules
    .filter(({ kind, verdict }) => kind === 'path' && verdict === 'not-provable')
    .map(
      (finding) => `between LoadGen and SUT: ${finding.why.replace(/\.$/, '')}${seenOf(finding)}`,
    );
}

/**
 * Calls that were repeated, compressed or spread on the way are not the run that was asked for: it is INVALID. In the
 * open division it is marked, as a broken rule is.
 */
export function pathProblems({ run, rules }: NetworkAudit, output: string): Judgement['problems'] {
  if (run.division === 'open') return [];
  return rules
    .filter(({ kind, verdict }) => kind === 'path' && verdict === 'broken')
    .map((finding) => ({
      rule: finding.id,
      text: `Between LoadGen and SUT: ${finding.why} See "longhaul audit network ${output}".`,
      needed: 'one node behind each address, and nothing that repeats or compresses calls',
      seen: asOneLine(finding.evidence[0] ?? finding.why),
    }));
}

function seenOf({ evidence: [first, ...others] }: AuditFinding): string {
  const more = others.length === 0 ? '' : `; ${others.length} more in "longhaul audit network"`;
  return first === undefined ? '' : asOneLine(`; ${first}${more}`);
}
