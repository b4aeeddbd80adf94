import { posix } from 'node:path';
import { parseConf } from '../../../loadgen/settings/conf-grammar.ts';
import type { NetworkAudit } from '../../../observe/audit/network-audit.ts';
import type { SubmissionScenario } from '../../rules/submission-model.ts';
import type { CheckContext } from '../read/check-context.ts';
import { countOf } from '../read/description-values.ts';
import { readDocument } from '../read/read-document.ts';
import type { ResultSite } from '../read/result-site.ts';
import type { RunLog } from '../read/run-log.ts';

/** Keys of user.conf that say what was asked of the run, and LoadGen's records of what it took. */
const CONF_RECORDS: readonly ConfRecord[] = [
  { key: 'min_duration', record: 'effective_min_duration_ms' },
  { key: 'target_latency', record: 'effective_target_latency_ns', factor: 1e6, of: ['Server'] },
  // Many a user.conf in real submissions has the rate of the last run, a test's: a few percent off says nothing.
  { key: 'target_qps', record: 'effective_target_qps', of: ['Server', 'Offline'], times: 2 },
];

interface ConfRecord {
  readonly key: string;
  readonly record: string;
  /** Of the unit of user.conf to that of the record. */
  readonly factor?: number;
  /** How many times the value of the run may be asked for, or of what is asked for that of the run; absent: once. */
  readonly times?: number;
  /** Absent: every scenario. */
  readonly of?: readonly SubmissionScenario[];
}

/** Largest difference of a number that LoadGen has read and written, as a share. */
const SHARE_TOLERANCE = 1e-5;

/** A year: what lies further apart was not made for one result. */
const DAYS_APART_MAX = 366;

/**
 * What no official tool compares: files of one result that contradict one another, and values that cannot be.
 * @param audits By run; empty outside of the network division.
 */
export function checkPlausible(
  context: CheckContext,
  site: ResultSite,
  {
    logs,
    audits,
  }: {
    readonly logs: ReadonlyMap<string, RunLog>;
    readonly audits: ReadonlyMap<string, NetworkAudit>;
  },
): void {
  const performance = logs.get('performance');
  for (const log of logs.values()) tellLatencies(log);
  tellDates(performance, logs.get('accuracy'));
  if (performance !== undefined) tellUserConf(context, site, performance);
  tellNodes(context, site, audits.get('performance'));
}

function tellLatencies(log: RunLog): void {
  for (const key of log.keys()) {
    if (!/^result_.*latency_ns$/.test(key)) continue;
    const value = log.optionalNumber(key) ?? 0;
    if (value < 0) log.tellOf('latency-impossible', key, `${key} is ${value}.`);
  }
}

function tellDates(performance: RunLog | undefined, accuracy: RunLog | undefined): void {
  const [one, other] = [performance, accuracy].map((log) => log?.optionalText('test_datetime'));
  const days = Math.abs(Date.parse(one ?? '') - Date.parse(other ?? '')) / 86_400_000;
  if (!(days > DAYS_APART_MAX)) return;
  const text = `test_datetime is ${other}, that of the performance run ${one}.`;
  accuracy?.tellOf('runs-far-apart', 'test_datetime', text);
}

/** The most special of the lines counts, as in LoadGen. */
function tellUserConf(context: CheckContext, site: ResultSite, log: RunLog): void {
  const path = posix.join(context.layout.measurements(site.place), 'user.conf');
  // What cannot be read is told where the file is checked.
  if (!context.listing.hasFile(path) || site.measured !== site.scenario) return;
  const { entries } = parseConf(readDocument(context, path) ?? '');
  const { model, scenario } = site;
  for (const { key, record, factor = 1, times = 1, of: scenarios } of CONF_RECORDS) {
    if (scenarios?.includes(scenario) === false) continue;
    const entry = [model?.benchmark ?? '*', '*']
      .flatMap((of) => [`${of}.${scenario}.${key}`, `${of}.*.${key}`])
      .map((name) => entries.get(name))
      .find((one) => one !== undefined);
    const seen = log.optionalNumber(record);
    if (entry === undefined || seen === undefined) continue;
    const asked = Number(entry.text) * factor;
    const most = times * (1 + SHARE_TOLERANCE);
    if (asked <= seen * most && seen <= asked * most) continue;
    const text = `${key} is ${entry.text}, and ${record} in the log of the run ${seen}.`;
    context.findings.add('user-conf-differs', path, text, entry.line);
  }
}

function tellNodes(
  { findings, layout }: CheckContext,
  { division, submitter, system, description }: ResultSite,
  audit: NetworkAudit | undefined,
): void {
  const stated = countOf(description?.['number_of_nodes']);
  const seen = audit?.nodes.length;
  if (stated === undefined || seen === undefined || stated === seen) return;
  const text = `number_of_nodes is ${stated}, and the audit of the run has ${seen}.`;
  findings.add('nodes-differ', layout.system(division, submitter, system), text);
}
