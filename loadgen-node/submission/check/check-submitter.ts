import { posix } from 'node:path';
import { isNetworkDivisionScenario } from '../../../shared/domain/scenario.ts';
import { modelOfFolder, modelOfName } from '../rules/models-of-rounds.ts';
import {
  type ScenarioNeed,
  type SubmissionModel,
  type SubmissionScenario,
  scenarioNeed,
} from '../rules/submission-model.ts';
import type { SubmissionDivision } from '../rules/submission-rounds.ts';
import type { CheckContext } from './read/check-context.ts';
import type { JsonObject } from './read/description-values.ts';
import { readJsonObject } from './read/read-document.ts';
import {
  isStrict,
  modelOfResult,
  type ResultSite,
  resultsFolder,
  type SystemSite,
  scenarioOfFolder,
} from './read/result-site.ts';
import type { CheckedResult } from './report/check-report.ts';
import { checkResult } from './result/check-result.ts';
import { checkSystems, suitesOf } from './system/check-systems.ts';

/** Rounds in which nobody asks for calibration.md. */
const WITHOUT_CALIBRATION: readonly string[] = ['v4.1', 'v5.0'];

/** Checks all that a submitter has in a division. @returns Its results. */
export async function checkSubmitter(
  context: CheckContext,
  division: SubmissionDivision,
  submitter: string,
): Promise<CheckedResult[]> {
  const { listing, findings, round } = context;
  const folder = resultsFolder(division, submitter);
  const systems = listing.entries(folder).folders;
  if (systems.length === 0) {
    findings.add(
      'submitter-empty',
      posix.join(division, submitter),
      'There is nothing in results/.',
    );
    return [];
  }
  const descriptions = checkSystems(context, division, submitter);
  checkUnused(context, division, submitter);
  if (isStrict({ division }) && !WITHOUT_CALIBRATION.includes(round)) {
    checkCalibration(context, division, submitter);
  }
  const isOfDatacenter = [...descriptions.values()].some((one) =>
    suitesOf(one).includes('datacenter'),
  );
  checkDocuments(context, { division, submitter, isOfDatacenter });
  const mapping = readModelMapping(context, division, submitter);
  const results: CheckedResult[] = [];
  for (const system of systems) {
    const site = { division, submitter, system, description: descriptions.get(system) };
    for (const model of listing.entries(posix.join(folder, system)).folders) {
      results.push(...(await checkModel(context, site, { folder: model, mapping })));
    }
  }
  return results;
}

/** What an open submission calls its models; undefined where it has no such file. Unknown names are told. */
function readModelMapping(
  context: CheckContext,
  division: SubmissionDivision,
  submitter: string,
): JsonObject | undefined {
  const path = posix.join(division, submitter, 'model_mapping.json');
  if (division !== 'open' || !context.listing.hasFile(path)) return undefined;
  const mapping = readJsonObject(context, path);
  for (const [folder, name] of Object.entries(mapping ?? {})) {
    const { round, findings } = context;
    if (typeof name === 'string' && modelOfName(round, name) !== undefined) continue;
    const right = typeof name === 'string' ? modelOfFolder(round, name)?.name : undefined;
    const hint = right === undefined ? '' : `: the official tools call it "${right}"`;
    const text = `"${folder}" stands for ${JSON.stringify(name)}, which is no name of a model of ${round}${hint}.`;
    findings.add('model-mapping-wrong', path, text);
  }
  return mapping;
}

/** Folders of measurements without results; in the flat layout there are none. */
function checkUnused(
  { listing, findings, layout }: CheckContext,
  division: SubmissionDivision,
  submitter: string,
): void {
  if (layout.isFlat) return;
  const folder = posix.join(division, submitter, 'measurements');
  const systems = listing.entries(resultsFolder(division, submitter)).folders;
  for (const name of listing.entries(folder).folders) {
    if (systems.includes(name)) continue;
    findings.add('measurements-unused', posix.join(folder, name), 'No results are of this system.');
  }
}

function checkCalibration(
  { listing, findings }: CheckContext,
  division: SubmissionDivision,
  submitter: string,
): void {
  const folder = posix.join(division, submitter);
  const paths = ['calibration.md', 'documentation/calibration.md'];
  if (paths.some((path) => listing.hasFile(posix.join(folder, path)))) return;
  findings.add('calibration-missing', folder, `There is none of ${paths.join(', ')}.`);
}

