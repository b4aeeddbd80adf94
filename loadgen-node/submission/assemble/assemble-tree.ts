import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import {
  distFolder,
  packageVersion,
  protoFolder,
} from '../../../shared/base/files/package-files.ts';
import { mlperfConfOf } from '../../../shared/rules/rounds/rounds.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { SubmissionDivision } from '../rules/submission-rounds.ts';
import { hasContent } from '../tree/file-work.ts';
import { isTodo, TODO_MARK, WEIGHTS_KEYS } from '../tree/system-fields.ts';
import {
  DRY_RUN_FILE,
  DRY_RUN_WORDS,
  evidenceOfRun,
  MARK_FILE,
  MARK_LINE,
  type ResultPlace,
  treeLayout,
} from '../tree/tree-layout.ts';
import { bandwidthStatement } from './documents/bandwidth.ts';
import { document, table } from './documents/markdown.ts';
import { codeReadme, measurementReadme, runScript } from './documents/measurement-readme.ts';
import { softwareText, weightsNotice } from './documents/software.ts';
import { systemDiagramText } from './documents/system-diagram-text.ts';
import { diagramSvg } from './plan/network-diagram.ts';
import { modelMappingOf, type SubmissionPlan } from './plan/plan-submission.ts';
import type { PlannedResult } from './plan/read-results.ts';
import type { SubmittedRun } from './plan/read-run.ts';
import { type PlannedSystem, systemFields } from './plan/read-system.ts';
import { type TreeFiles, treeFiles } from './tree-files.ts';

/** Folder of longhaul's own sources, beside those of the models. */
const SOURCES = 'longhaul';

/**
 * Collects every file of a tree by path, without writing. @returns Notices: questions that
 * reviewers will ask
 */
export function assembleTree(plan: SubmissionPlan) {
  const files = treeFiles();
  const notices = new Set<string>();
  files.text(MARK_FILE, markText(plan));
  if (plan.isDryRun) files.text(DRY_RUN_FILE, NOT_SUBMITTABLE);
  for (const division of plan.divisions) {
    const scope = scopeOf(plan, division, files, notices);
    const { results, submitter } = scope;
    const mapping = division === 'open' ? modelMappingOf(results) : undefined;
    if (mapping !== undefined) files.json(`${division}/${submitter}/model_mapping.json`, mapping);
    assembleCode(scope);
    for (const result of results) assembleResult(scope, result);
    assembleDocuments(scope);
  }
  return { files, notices: [...notices] };
}

/** One division of a tree: its results, and the destinations of its files. */
function scopeOf(
  { submitter, round, isDryRun, systems, results: all }: SubmissionPlan,
  division: SubmissionDivision,
  files: TreeFiles,
  notices: Set<string>,
) {
  const layout = treeLayout(round);
  return {
    division,
    submitter,
    round,
    isDryRun,
    systems,
    layout,
    files,
    notices,
    code: layout.code(division, submitter),
    documentation: layout.documentation(division, submitter),
    results: all.filter(({ entry }) => entry.divisions.includes(division)),
  };
}

type DivisionScope = ReturnType<typeof scopeOf>;

/** LONGHAUL.md: the tool that built the tree, and the tree's content. */
function markText({ submitter, round, results, isDryRun }: SubmissionPlan): string {
  const rows = results.map(({ entry }) => [
    entry.divisions.join(', '),
    entry.system,
    entry.model,
    entry.scenario,
    entry.inferred_from === undefined ? 'measured' : `inferred from ${entry.inferred_from}`,
  ]);
  return document(
    `${MARK_LINE}\n# Results of ${submitter} for round ${round}`,
    isDryRun ? `> **${DRY_RUN_WORDS}: see ${DRY_RUN_FILE}**` : '',
    `Assembled by longhaul ${packageVersion()}. "submission build --force" replaces this folder because this file is here.`,
    table(['divisions', 'system', 'model', 'scenario', ''], rows),
    round === 'v0.5'
      ? "Counts, bounds and quality targets are those of the round's paper; its validation tests are not part of this tree."
      : 'Lists of benchmarks and compliance tests are those of the inference rules of the round; the older ones of the submission rules yield to them.',
  );
}

