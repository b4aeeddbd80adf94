import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { readAudit } from '../../../observe/audit/audit-file.ts';
import type { NetworkAudit } from '../../../observe/audit/network-audit.ts';
import { DOCUMENT_BYTES_MAX, documentLines } from '../read/read-document.ts';
import type { RunLog } from '../read/run-log.ts';
import type { Answer, ResultFacts, ResultSite } from '../read/sites.ts';
import { isLogOfLonghaul } from './check-audit.ts';

// The two marks, and what nobody can verify of a foreign LoadGen. Any trace is enough for a mark: records of the logs,
// notes in the texts beside them, evidence in the documentation. What was taken out of a log is found as well.

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
const ALWAYS_THERE = ['longhaul_rng_library', 'longhaul_validity'];

/** Records by which a build of LoadGen names its sources. */
const BUILD_RECORDS = ['loadgen_build_date_local', 'loadgen_file_sha1'];

/** True for a run of longhaul, also where only its evidence in the documentation says so. */
export function isOfLonghaul(site: ResultSite, run: string, log: RunLog): boolean {
  return isLogOfLonghaul(log) || traceOf(site, run) !== undefined;
}

/** A log of longhaul that lacks records of longhaul was changed. */
export function removedRecords(log: RunLog) {
  const missing = ALWAYS_THERE.filter((key) => log.record(key) === undefined);
  // A log that is cut or damaged may lack what LoadGen wrote.
  if (missing.length === 0 || log.detail.damageCount > 0) return undefined;
  const text = `It is of a run of longhaul and has no record of ${missing.join(', ')}.`;
  return { file: log.file, text };
}

/** Why nobody can verify the build of another LoadGen; the first reason. */
export function unknownBuild(log: RunLog) {
  const textOf = (key: string): string => {
    const value = log.value(key) ?? '';
    return typeof value === 'object' ? Object.keys(value).join(' ') : String(value);
  };
  const version = textOf('loadgen_version');
  const status = textOf('loadgen_git_status_message').trim();
  const unnamed = BUILD_RECORDS.filter((key) => ['', 'NA'].includes(textOf(key)));
  const [first] = [
    ...(TAGGED.test(version) ? [] : [`loadgen_version is "${version}".`]),
    ...(status === '' ? [] : [`It was built with changes: ${status.slice(0, 90)}.`]),
    ...(unnamed.length === 0 ? [] : [`It does not tell ${unnamed.join(', ')}.`]),
  ];
  return first === undefined ? undefined : log.at('loadgen_version', first);
}

export function ownEngine(facts: ResultFacts): Answer {
  const ours = [...facts.runs.values()].find(isLogOfLonghaul);
  if (ours !== undefined) {
    return `The engine is ${String(ours.value('loadgen_version') ?? 'records of longhaul')}.`;
  }
  const [trace] = evidenceRuns(facts).flatMap((run) => traceOf(facts, run) ?? []);
  const isInReadme = () => readmeMarks(facts).some((mark) => OWN_ENGINE.test(mark));
  const file = trace ?? (isInReadme() ? readmeOf(facts) : undefined);
  return file !== undefined && `${file} is of a run of longhaul, whatever the logs say.`;
}

export function standIn(facts: ResultFacts): Answer {
  return (
    standInNode(facts) ??
    standInOfLogs(facts) ??
    standInNote('accuracy.txt says', facts.notes) ??
    readmeMarks(facts).find((mark) => OWN_STAND_IN.test(mark))
  );
}

/** Runs of a result that left evidence in the documentation, in any division. */
function evidenceRuns({ layout, listing, place }: ResultSite): readonly string[] {
  return listing.entries(posix.dirname(layout.evidence(place, 'any'))).folders;
}

/** File that longhaul left of a run; undefined where there is none. */
function traceOf({ layout, listing, place }: ResultSite, run: string): string | undefined {
  return [RUN_FILES.record, RUN_FILES.audit]
    .map((name) => posix.join(layout.evidence(place, run), name))
    .find((path) => listing.hasFile(path));
}

function standInNode(facts: ResultFacts): string | undefined {
  const nodes = evidenceRuns(facts).flatMap((run) => auditOf(facts, run)?.nodes ?? []);
  const node = nodes.find(({ description }) => description?.model?.isStandIn === true);
  return node && `SUT node ${node.address} runs ${node.description?.model?.name}.`;
}

/** An audit that cannot be read is found where it is needed. */
function auditOf(facts: ResultFacts, run: string): NetworkAudit | undefined {
  const file = posix.join(facts.layout.evidence(facts.place, run), RUN_FILES.audit);
  const isSmall = (facts.listing.bytesOf(file) ?? Infinity) <= DOCUMENT_BYTES_MAX;
  try {
    const read = () => (isSmall ? readAudit(posix.dirname(facts.listing.pathOf(file))) : undefined);
    return facts.audits.get(run) ?? read();
  } catch {
    return undefined;
  }
}

function standInOfLogs(facts: ResultFacts): string | undefined {
  for (const log of facts.runs.values()) {
    const summary = posix.join(posix.dirname(log.file), RUN_FILES.summary);
    const notes = () => smallLines(facts, summary).filter((line) => SUMMARY_NOTE.test(line));
    const text = standInOf(log) ?? standInNote('The summary log says', notes());
    if (text !== undefined) return text;
  }
  return undefined;
}

function standInNote(where: string, notes: readonly string[]): string | undefined {
  const note = notes.find((text) => STAND_IN.test(text));
  return note && `${where}: ${note.slice(0, 200)}.`;
}

function standInOf(log: RunLog): string | undefined {
  const values = (key: string): Record<string, unknown>[] =>
    log.ownValues(key).map((value) => (value ?? {}) as Record<string, unknown>);
  const model = values('longhaul_model').find((one) => String(one['is_stand_in']) === 'true');
  if (model !== undefined) return `The model is ${String(model['name'])}.`;
  const set = values('longhaul_data_set').find((one) => STAND_IN.test(String(one['name'] ?? '')));
  if (set !== undefined) return `The data set is ${String(set['name'])}.`;
  const note = log.ownValues('longhaul_note').find((value) => STAND_IN.test(String(value)));
  return note === undefined ? undefined : `A note of the log says: ${String(note)}.`;
}

function readmeOf({ layout, place }: ResultSite): string {
  return posix.join(layout.measurements(place), 'README.md');
}

function readmeMarks(site: ResultSite): string[] {
  return smallLines(site, readmeOf(site)).flatMap((line) => README_MARK.exec(line)?.[1] ?? []);
}

/** Lines of a text; what is missing or too large is found where its folder is checked. */
function smallLines(site: ResultSite, path: string): string[] {
  const bytes = site.listing.bytesOf(path) ?? Infinity;
  return bytes > DOCUMENT_BYTES_MAX ? [] : documentLines(site, path);
}
