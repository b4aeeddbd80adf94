import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { NetworkAudit } from '../../../observe/audit/network-audit.ts';
import { readAudit } from '../../../observe/audit/network-audit.ts';
import type { CheckContext } from '../read/check-context.ts';
import { DOCUMENT_BYTES_MAX, documentLines } from '../read/read-document.ts';
import type { ResultSite } from '../read/result-site.ts';
import type { RunLog } from '../read/run-log.ts';
import { isOfLonghaul } from './check-audit.ts';

/** Versions of LoadGen as a tagged build writes them: `4.1 @ <git hash>`. */
const TAGGED = /^\d+\.\d+(?:\.\d+)? @ (?!0+$)[0-9a-f]{7,40}$/;

/** Texts in which longhaul says that a model or a data set is a stand-in. */
const STAND_IN = /\bstand-?in\b/i;

/** Notes in a summary log of longhaul are a list below LoadGen's lines. */
const SUMMARY_NOTE = /^ \* /;

/** How the README of a result, as longhaul writes it, says what must not be missed. */
const README_MARK = /^> \*\*(.*?)\*\*$/;
const OWN_ENGINE = /^Measured by longhaul\b/;
const OWN_STAND_IN = /^(?:Measured with a stand-in|Note of the run:.*\bstand-?in)\b/i;

/** Records that every log of longhaul has, one of its head and one of its end. */
const ALWAYS_THERE = ['longhaul_rng_library', 'longhaul_validity'] as const;

/** Records by which a build of LoadGen names its sources. */
const BUILD_RECORDS = ['loadgen_build_date_local', 'loadgen_file_sha1'] as const;

/** What makes a result none of MLPerf, whatever its form. */
export interface MarkEvidence {
  /** Logs by `performance`, `accuracy` or the name of a compliance test. */
  readonly logs: ReadonlyMap<string, RunLog>;
  /** Audits that were read already, by run. */
  readonly audits: ReadonlyMap<string, NetworkAudit>;
  /** Notes that longhaul writes into accuracy.txt. */
  readonly notes: readonly string[];
}

/**
 * The two marks, and what nobody can verify of a foreign LoadGen. A mark is told by any trace of it: records of the
 * logs, notes in the texts beside them, evidence in the documentation. What was taken out of a log is told as well.
 */
export function checkMarks(context: CheckContext, site: ResultSite, evidence: MarkEvidence): void {
  const { findings, layout } = context;
  const folder = layout.result(site.place);
  const traces = tracesOf(context, site, evidence.audits);
  const standIn =
    standInText(context, evidence, traces.audits) ??
    readmeMarks(context, site).find((mark) => OWN_STAND_IN.test(mark));
  if (standIn !== undefined) findings.add('stand-in-model', folder, standIn);
  const ours = [...evidence.logs.values()].find(isOfLonghaul);
  if (ours !== undefined) {
    const version = String(ours.record('loadgen_version')?.value ?? 'records of longhaul');
    findings.add('not-approved-loadgen', folder, `The engine is ${version}.`);
  } else {
    const file = [...traces.files.values()][0] ?? ownReadme(context, site);
    const text = `${file} is of a run of longhaul, whatever the logs say.`;
    if (file !== undefined) findings.add('not-approved-loadgen', folder, text);
  }
  for (const [run, log] of evidence.logs) {
    if (isOfLonghaul(log) || traces.files.has(run)) checkOwnRecords(log);
    else checkBuild(log);
  }
}

/** A log that lacks records of longhaul was changed. */
function checkOwnRecords(log: RunLog): void {
  const missing = ALWAYS_THERE.filter((key) => log.record(key) === undefined);
  if (missing.length === 0 || !log.isWhole) return;
  const text = `It is of a run of longhaul and has no record of ${missing.join(', ')}.`;
  log.tell('own-records-removed', text);
}

function checkBuild(log: RunLog): void {
  const textOf = (key: string): string => {
    const value = log.record(key)?.value ?? '';
    return typeof value === 'object' ? Object.keys(value as object).join(' ') : String(value);
  };
  const version = textOf('loadgen_version');
  const status = textOf('loadgen_git_status_message').trim();
  const unnamed = BUILD_RECORDS.filter((key) => ['', 'NA'].includes(textOf(key)));
  const texts = [
    ...(TAGGED.test(version) ? [] : [`loadgen_version is "${version}".`]),
    ...(status === '' ? [] : [`It was built with changes: ${status.slice(0, 90)}.`]),
    ...(unnamed.length === 0 ? [] : [`It does not tell ${unnamed.join(', ')}.`]),
  ];
  const [first] = texts;
  if (first !== undefined) log.tellOf('loadgen-not-known', 'loadgen_version', first);
}

