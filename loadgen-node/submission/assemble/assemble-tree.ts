import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  distFolder,
  packageVersion,
  protoFolder,
} from '../../../shared/base/files/package-files.ts';
import {
  DRY_RUN_FILE,
  DRY_RUN_WORDS,
  MARK_FILE,
  MARK_LINE,
  TreeLayout,
} from '../tree/tree-layout.ts';
import { assembleDocuments } from './assemble-documents.ts';
import { assembleResult } from './assemble-result.ts';
import { codeReadme, runScript } from './documents/code-readme.ts';
import { document, table } from './documents/markdown.ts';
import { modelMappingOf } from './plan/open-models.ts';
import type { SubmissionPlan } from './plan/plan-submission.ts';
import type { PlannedImplementation } from './plan/read-implementation.ts';
import type { PlannedResult } from './plan/read-results.ts';
import { systemFields } from './plan/read-system.ts';
import { type DivisionScope, TreeFiles } from './tree-files.ts';

/** Folder of longhaul's own sources, beside those of the models. */
const SOURCES = 'longhaul';

/** Puts every file of a tree in its place; nothing is written yet. @returns Notices: what reviewers will ask about */
export function assembleTree(plan: SubmissionPlan) {
  const files = new TreeFiles();
  const notices = new Set<string>();
  const layout = new TreeLayout(plan.round);
  files.text(MARK_FILE, markText(plan));
  if (plan.isDryRun) files.text(DRY_RUN_FILE, NOT_SUBMITTABLE);
  for (const division of plan.divisions) {
    const results = plan.results.filter(({ entry }) => entry.divisions.includes(division));
    // The plan refuses a result of an implementation that it does not have.
    const implementationOf = ({ entry }: PlannedResult): PlannedImplementation =>
      plan.implementations.get(entry.implementation) as PlannedImplementation;
    const scope = { plan, layout, division, results, files, notices, implementationOf };
    assembleSystems(scope);
    assembleCode(scope);
    for (const result of results) assembleResult(scope, result);
    assembleDocuments(scope);
  }
  return { files, notices: [...notices] };
}

/** LONGHAUL.md: who made the tree, and what is in it. */
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
    'Lists of benchmarks and compliance tests are those of the inference rules of the round; the older ones of the submission rules yield to them.',
  );
}

/** NOT_SUBMITTABLE.md: the mark of a tree for trying things out. */
const NOT_SUBMITTABLE = document(
  `# ${DRY_RUN_WORDS}`,
  'This tree was built with --dry-run-lengths, to try the way from runs to a tree. Runs may be shorter than the rules want, ' +
    'results may not be valid, compliance tests may have failed. "longhaul submission check" calls it an error in any case.',
);

function assembleSystems({ plan, layout, division, results, files }: DivisionScope): void {
  const { submitter } = plan;
  for (const [id, system] of plan.systems) {
    if (results.every(({ entry }) => entry.system !== id)) continue;
    files.json(layout.system(division, submitter, id), systemFields(system, division, submitter));
    if (system.factsFile === undefined) continue;
    const folder = layout.documentation(division, submitter);
    files.copy(`${folder}/${id}/${id}.facts.json`, system.factsFile);
  }
  const mapping = division === 'open' ? modelMappingOf(results) : undefined;
  if (mapping === undefined) return;
  files.json(`${layout.submitter(division, submitter)}/model_mapping.json`, mapping);
}

function assembleCode({ plan, layout, division, results, files, implementationOf }: DivisionScope) {
  const folder = layout.code(division, plan.submitter);
  const sources = longhaulSources();
  files.copyAll(`${folder}/${SOURCES}`, sources);
  files.text(`${folder}/${SOURCES}/SHA256SUMS.txt`, checksumsOf(sources));
  const byCode = new Map<string, [PlannedResult, ...PlannedResult[]]>();
  for (const result of results) {
    const { model, implementation } = result.entry;
    const code = `${folder}/${model}/${implementation}`;
    byCode.set(code, [...(byCode.get(code) ?? []), result] as [PlannedResult]);
  }
  for (const [code, own] of byCode) {
    const implementation = implementationOf(own[0]);
    files.copyAll(code, implementation.files);
    files.text(`${code}/README.md`, codeReadme(implementation, own, `../../${SOURCES}`));
    files.script(`${code}/run.sh`, runScript(implementation, own));
    for (const { name, file } of implementation.weights) {
      if (file !== undefined) files.copy(`${code}/weights/${name}`, file);
    }
  }
}

/**
 * longhaul's own sources that go into a tree, by path below their folder: the QDL, what it shares with a SUT node, the wire
 * contract. TypeScript in a clone, the compiled files where only those are installed.
 * Rule: inference_rules v4.1, Network division (source of the QDL).
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
  for (const part of ['qdl', 'shared']) {
    const source = join(dirname(protoFolder()), part);
    if (existsSync(source)) addFiles(source, part, /\.(ts|conf)$/);
    else addFiles(join(distFolder(), part), part, /\.(js|conf)$/);
  }
  addFiles(join(protoFolder(), 'mlperf'), 'proto/mlperf', /\.proto$/);
  return files;
}

/** SHA-256 of each file in the form of sha256sum. */
function checksumsOf(files: ReadonlyMap<string, string>): string {
  const lines = [...files].map(([name, file]) => {
    const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
    return `${hash}  ${name}\n`;
  });
  return lines.join('');
}