/** NOT_SUBMITTABLE.md: the mark of a dry-run tree. */
const NOT_SUBMITTABLE = document(
  `# ${DRY_RUN_WORDS}`,
  'This tree was built with --dry-run-lengths, to try the way from runs to a tree. Runs may be shorter than the rules want, ' +
    'results may not be valid, compliance tests may have failed. "longhaul submission check" calls it an error in any case.',
);

function assembleCode({ code: folder, results, files }: DivisionScope): void {
  const sources = longhaulSources();
  files.copyAll(`${folder}/${SOURCES}`, sources);
  files.text(`${folder}/${SOURCES}/SHA256SUMS.txt`, checksumsOf(sources));
  const byCode = new Map<string, PlannedResult[]>();
  for (const result of results) {
    const code = `${folder}/${result.entry.model}/${result.entry.implementation}`;
    byCode.set(code, [...(byCode.get(code) ?? []), result]);
  }
  for (const [code, own] of byCode) {
    const [{ implementation }] = own as [PlannedResult];
    files.copyAll(code, implementation.files);
    files.text(`${code}/README.md`, codeReadme(implementation, own, `../../${SOURCES}`));
    files.script(`${code}/run.sh`, runScript(implementation, own));
    for (const { name, file } of implementation.weights) {
      if (file !== undefined) files.copy(`${code}/weights/${name}`, file);
    }
  }
}

/**
 * longhaul's own sources for a tree, by path below their folder: the QDL, its bridge to the C++
 * LoadGen, code shared with a SUT node, the wire contract. TypeScript in a clone, compiled files in
 * an installed package. Rule: inference_rules v4.1, Network division (source of the QDL).
 */
function longhaulSources(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const addFiles = (folder: string, name: string, ending: RegExp): void => {
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) addFiles(path, `${name}/${entry.name}`, ending);
      else if (ending.test(entry.name)) files.set(`${name}/${entry.name}`, path);
    }
  };
  for (const part of ['qdl', 'shared', 'loadgen-node/official']) {
    const source = join(dirname(protoFolder()), part);
    if (existsSync(source)) addFiles(source, part, /\.(ts|conf|cc)$/);
    else addFiles(join(distFolder(), part), part, /\.(js|conf|cc)$/);
  }
  addFiles(join(protoFolder(), 'mlperf'), 'proto/mlperf', /\.proto$/);
  return files;
}

/** SHA-256 of each file in the form of sha256sum. */
function checksumsOf(files: ReadonlyMap<string, string>): string {
  const hash = (file: string): string =>
    createHash('sha256').update(readFileSync(file)).digest('hex');
  return [...files].map(([name, file]) => `${hash(file)}  ${name}\n`).join('');
}

/** Adds a result's files: logs, measurements, compliance tests, evidence. */
function assembleResult(scope: DivisionScope, result: PlannedResult): void {
  const { layout, division, submitter, files } = scope;
  const { system, model, scenario } = result.entry;
  const place: ResultPlace = { division, submitter, system, model, scenario };
  const { performance, others, accuracy, tests } = result.runs;
  type Names = readonly (keyof typeof RUN_FILES)[];
  const copy = (folder: string, run: SubmittedRun, names: Names): void => {
    for (const name of names) {
      const file = run.files[name];
      // The check of the tree finds missing files.
      if (hasContent(file)) files.copy(posix.join(folder, RUN_FILES[name]), file);
    }
  };
  // Only these: the official checkers refuse unknown files.
  for (const [i, run] of [performance, ...others].entries()) {
    copy(layout.performance(place, i + 1), run, performanceFiles(scope));
  }
  copy(layout.accuracy(place), accuracy, ['summary', 'detail', 'accuracy', 'accuracyText']);
  for (const [name, file] of shownFiles(accuracy, result)) {
    files.copy(posix.join(layout.accuracy(place), name), file);
  }
  assembleMeasurements(scope, result, place);
  const further = others.map((run, i) => [evidenceOfRun(i + 1), run] as const);
  for (const [kind, run] of [...Object.entries({ performance, accuracy }), ...further]) {
    copy(layout.evidence(place, kind), run, ['audit', 'record']);
  }
  // Open needs no tests, and the official checkers do not look for them.
  if (division === 'open') return;
  for (const { test, files: own, evidence } of tests) {
    files.copyAll(layout.compliance(place, test), own);
    files.copyAll(layout.evidence(place, test), evidence);
  }
}