/** What longhaul left of the runs of a result, in any division. */
interface Traces {
  /** One file of each run that left some. */
  readonly files: ReadonlyMap<string, string>;
  readonly audits: readonly NetworkAudit[];
}

function tracesOf(
  { layout, listing }: CheckContext,
  { place }: ResultSite,
  known: ReadonlyMap<string, NetworkAudit>,
): Traces {
  const folder = posix.dirname(layout.evidence(place, 'any'));
  const files = new Map<string, string>();
  const audits: NetworkAudit[] = [];
  for (const run of listing.entries(folder).folders) {
    const audit = posix.join(folder, run, RUN_FILES.audit);
    const record = posix.join(folder, run, RUN_FILES.record);
    const file = [record, audit].find((path) => listing.hasFile(path));
    if (file !== undefined) files.set(run, file);
    const bytes = listing.bytesOf(audit) ?? Infinity;
    const read = known.get(run);
    if (read !== undefined) audits.push(read);
    else if (bytes <= DOCUMENT_BYTES_MAX)
      audits.push(...auditIn(posix.dirname(listing.pathOf(audit))));
  }
  return { files, audits };
}

/** One that cannot be read is told where it is needed. */
function auditIn(folder: string): NetworkAudit[] {
  try {
    return [readAudit(folder)];
  } catch {
    return [];
  }
}

function standInText(
  context: CheckContext,
  { logs, notes }: MarkEvidence,
  audits: readonly NetworkAudit[],
): string | undefined {
  for (const { nodes } of audits) {
    const node = nodes.find(({ description }) => description?.model?.isStandIn === true);
    if (node !== undefined) {
      return `SUT node ${node.address} runs ${node.description?.model?.name}.`;
    }
  }
  for (const log of logs.values()) {
    const text = standInOf(log);
    if (text !== undefined) return text;
    const note = summaryNotes(context, log).find((line) => STAND_IN.test(line));
    if (note !== undefined) return `The summary log says: ${note.slice(0, 200)}.`;
  }
  const note = notes.find((text) => STAND_IN.test(text));
  return note === undefined ? undefined : `accuracy.txt says: ${note.slice(0, 200)}.`;
}

/** README.md of a result where it tells that longhaul measured it. */
function ownReadme(context: CheckContext, site: ResultSite): string | undefined {
  const isOwn = readmeMarks(context, site).some((mark) => OWN_ENGINE.test(mark));
  return isOwn ? readmeOf(context, site) : undefined;
}

function readmeOf({ layout }: CheckContext, { place }: ResultSite): string {
  return posix.join(layout.measurements(place), 'README.md');
}

function readmeMarks(context: CheckContext, site: ResultSite): string[] {
  const path = readmeOf(context, site);
  if ((context.listing.bytesOf(path) ?? Infinity) > DOCUMENT_BYTES_MAX) return [];
  return documentLines(context, path).flatMap((line) => README_MARK.exec(line)?.[1] ?? []);
}

function standInOf(log: RunLog): string | undefined {
  const values = (key: string): Record<string, unknown>[] =>
    log.ownRecords(key).map(({ value }) => (value ?? {}) as Record<string, unknown>);
  const model = values('longhaul_model').find((one) => String(one['is_stand_in']) === 'true');
  if (model !== undefined) return `The model is ${String(model['name'])}.`;
  const set = values('longhaul_data_set').find((one) => STAND_IN.test(String(one['name'] ?? '')));
  if (set !== undefined) return `The data set is ${String(set['name'])}.`;
  const note = log.ownRecords('longhaul_note').find(({ value }) => STAND_IN.test(String(value)));
  return note === undefined ? undefined : `A note of the log says: ${String(note.value)}.`;
}

function summaryNotes(context: CheckContext, { file }: RunLog): string[] {
  const path = posix.join(posix.dirname(file), RUN_FILES.summary);
  // What is larger is told where the folder is checked.
  if ((context.listing.bytesOf(path) ?? Infinity) > DOCUMENT_BYTES_MAX) return [];
  return documentLines(context, path).filter((line) => SUMMARY_NOTE.test(line));
}
