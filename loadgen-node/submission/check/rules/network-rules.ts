import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { NetworkAudit } from '../../../observe/network-audit.ts';
import { readAudit } from '../../../observe/network-audit.ts';
import { suitesOf } from '../read/description-values.ts';
import { DOCUMENT_BYTES_MAX, documentLines } from '../read/read-document.ts';
import type { RunLog } from '../read/run-log.ts';
import {
  type Answer,
  isStrict,
  type ResultFacts,
  type ResultSite,
  type SubmitterSite,
} from '../read/sites.ts';
import { auditMismatches, isLogOfLonghaul } from '../result/check-audit.ts';
import { type EngineProof, proofOfEngine } from '../result/cpp-engine.ts';
import { inferenceRules, ours, type RuleTable } from './rule.ts';

/** LoadGen version as written by a tagged build: `4.1 @ <git hash>`. */
const TAGGED = /^\d+\.\d+(?:\.\d+)? @ (?!0+$)[0-9a-f]{7,40}$/;

/** Texts by which longhaul marks a model or a data set as a stand-in. */
const STAND_IN = /\bstand-?in\b/i;

/** Notes in a longhaul summary log are a list after LoadGen's lines. */
const SUMMARY_NOTE = /^ \* /;

/** Form of important marks in a result's README written by longhaul. */
const README_MARK = /^> \*\*(.*?)\*\*$/;
const OWN_ENGINE = /^Measured by longhaul\b/;
const OWN_STAND_IN = /^(?:Measured with a stand-in|Note of the run:.*\bstand-?in)\b/i;

/** Records in every longhaul log, one at its start and one at its end. */
const ALWAYS_THERE = ['longhaul_rng_library', 'longhaul_validity'];

/** Records with which a LoadGen build identifies its sources. */
const BUILD_RECORDS = ['loadgen_build_date_local', 'loadgen_file_sha1'];

/** Subjects that a document must cover, and names by which each is found. */
const TOPICS = [
  {
    of: 'sent',
    what: 'the data marshalled and sent for each query, and the API of the session layer',
    name: /network|protocol|wire|rpc|qdl|\.proto$/i,
  },
  {
    of: 'way',
    what: 'the way of the data from the network card to the accelerator, and its bandwidth',
    name: /bandwidth|architecture|data_?path/i,
  },
] as const;