/** Files of a performance run; only v0.5's checker wants the accuracy log as well. */
function performanceFiles({ round }: DivisionScope): readonly (keyof typeof RUN_FILES)[] {
  return round === 'v0.5' ? ['summary', 'detail', 'accuracy'] : ['summary', 'detail'];
}

/** Existing pictures of an accuracy run that the round requires, by path beside accuracy.txt. */
function shownFiles(accuracy: SubmittedRun, { model }: PlannedResult): [string, string][] {
  const { folder = '', ids = [] } = model?.accuracyFiles ?? {};
  const names = [...ids.map((id) => `${id}.png`), 'captions.txt'];
  const from = dirname(accuracy.files.accuracyText);
  return names
    .map((name): [string, string] => [`${folder}/${name}`, join(from, folder, name)])
    .filter(([, file]) => folder !== '' && existsSync(file));
}

function assembleMeasurements(
  scope: DivisionScope,
  result: PlannedResult,
  place: ResultPlace,
): void {
  const { layout, round, files } = scope;
  const { implementation } = result;
  const folder = layout.measurements(place);
  const weights = WEIGHTS_KEYS.map((key) => [key, implementation.entry[key]]);
  files.json(layout.measurementsFile(place, implementation.id), Object.fromEntries(weights));
  const code = `${scope.code}/${place.model}/${implementation.id}`;
  const readme = measurementReadme({
    ...scope,
    result,
    code: posix.relative(folder, code),
    documentation: posix.relative(folder, scope.documentation),
  });
  files.text(`${folder}/README.md`, readme);
  files.text(`${folder}/user.conf`, result.userConf);
  // Only these rounds' checkers require it; later LoadGens have it built in.
  if (round === 'v0.5' || round === 'v4.1')
    files.text(`${folder}/mlperf.conf`, mlperfConfOf(round));
  if (layout.isFlat) return;
  files.text(`${folder}/calibration_process.adoc`, `${implementation.calibration.trim()}\n`);
}

/**
 * Writes the texts for reviewers: per division network.md (not in closed) and the calibration, and
 * all texts on each system.
 */
function assembleDocuments(scope: DivisionScope): void {
  const { systems, layout, division, results, files, notices } = scope;
  const folder = scope.documentation;
  // A closed system sends no data over a network.
  if (division !== 'closed') {
    files.text(
      `${folder}/network.md`,
      networkText(`../${layout.isFlat ? 'src' : 'code'}/longhaul`),
    );
  }
  const implementations = new Set(results.map(({ implementation }) => implementation));
  const calibration = document(
    '# Calibration and transformation of weights',
    ...[...implementations].flatMap(({ id, calibration }) => [`## ${id}`, calibration]),
  );
  files.text(`${folder}/calibration.md`, calibration);
  for (const [id, system] of systems) {
    const own = results.filter(({ entry }) => entry.system === id);
    if (own.length > 0) assembleSystem(scope, system, own);
  }
  const notice = weightsNotice(implementations);
  if (notice !== undefined) notices.add(notice);
}

