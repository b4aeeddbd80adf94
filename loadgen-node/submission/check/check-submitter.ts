import { posix } from 'node:path';
import { modelOfResultFolder } from '../rules/models-of-rounds.ts';
import {
  modelInScenario,
  SUBMISSION_SCENARIOS,
  type SubmissionScenario,
  scenarioNeed,
} from '../rules/submission-model.ts';
import type { SubmissionDivision } from '../rules/submission-rounds.ts';
import { checkResult } from './check-result.ts';
import { suitesOf } from './read/description-values.ts';
import { readJsonObject } from './read/read-document.ts';
import {
  type CheckContext,
  type ModelSite,
  resultsFolder,
  type SubmitterSite,
  type SystemSite,
} from './read/sites.ts';
import type { CheckedResult } from './report/check-report.ts';

/** Checks all that a submitter has in a division. @returns Its results. */
export async function checkSubmitter(
  context: CheckContext,
  division: SubmissionDivision,
  submitter: string,
): Promise<CheckedResult[]> {
  const { listing, findings, layout } = context;
  const file = posix.join(division, submitter);
  const results = resultsFolder(division, submitter);
  const systems = listing.entries(results).folders;
  if (systems.length === 0) {
    findings.add('submitter-empty', file, 'There is nothing in results/.');
    return [];
  }
  const mapping = posix.join(file, 'model_mapping.json');
  const hasMapping = division === 'open' && listing.hasFile(mapping);
  const pathOf = (system: string) => layout.system(division, submitter, system);
  const described = systems.filter((system) => listing.hasFile(pathOf(system)));
  const site: SubmitterSite = {
    ...context,
    ...{ file, division, submitter, systems },
    descriptions: new Map(
      described.map((system) => [system, readJsonObject(context, pathOf(system))]),
    ),
    mapping: hasMapping ? readJsonObject(context, mapping) : undefined,
  };
  findings.check('submitter', site);
  const checked: CheckedResult[] = [];
  for (const system of systems) {
    const description = site.descriptions.get(system);
    const one = { ...site, file: pathOf(system), system, description };
    if (description !== undefined) findings.check('description', { ...one, description });
    for (const model of listing.entries(posix.join(results, system)).folders) {
      checked.push(...(await checkModel(one, model)));
    }
  }
  return checked;
}

/** Checks the results of a model, whatever its folder is called. */
async function checkModel(system: SystemSite, modelFolder: string): Promise<CheckedResult[]> {
  const { listing, findings, round, division, submitter, mapping } = system;
  const file = posix.join(resultsFolder(division, submitter), system.system, modelFolder);
  const model = modelOfResultFolder(round, modelFolder, mapping?.[modelFolder]);
  const scenarios = new Map(listing.entries(file).folders.map((name) => [name, scenarioOf(name)]));
  const need = model && scenarioNeed(model, suitesOf(system.description));
  const site: ModelSite = { ...system, file, modelFolder, model, need, scenarios };
  findings.check('model', site);
  const results: CheckedResult[] = [];
  for (const [name, scenario] of scenarios) {
    if (scenario === undefined) continue;
    // Official tools take folders in any case: paths keep the spelling of the folder.
    const place = {
      ...{ division, submitter, system: system.system, model: modelFolder },
      scenario: name as SubmissionScenario,
    };
    const inScenario = model && modelInScenario(model, scenario);
    const result = { file: system.layout.result(place), model: inScenario, place };
    results.push(await checkResult({ ...site, ...result, scenario, measured: scenario }));
  }
  return results;
}

/** The scenario that a folder is named after, in whatever case, as the official tools have it. */
function scenarioOf(name: string): SubmissionScenario | undefined {
  return SUBMISSION_SCENARIOS.find((scenario) => scenario.toLowerCase() === name.toLowerCase());
}