/** Rules of the Network division that no official tool checks, and the two marks. */
export const NETWORK_DIVISION_RULES = {
  'stand-in-model': {
    severity: 'mark',
    by: [],
    rule: "The run used the benchmark's own model and data set, not a stand-in.",
    because: 'stand-ins have the form of the real model and data, and no accuracy',
    advice: 'Use the model and the data set of the benchmark.',
    read: standIn,
  },
  'not-approved-loadgen': {
    severity: 'mark',
    by: [inferenceRules('LoadGen Operation')],
    rule: 'LoadGen is compiled, unaltered, from an approved revision of mlcommons/inference.',
    advice: 'Do not present the result as an MLPerf result.',
    read: ownEngine,
  },
  'loadgen-not-known': {
    severity: 'warning',
    by: [inferenceRules('LoadGen Operation')],
    rule: 'The log names an unchanged, approved revision of LoadGen, with git hash, build and files.',
    advice: 'Build LoadGen from the tag of the round.',
    read: (facts) =>
      [...facts.runs].map(([run, log]) => !isOfLonghaul(facts, run, log) && unknownBuild(log)),
  },
  'loadgen-contradicted': {
    by: [ours('With the C++ LoadGen')],
    rule: 'The evidence of a run by the C++ LoadGen is of the LoadGen that wrote its log.',
    advice: 'Take the log and network_audit.json from the folder of one run.',
    read: (facts) =>
      proofsOf(facts).map(
        ({ log, proof }) => proof.kind === 'contradiction' && log.at('loadgen_version', proof.text),
      ),
  },
  'own-records-removed': {
    by: [ours('Runs that longhaul did not make')],
    rule: 'Logs of longhaul have all of their longhaul_* records.',
    advice: 'Take the log as longhaul wrote it.',
    read: (facts) =>
      [...facts.runs].map(([run, log]) => isOfLonghaul(facts, run, log) && removedRecords(log)),
  },
  'audit-missing': {
    severity: 'warning',
    by: [ours('The audit of a run')],
    rule: 'documentation/evidence has network_audit.json for each network run of longhaul.',
    advice:
      'Build the tree with longhaul submission build, or add the file from the folder of the run.',
  },
  'network-rules-unproved': {
    severity: 'warning',
    by: [inferenceRules('Network Division')],
    rule: 'Evidence shows that QDL and SUT keep the rules of the Network division.',
    advice: 'Be ready to show it to reviewers: round trip of Name(), counts of both ends, hosts.',
  },
  'audit-broken': {
    severity: 'warning',
    by: [ours('The audit of a run')],
    rule: 'network_audit.json can be read.',
    advice: 'Copy it again from the folder of the run.',
  },
  'audit-of-another-run': {
    by: [ours('The audit of a run')],
    rule: 'network_audit.json is of the run whose logs are in the tree.',
    advice: 'Copy it from the folder of the run.',
    audit: auditMismatches,
  },
  'audit-rule-broken': {
    by: [inferenceRules('Network Division')],
    rule: 'The run broke no rule of the Network division.',
    advice: 'Read longhaul audit, correct it and repeat the run, or submit to open.',
  },
  'audit-rule-unproved': {
    severity: 'warning',
    by: [inferenceRules('Network Division')],
    rule: 'The audit proves every rule that a run can prove.',
    advice: 'Read longhaul audit; be ready to show the rest to reviewers.',
  },
  'same-host': {
    by: [inferenceRules('SUT over the Network and Setup Constraints')],
    rule: 'LoadGen node and SUT nodes are physically separate systems.',
    advice: 'Run the SUT on another machine.',
  },
  'node-names-alike': {
    by: [inferenceRules('QDL Constraints')],
    rule: 'Every SUT node has a name of its own.',
    advice: 'Give each node a name of its own: sut --node.',
  },
  'compression-not-allowed': {
    by: [inferenceRules('Benchmarks and QSL Preprocessing')],
    rule: "Samples are sent in a form that the rules' table of compression options allows.",
    advice: 'Use another encoding or compression, or submit to open.',
  },
  'document-missing': {
    severity: 'warning',
    by: [inferenceRules('QDL Constraints'), inferenceRules('LoadGen Operation')],
    rule: 'Documents describe what the QDL sends (network), and the bandwidth of the data path (closed and network, datacenter).',
    advice:
      'Add the missing document to documentation/, with "network", "protocol", "bandwidth" or "architecture" in its file name; submission build writes both documents.',
    submitter: (site) => {
      const isOfDatacenter = [...site.descriptions.values()].some((one) =>
        suitesOf(one).includes('datacenter'),
      );
      const isAsked = { sent: site.division === 'network', way: isStrict(site) && isOfDatacenter };
      return TOPICS.map(({ of, what, name }) => {
        const isThere = documentsOf(site).some((path) => name.test(posix.basename(path)));
        const text = `No file here has the name of a document on ${what}.`;
        return isAsked[of] && !isThere && { file: documentation(site), text };
      });
    },
  },
  'diagram-missing': {
    severity: 'warning',
    by: [inferenceRules('SUT over the Network and Setup Constraints')],
    rule: 'A network submission has a diagram of the connection between LoadGen node and SUT nodes.',
    advice: 'Add one to documentation/, with "diagram" in its name; submission build draws it.',
    submitter: (site) =>
      site.division === 'network' &&
      !documentsOf(site).some((path) => /diagram[^/]*$/i.test(path)) && {
        file: documentation(site),
        text: 'No file in it has "diagram" in its name.',
      },
  },
} as const satisfies RuleTable;

function documentation({ layout, division, submitter }: SubmitterSite): string {
  return layout.documentation(division, submitter);
}

/** Texts for reviewers, without the evidence that longhaul wrote. */
function documentsOf(site: SubmitterSite): string[] {
  const folder = documentation(site);
  const evidence = posix.join(folder, 'evidence/');
  return [...site.listing.filePaths()].filter(
    (path) => path.startsWith(`${folder}/`) && !path.startsWith(evidence),
  );
}

// The two marks, and foreign LoadGen builds that cannot be verified. Any trace is enough for a
// mark: log records, notes in accompanying texts, evidence in the documentation. Removal from a log
// is detected, too.