function assembleSystem(
  scope: DivisionScope,
  system: PlannedSystem,
  results: readonly PlannedResult[],
): void {
  const { files, notices, layout, division, submitter } = scope;
  const { id, network, fields, factsFile } = system;
  const folder = `${scope.documentation}/${id}`;
  files.json(
    layout.system(division, submitter, id),
    systemFields(system, division, submitter, scope.round),
  );
  if (factsFile !== undefined) files.copy(`${folder}/${id}.facts.json`, factsFile);
  // Only later rounds require it.
  if (scope.round !== 'v0.5') {
    const { text, shortfalls } = bandwidthStatement(system, results);
    files.text(`${folder}/bandwidth.md`, text);
    for (const shortfall of shortfalls) notices.add(`bandwidth of ${id}: ${shortfall}`);
  }
  files.text(`${folder}/software.md`, softwareText(id, String(fields['status'] ?? ''), results));
  if (network === undefined) return;
  const texts = { loadgen: machineTexts(system, 'loadgen'), sut: machineTexts(system, 'sut') };
  files.text(`${folder}/system_diagram.svg`, diagramSvg(`System diagram of ${id}`, network, texts));
  files.text(`${folder}/system_diagram.md`, systemDiagramText(system, network, results));
}

/** Lines in a machine's box below its name. */
function machineTexts({ fields }: PlannedSystem, end: 'loadgen' | 'sut'): string[] {
  const nics = countedText(fields, `number_nic_${end}`, `nic_${end}`, 'NIC');
  if (end === 'loadgen') return ['LoadGen, QSL, QDL', ...nics];
  const accelerators = fields['accelerators_per_node'];
  const compute =
    accelerators === undefined || /^(0*|none|n\/a)$/i.test(String(accelerators).trim())
      ? shortText(fields, 'host_processor_model_name', 'processor')
      : countedText(fields, 'accelerators_per_node', 'accelerator_model_name', 'accelerator');
  return [...nics, ...compute];
}

/** `2 x a card`; only the text if the number is missing or a TODO. */
function countedText(fields: PlannedSystem['fields'], countKey: string, key: string, what: string) {
  const count = String(fields[countKey] ?? '').trim();
  const texts = shortText(fields, key, what);
  return /^[1-9]\d*$/.test(count) ? texts.map((text) => `${count} x ${text}`) : texts;
}

/** A box only has room for a name; the description contains the TODO's instruction. */
function shortText(fields: PlannedSystem['fields'], key: string, what: string): string[] {
  const text = String(fields[key] ?? '').trim();
  if (text === '' || /^(none|n\/a)$/i.test(text)) return [];
  return [isTodo(text) ? `${TODO_MARK}: ${what}` : text];
}

/** Heading of the section about files outside a tree. */
const DEVELOPERS = '\n## For developers';

/**
 * network.md: what is marshalled and sent for each query, and the location of the QDL's source in
 * the tree. Source: inference_rules v4.1, "QDL implementation" (source above the session layer,
 * session layer API).
 * @param sources Folder of longhaul's sources, relative to network.md.
 */
function networkText(sources: string): string {
  const [story = ''] = readFileSync(join(protoFolder(), 'README.md'), 'utf8').split(DEVELOPERS);
  return document(
    '# How LoadGen node and SUT nodes talk',
    `The Query Dispatch Library (QDL) is that of longhaul ${packageVersion()}. Its source lies in ` +
      `[${sources}/qdl](${sources}/qdl), from LoadGen's calls (\`query-dispatch-library\`) down to gRPC, which is the ` +
      `session layer; what it shares with a SUT node in [${sources}/shared](${sources}/shared). The session layer's ` +
      `API is the gRPC service of [${sources}/proto/mlperf/network/v1/sut.proto](${sources}/proto/mlperf/network/v1/sut.proto): ` +
      'every message and field is explained there. What follows tells the same as a story.',
    // One heading level down, so that this document has only one title.
    story.replace(/^#/gm, '##'),
  );
}
