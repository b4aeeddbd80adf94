import { asOneLine } from '../../../shared/base/text/one-line.ts';
import type { Judgement } from '../../loadgen/engine/test-context.ts';
import type { AuditFinding, NetworkAudit } from '../../observe/audit/network-audit.ts';

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