/** True for a longhaul run, even if only its evidence in the documentation shows it. */
function isOfLonghaul(site: ResultSite, run: string, log: RunLog): boolean {
  if (isLogOfLonghaul(log)) return true;
  return proofOf(site, run, log) === undefined && traceOf(site, run) !== undefined;
}

/** Records missing in a longhaul log, which was therefore changed. */
function removedRecords(log: RunLog) {
  const missing = ALWAYS_THERE.filter((key) => log.record(key) === undefined);
  // A truncated or damaged log may lack LoadGen's records.
  if (missing.length === 0 || log.detail.damageCount > 0) return undefined;
  const text = `It is of a run of longhaul and has no record of ${missing.join(', ')}.`;
  return { file: log.file, text };
}

/** First reason why another LoadGen's build cannot be verified. */
function unknownBuild(log: RunLog) {
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

/** Proof of a run's C++ LoadGen; undefined for other runs. */
function proofOf(site: ResultSite, run: string, log: RunLog): EngineProof | undefined {
  const audit = auditOf(site, run);
  return audit && proofOfEngine(audit, log, site.listing.pathOf(log.file));
}

function proofsOf(facts: ResultFacts) {
  return [...facts.runs].flatMap(([run, log]) => {
    const proof = proofOf(facts, run, log);
    return proof === undefined ? [] : [{ log, proof }];
  });
}

function ownEngine(facts: ResultFacts): Answer {
  const proofs = proofsOf(facts);
  const unproved = proofs.find(({ proof }) => proof.kind !== 'tag');
  if (unproved !== undefined && 'text' in unproved.proof) return unproved.proof.text;
  if (proofs.length > 0 && proofs.length === facts.runs.size) return false;
  const ours = [...facts.runs.values()].find(isLogOfLonghaul);
  if (ours !== undefined) {
    return `The engine is ${String(ours.value('loadgen_version') ?? 'records of longhaul')}.`;
  }
  const [trace] = evidenceRuns(facts).flatMap((run) => traceOf(facts, run) ?? []);
  const isInReadme = () => readmeMarks(facts).some((mark) => OWN_ENGINE.test(mark));
  const file = trace ?? (isInReadme() ? readmeOf(facts) : undefined);
  return file !== undefined && `${file} is of a run of longhaul, whatever the logs say.`;
}

function standIn(facts: ResultFacts): Answer {
  const nodes = evidenceRuns(facts).flatMap((run) => auditOf(facts, run)?.nodes ?? []);
  const node = nodes.find(({ description }) => description?.model?.isStandIn === true);
  return (
    (node && `SUT node ${node.address} runs ${node.description?.model?.name}.`) ??
    standInOfLogs(facts) ??
    standInNote('accuracy.txt says', facts.notes) ??
    readmeMarks(facts).find((mark) => OWN_STAND_IN.test(mark))
  );
}

/** Runs of a result with evidence in the documentation, in any division. */
function evidenceRuns({ layout, listing, place }: ResultSite): readonly string[] {
  return listing.entries(posix.dirname(layout.evidence(place, 'any'))).folders;
}

/** A file that longhaul left for a run; undefined if there is none. */
function traceOf({ layout, listing, place }: ResultSite, run: string): string | undefined {
  return [RUN_FILES.record, RUN_FILES.audit]
    .map((name) => posix.join(layout.evidence(place, run), name))
    .find((path) => listing.hasFile(path));
}

/** The audit of a run; an unreadable one is reported where it is required. */
function auditOf(
  facts: ResultSite & Partial<Pick<ResultFacts, 'audits'>>,
  run: string,
): NetworkAudit | undefined {
  const file = posix.join(facts.layout.evidence(facts.place, run), RUN_FILES.audit);
  const isSmall = (facts.listing.bytesOf(file) ?? Infinity) <= DOCUMENT_BYTES_MAX;
  try {
    const read = () => (isSmall ? readAudit(posix.dirname(facts.listing.pathOf(file))) : undefined);
    return facts.audits?.get(run) ?? read();
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

/** Lines of a text; missing or too large files are reported by their folder's check. */
function smallLines(site: ResultSite, path: string): string[] {
  const bytes = site.listing.bytesOf(path) ?? Infinity;
  return bytes > DOCUMENT_BYTES_MAX ? [] : documentLines(site, path);
}
