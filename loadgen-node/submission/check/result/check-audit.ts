import { posix } from 'node:path';
import { SCENARIOS, type Scenario } from '../../../../shared/domain/scenario.ts';
import { compressionBreaches } from '../../../../shared/rules/check-compression.ts';
import { compressionRule } from '../../../../shared/rules/compression-rules.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { AuditFinding, NetworkAudit } from '../../../observe/audit/network-audit.ts';
import { readAudit } from '../../../observe/audit/network-audit.ts';
import { composeAudit } from '../../../run/audit/compose-audit.ts';
import type { CheckContext } from '../read/check-context.ts';
import { DOCUMENT_BYTES_MAX } from '../read/read-document.ts';
import type { ResultSite } from '../read/result-site.ts';
import { type RunLog, wholeMessage } from '../read/run-log.ts';
import type { FindingId } from '../rules/finding-rules.ts';

/** Rules of an audit that the self-check has a rule of its own for. */
const OWN_RULES: Readonly<Record<string, FindingId>> = {
  'separate-machines': 'same-host',
  'name-unique': 'node-names-alike',
  'name-round-trip': 'name-without-round-trip',
  'compression-allowed': 'compression-not-allowed',
};

/** Rules that no run over this protocol can prove. */
const NEVER_PROVABLE: readonly string[] = ['no-caching-at-sut', 'fabric'];

/** Shorter than any round trip over a permitted fabric and back through a process, in ns. */
const ROUND_TRIP_NS_MIN = 2_000;

/** Time of Name() as LoadGen logs it. */
const NAME_KEY = 'get_sut_name_duration_ns';

/**
 * Checks the evidence of one run of a network result, against the rules and against the run's own log.
 * @param run `performance`, `accuracy` or the name of a compliance test.
 */
export function checkAudit(
  context: CheckContext,
  site: ResultSite,
  run: string,
  log: RunLog,
): NetworkAudit | undefined {
  const audit = readEvidence(context, site, run, log);
  checkNameDuration(audit, log);
  if (audit === undefined) return undefined;
  const path = evidencePath(context, site, run);
  tellMismatches(context, site, path, { audit, log });
  const { rules } = judgedAgain(context, site, audit);
  const broken = new Map(
    [...audit.rules, ...rules].flatMap((one) =>
      one.verdict === 'broken' ? [[one.id, one] as const] : [],
    ),
  );
  for (const finding of broken.values()) {
    context.findings.add(OWN_RULES[finding.id] ?? 'audit-rule-broken', path, wordsOf(finding));
  }
  for (const finding of rules) {
    if (finding.verdict !== 'not-provable' || NEVER_PROVABLE.includes(finding.id)) continue;
    context.findings.add('audit-rule-unproved', path, wordsOf(finding));
  }
  return audit;
}

/** Path of a run's network_audit.json in the tree. */
function evidencePath({ layout }: CheckContext, { place }: ResultSite, run: string): string {
  return posix.join(layout.evidence(place, run), RUN_FILES.audit);
}

function readEvidence(
  context: CheckContext,
  site: ResultSite,
  run: string,
  log: RunLog,
): NetworkAudit | undefined {
  const { listing, findings } = context;
  const path = evidencePath(context, site, run);
  const bytes = listing.bytesOf(path);
  if (bytes === undefined) {
    const id = isOfLonghaul(log) ? 'audit-missing' : 'network-rules-unproved';
    findings.add(id, path, `Of the run ${run} there is no such file.`);
    return undefined;
  }
  if (bytes > DOCUMENT_BYTES_MAX) {
    findings.add('audit-broken', path, `It has ${bytes} bytes.`);
    return undefined;
  }
  try {
    return readAudit(posix.dirname(listing.pathOf(path)));
  } catch (error) {
    findings.add('audit-broken', path, `${wholeMessage(error)}.`);
    return undefined;
  }
}

/** True for the log of a run of longhaul. */
export function isOfLonghaul(log: RunLog): boolean {
  if (/^longhaul\b/.test(String(log.record('loadgen_version')?.value ?? ''))) return true;
  return [...log.keys()].some((key) => key.startsWith('longhaul_'));
}

function tellMismatches(
  { findings }: CheckContext,
  { model }: ResultSite,
  path: string,
  { audit, log }: { audit: NetworkAudit; log: RunLog },
): void {
  const { run } = audit;
  const tell = (what: string, here: unknown, there: unknown): void =>
    findings.add('audit-of-another-run', path, `${what} is ${here}, in the run's log ${there}.`);
  const pairs: [what: string, here: string, there: unknown][] = [
    ['The scenario', run.scenario, log.record('effective_scenario')?.value],
    ['The mode', run.mode, log.record('effective_test_mode')?.value],
    ['The benchmark', run.benchmark, model?.benchmark],
  ];
  for (const [what, here, there] of pairs) {
    if (there !== undefined && here !== there) tell(what, here, there);
  }
  const issued = issuedSamples(log);
  const counted = run.loadgen?.issuedSamples ?? run.issuedSamples;
  if (issued !== undefined && issued !== counted) tell('The count of samples', counted, issued);
  const name = log.record('sut_name')?.value;
  const names = audit.nameCalls.map((call) => call.name);
  if (name !== undefined && !names.includes(String(name))) tell('The name', names.join(', '), name);
}

/** Samples of all phases of a run of longhaul; undefined in other logs. */
function issuedSamples(log: RunLog): number | undefined {
  const keys = [...log.keys()].filter((key) => /^longhaul_\w+_issued_samples$/.test(key));
  if (keys.length === 0) return undefined;
  return keys.reduce((sum, key) => sum + (log.optionalNumber(key) ?? 0), 0);
}

/** A verdict is believed only as far as the facts beside it lead to it. */
function judgedAgain(
  { round }: CheckContext,
  { model }: ResultSite,
  audit: NetworkAudit,
): NetworkAudit {
  const { encoding, scenario } = audit.run;
  const benchmark = model?.benchmark ?? audit.run.benchmark;
  const breaches = isScenario(scenario)
    ? compressionBreaches({
        benchmark,
        round,
        scenario,
        encoding,
        scope: 'sample',
        responseCompressions: [],
        hasLargeQueries: scenario !== 'Server',
      })
    : [];
  const text = compressionRule(benchmark, round)?.text ?? null;
  return composeAudit({ ...audit, compression: { breaches, rule: text } });
}

function isScenario(text: string): text is Scenario {
  return (SCENARIOS as readonly string[]).includes(text);
}

function wordsOf({ id, why, evidence }: AuditFinding): string {
  const figures = evidence.length === 0 ? '' : ` (${evidence.join('; ')})`;
  return `${id}: ${why}${figures}`;
}

/** Name() in the log took at least as long as the quickest answer of the nodes. */
function checkNameDuration(audit: NetworkAudit | undefined, log: RunLog): void {
  const duration = log.optionalNumber(NAME_KEY);
  if (duration === undefined) return;
  const rounds = (audit?.nameCalls ?? []).map(({ nodes }) =>
    Math.max(0, ...nodes.map(({ roundTripNs }) => roundTripNs ?? 0)),
  );
  const quickest = rounds.length === 0 ? 0 : Math.min(...rounds);
  if (duration >= quickest && duration >= ROUND_TRIP_NS_MIN) return;
  const measured = quickest > 0 ? `; the nodes took ${quickest} ns to answer` : '';
  log.tellOf('name-without-round-trip', NAME_KEY, `Name() took ${duration} ns${measured}.`);
}
