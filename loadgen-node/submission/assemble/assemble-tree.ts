import { DRY_RUN_FILE, MARK_FILE, TreeLayout } from '../tree/tree-layout.ts';
import { assembleDocuments } from './assemble-documents.ts';
import { assembleResult } from './assemble-result.ts';
import type { DivisionScope } from './division-scope.ts';
import { codeReadme, runScript } from './documents/code-readme.ts';
import { markText, notSubmittableText } from './documents/root-texts.ts';
import { checksumsOf, longhaulSources } from './longhaul-sources.ts';
import { modelMappingOf } from './plan/open-models.ts';
import type { PlannedImplementation, PlannedResult, SubmissionPlan } from './plan/plan-types.ts';
import { systemFields } from './plan/system-file.ts';
import { PlannedFiles } from './planned-files.ts';

/** Folder of longhaul's own sources, beside those of the models. */
const SOURCES = 'longhaul';

/** A tree before it is written. */
export interface AssembledTree {
  readonly files: PlannedFiles;
  /** What reviewers will ask about; whole sentences. */
  readonly notices: readonly string[];
}

/** Puts every file of a tree in its place; nothing is written yet. */
export function assembleTree(plan: SubmissionPlan): AssembledTree {
  const files = new PlannedFiles();
  const notices: string[] = [];
  const layout = new TreeLayout(plan.round);
  files.text(MARK_FILE, markText(plan));
  if (plan.isDryRun) files.text(DRY_RUN_FILE, notSubmittableText());
  for (const division of plan.divisions) {
    const results = plan.results.filter(({ entry }) => entry.divisions.includes(division));
    const scope = { plan, layout, division, results, files, notices };
    assembleSystems(scope);
    assembleCode(scope);
    for (const result of results) assembleResult(scope, result);
    assembleDocuments(scope);
  }
  return { files, notices: [...new Set(notices)] };
}

function assembleSystems({ plan, layout, division, results, files }: DivisionScope): void {
  const folder = layout.documentation(division, plan.submitter);
  for (const [id, system] of plan.systems) {
    if (results.every(({ entry }) => entry.system !== id)) continue;
    const fields = systemFields(system, division, plan.submitter);
    files.json(layout.system(division, plan.submitter, id), fields);
    if (system.factsFile !== undefined) {
      files.copy(`${folder}/${id}/${id}.facts.json`, system.factsFile);
    }
  }
  const mapping = division === 'open' ? modelMappingOf(results) : undefined;
  if (mapping !== undefined) {
    files.json(`${layout.submitter(division, plan.submitter)}/model_mapping.json`, mapping);
  }
}

function assembleCode({ plan, layout, division, results, files }: DivisionScope): void {
  const folder = layout.code(division, plan.submitter);
  const sources = longhaulSources();
  files.copyAll(`${folder}/${SOURCES}`, sources);
  files.text(`${folder}/${SOURCES}/SHA256SUMS.txt`, checksumsOf(sources));
  for (const [model, implementation, own] of implementationsOf(plan, results)) {
    const code = `${folder}/${model}/${implementation.id}`;
    files.copyAll(code, implementation.files);
    files.text(`${code}/README.md`, codeReadme(implementation, own, `../../${SOURCES}`));
    files.script(`${code}/run.sh`, runScript(implementation, own));
    for (const { name, file } of implementation.weights) {
      if (file !== undefined) files.copy(`${code}/weights/${name}`, file);
    }
  }
}

/** Each model and implementation that a division has, and their results. */
function implementationsOf(
  plan: SubmissionPlan,
  results: readonly PlannedResult[],
): [string, PlannedImplementation, PlannedResult[]][] {
  const pairs = new Map<string, [string, PlannedImplementation, PlannedResult[]]>();
  for (const result of results) {
    const { model, implementation: id } = result.entry;
    const implementation = plan.implementations.get(id) as PlannedImplementation;
    const pair = pairs.get(`${model}/${id}`) ?? [model, implementation, []];
    pair[2].push(result);
    pairs.set(`${model}/${id}`, pair);
  }
  return [...pairs.values()];
}