/** What somebody has to have written down, and how the files that tell it are called. */
const TOPICS = [
  {
    what: 'what is marshalled and sent for each query, and the API of the session layer',
    name: /network|protocol|wire|rpc|qdl|\.proto$/i,
    isAsked: ({ division }: DocumentPlace) => division === 'network',
  },
  {
    what: 'the way of the data from the network card to the accelerator, and its bandwidth',
    name: /bandwidth|architecture|data_?path/i,
    isAsked: ({ division, isOfDatacenter }: DocumentPlace) =>
      isStrict({ division }) && isOfDatacenter,
  },
] as const;

interface DocumentPlace {
  readonly division: SubmissionDivision;
  readonly submitter: string;
  readonly isOfDatacenter: boolean;
}

/** Texts for reviewers say all that they have to say. */
function checkDocuments(context: CheckContext, place: DocumentPlace): void {
  const { division, submitter } = place;
  const { listing, layout, findings } = context;
  const folder = layout.documentation(division, submitter);
  const evidence = posix.join(folder, 'evidence/');
  const documents = [...listing.filePaths()].filter(
    (path) => path.startsWith(`${folder}/`) && !path.startsWith(evidence),
  );
  for (const { what, name, isAsked } of TOPICS) {
    if (!isAsked(place) || documents.some((path) => name.test(posix.basename(path)))) continue;
    findings.add('document-missing', folder, `By its name no file in it tells ${what}.`);
  }
  if (division !== 'network' || documents.some((path) => /diagram[^/]*$/i.test(path))) return;
  findings.add('diagram-missing', folder, 'No file in it has "diagram" in its name.');
}

async function checkModel(
  context: CheckContext,
  system: SystemSite,
  { folder, mapping }: { folder: string; mapping: JsonObject | undefined },
): Promise<CheckedResult[]> {
  const { listing, findings, round } = context;
  const { division, submitter } = system;
  const path = posix.join(resultsFolder(division, submitter), system.system, folder);
  const model = modelOfResult(round, division, folder, mapping);
  const need = model === undefined ? undefined : scenarioNeed(model, suitesOf(system.description));
  // Open may have models of its own, but every official tool asks for the round's model that they stand for.
  if (need === undefined) {
    const of = model === undefined ? `round ${round}` : 'the suite of the system';
    findings.add('model-unknown', path, `"${folder}" is no model of ${of}.`);
  }
  const results: CheckedResult[] = [];
  const scenarios: SubmissionScenario[] = [];
  for (const name of listing.entries(path).folders) {
    const scenario = scenarioOfFolder(name);
    if (scenario === undefined) {
      findings.add('scenario-unknown', posix.join(path, name), `"${name}" is no scenario.`);
      continue;
    }
    scenarios.push(scenario);
    checkScenario(context, system, posix.join(path, name), { scenario, need });
    results.push(await checkResult(context, siteOf(system, { folder, model, scenario, name })));
  }
  if (isStrict(system) && need !== undefined) tellMissing(context, path, { need, scenarios });
  return results;
}

function siteOf(
  system: SystemSite,
  of: {
    folder: string;
    model: SubmissionModel | undefined;
    scenario: SubmissionScenario;
    name: string;
  },
): ResultSite {
  const { division, submitter } = system;
  const { folder, model, scenario, name } = of;
  // Official tools take folders in any case: paths keep the spelling of the folder.
  const place = {
    division,
    submitter,
    system: system.system,
    model: folder,
    scenario: name as SubmissionScenario,
  };
  return { ...system, modelFolder: folder, model, scenario, measured: scenario, place };
}

function checkScenario(
  { findings }: CheckContext,
  system: SystemSite,
  path: string,
  { scenario, need }: { scenario: SubmissionScenario; need: ScenarioNeed | undefined },
): void {
  const isOfDatacenter = scenario === 'Interactive' || isNetworkDivisionScenario(scenario);
  const isNeeded = [...(need?.required ?? []), ...(need?.oneOf ?? [])].includes(scenario);
  if (system.division === 'network' && !isOfDatacenter && !isNeeded) {
    findings.add('scenario-not-in-division', path, `${scenario} is of the edge suite.`);
  } else if (isStrict(system) && need !== undefined && !isNeeded) {
    findings.add('scenario-unknown', path, `The model has no ${scenario} in the suite.`);
  }
}

function tellMissing(
  { findings }: CheckContext,
  path: string,
  { need, scenarios }: { need: ScenarioNeed; scenarios: readonly SubmissionScenario[] },
): void {
  for (const scenario of need.required) {
    if (scenarios.includes(scenario)) continue;
    findings.add('scenario-missing', path, `${scenario} is missing.`);
  }
  if (need.oneOf.length === 0 || need.oneOf.some((scenario) => scenarios.includes(scenario)))
    return;
  findings.add('scenario-missing', path, `One of ${need.oneOf.join(', ')} is missing.`);
}
