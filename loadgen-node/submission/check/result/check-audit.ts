import { posix } from 'node:path';
import { SCENARIOS, type Scenario } from '../../../../shared/domain/scenario.ts';
import { compressionBreaches } from '../../../../shared/rules/check-compression.ts';
import { compressionRule } from '../../../../shared/rules/compression-rules.ts';
import { isRunnable } from '../../../../shared/rules/rounds/rounds.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { AuditFinding, NetworkAudit } from '../../../observe/network-audit.ts';
import { readAudit } from '../../../observe/network-audit.ts';
import { composeAudit } from '../../../run/audit/compose-audit.ts';
import { DOCUMENT_BYTES_MAX, wholeMessage } from '../read/read-document.ts';
import type { RunLog } from '../read/run-log.ts';
import type { Answer, Facts, ResultSite } from '../read/sites.ts';

/** Audit rules that have their own rule in the self-check. */
const OWN_RULES: Readonly<Record<string, string>> = {
  'separate-machines': 'same-host',
  'name-unique': 'node-names-alike',
  'name-round-trip': 'name-without-round-trip',
  'compression-allowed': 'compression-not-allowed',
};

/** Rules that no run over this protocol can prove. */
const NEVER_PROVABLE: readonly string[] = ['no-caching-at-sut', 'fabric'];

/**
 * Path of a run's network_audit.json in the tree. @param run `performance`, `accuracy` or the name
 * of a compliance test.
 */
function evidencePath({ layout, place }: ResultSite, run: string): string {
  return posix.join(layout.evidence(place, run), RUN_FILES.audit);
}

/**
 * Checks the evidence of one run of a network result, against the rules and against the run's log.
 */
export function checkAudit(site: ResultSite, run: string, log: RunLog): NetworkAudit | undefined {
  const { findings } = site;
  const file = evidencePath(site, run);
  const audit = readEvidence(site, run, log);
  if (audit === undefined) return undefined;
  findings.check('audit', { ...site, file, log, audit });
  const { rules } = judgedAgain(site, audit);
  const broken = [...audit.rules, ...rules].filter(({ verdict }) => verdict === 'broken');
  // A rule broken by both verdicts is reported once, with the second text.
  for (const finding of new Map(broken.map((one) => [one.id, one])).values()) {
    findings.add(OWN_RULES[finding.id] ?? 'audit-rule-broken', file, wordsOf(finding));
  }
  for (const finding of rules) {
    if (finding.verdict !== 'not-provable' || NEVER_PROVABLE.includes(finding.id)) continue;
    findings.add('audit-rule-unproved', file, wordsOf(finding));
  }
  return audit;
}

function readEvidence(site: ResultSite, run: string, log: RunLog): NetworkAudit | undefined {
  const { listing, findings, unprovedRuns } = site;
  const path = evidencePath(site, run);
  const bytes = listing.bytesOf(path);
  if (bytes === undefined) {
    if (!isLogOfLonghaul(log)) unprovedRuns.push(log.file);
    else findings.add('audit-missing', path, `Of the run ${run} there is no such file.`);
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

/** True for the log of a longhaul run. */
export function isLogOfLonghaul(log: RunLog): boolean {
  if (/^longhaul\b/.test(String(log.value('loadgen_version') ?? ''))) return true;
  return [...log.keys()].some((key) => key.startsWith('longhaul_'));
}

/** Compares an audit with the log of its run. */
export function auditMismatches({ audit, log, model }: Facts['audit']): Answer {
  const { run } = audit;
  const names = audit.nameCalls.map((call) => call.name);
  const name = log.value('sut_name');
  const seenNames = names.includes(String(name)) ? name : names.join(', ');
  const triples: [what: string, here: unknown, there: unknown][] = [
    ['The scenario', run.scenario, log.value('effective_scenario')],
    ['The mode', run.mode, log.value('effective_test_mode')],
    ['The benchmark', run.benchmark, model?.benchmark],
    ['The count of samples', run.loadgen?.issuedSamples ?? run.issuedSamples, issuedSamples(log)],
    ['The name', seenNames, name],
  ];
  return triples.map(
    ([what, here, there]) =>
      there !== undefined &&
      here !== there &&
      `${what} is ${String(here)}, in the run's log ${String(there)}.`,
  );
}

/** Samples of all phases of a longhaul run; undefined for other logs. */
function issuedSamples(log: RunLog): number | undefined {
  const keys = [...log.keys()].filter((key) => /^longhaul_\w+_issued_samples$/.test(key));
  if (keys.length === 0) return undefined;
  return keys.reduce((sum, key) => sum + (log.number(key) ?? 0), 0);
}

/** Judges an audit's facts again: a stated verdict is trusted only if its facts lead to it. */
function judgedAgain({ round, model }: ResultSite, audit: NetworkAudit): NetworkAudit {
  const { encoding, scenario } = audit.run;
  const benchmark = model?.benchmark ?? audit.run.benchmark;
  // A longhaul run is of a runnable round.
  const isRun = isRunnable(round);
  const breaches =
    isRun && isScenario(scenario)
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
  const text = (isRun && compressionRule(benchmark, round)?.text) || null;
  return composeAudit({ ...audit, compression: { breaches, rule: text } });
}

function isScenario(text: string): text is Scenario {
  return (SCENARIOS as readonly string[]).includes(text);
}

function wordsOf({ id, why, evidence }: AuditFinding): string {
  const figures = evidence.length === 0 ? '' : ` (${evidence.join('; ')})`;
  return `${id}: ${why}${figures}`;
}
