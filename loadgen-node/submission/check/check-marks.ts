import type { NetworkAudit } from '../../audit/network-audit.ts';
import { isOfLonghaul } from './check-audit.ts';
import type { CheckContext } from './check-context.ts';
import type { ResultSite } from './result-site.ts';
import type { RunLog } from './run-log.ts';

/** Versions of LoadGen as a tagged build writes them: `4.1 @ <git hash>`. */
const TAGGED = /^\d+\.\d+(?:\.\d+)? @ [0-9a-f]{7,40}$/;

/** Texts in which longhaul says that a model or a data set is a stand-in. */
const STAND_IN = /\bstand-?in\b/i;

/** What makes a result none of MLPerf, whatever its form. */
export interface MarkEvidence {
  readonly logs: readonly RunLog[];
  readonly audits: readonly NetworkAudit[];
  /** Notes that longhaul writes into accuracy.txt. */
  readonly notes: readonly string[];
}

/** The two marks, and what nobody can verify of a foreign LoadGen. */
export function checkMarks(context: CheckContext, site: ResultSite, evidence: MarkEvidence): void {
  const { findings, layout } = context;
  const folder = layout.result(site.place);
  const standIn = standInText(evidence);
  if (standIn !== undefined) findings.add('stand-in-model', folder, standIn);
  const ours = evidence.logs.find(isOfLonghaul);
  if (ours !== undefined) {
    const version = String(ours.record('loadgen_version')?.value ?? 'records of longhaul');
    findings.add('not-approved-loadgen', folder, `The engine is ${version}.`);
    return;
  }
  for (const log of evidence.logs) {
    const version = String(log.record('loadgen_version')?.value ?? '');
    const status = String(log.record('loadgen_git_status_message')?.value ?? '');
    if (TAGGED.test(version) && status.trim() === '') continue;
    const text = TAGGED.test(version)
      ? `It was built with changes: ${status.trim().slice(0, 90)}.`
      : `loadgen_version is "${version}".`;
    log.tellOf('loadgen-not-known', 'loadgen_version', text);
  }
}

function standInText({ logs, audits, notes }: MarkEvidence): string | undefined {
  for (const { nodes } of audits) {
    const node = nodes.find(({ description }) => description?.model?.isStandIn === true);
    if (node !== undefined) {
      return `SUT node ${node.address} runs ${node.description?.model?.name}.`;
    }
  }
  for (const log of logs) {
    const model = log.record('longhaul_model')?.value as Record<string, unknown> | undefined;
    if (String(model?.['is_stand_in']) === 'true')
      return `The model is ${String(model?.['name'])}.`;
    const set = log.record('longhaul_data_set')?.value as Record<string, unknown> | undefined;
    const name = String(set?.['name'] ?? '');
    if (STAND_IN.test(name)) return `The data set is ${name}.`;
  }
  const note = notes.find((text) => STAND_IN.test(text));
  return note === undefined ? undefined : `accuracy.txt says: ${note.slice(0, 200)}.`;
}
