import { existsSync, readFileSync, statSync } from 'node:fs';
import { brokenConfLines } from '../../rules/conf-lines.ts';
import { inferredFigure } from '../../rules/inferred-results.ts';
import { modelOfFolder } from '../../rules/models-of-rounds.ts';
import type { SubmissionScenario } from '../../rules/submission-model.ts';
import type { ResultEntry } from '../config/config-types.ts';
import type { YamlPath } from '../config/placed-yaml.ts';
import type { Problems } from '../config/problems.ts';
import type { SubmissionConfig } from '../config/read-submission-config.ts';
import { readTextFile } from '../config/read-text-file.ts';
import { checkRun, type ExpectedRun } from './check-run.ts';
import type { MeasuredRuns, PlannedResult } from './plan-types.ts';
import { readSubmittedRun, type SubmittedRun } from './read-run.ts';
import { readTests } from './read-tests.ts';
import { userConfOf } from './user-conf.ts';

/** Longest accuracy.txt that is read: the scripts print a few lines. */
const ACCURACY_TEXT_BYTES_MAX = 2 ** 20;

/** Reads the runs of all results; one that cannot be read is a problem, and is left out. */
export async function readResults(
  config: SubmissionConfig,
  problems: Problems,
): Promise<PlannedResult[]> {
  const { round, results } = config.entry;
  const runs = new Map<ResultEntry, MeasuredRuns>();
  const owners = new Map<string, string>();
  for (const [i, entry] of results.entries()) {
    if (entry.inferred_from !== undefined) continue;
    const path: YamlPath = ['results', i];
    checkOwner(config, entry, owners, [...path, 'performance'], problems);
    const read = await readRuns(config, entry, path, problems);
    if (read !== undefined) runs.set(entry, read);
  }
  const planned: PlannedResult[] = [];
  for (const [i, entry] of results.entries()) {
    const measured =
      entry.inferred_from === undefined
        ? runs.get(entry)
        : inferredRuns(entry, results, runs, ['results', i], problems);
    if (measured === undefined) continue;
    const model = modelOfFolder(round, entry.reference_model ?? entry.model);
    const userConf = await readUserConf(config, entry, measured, ['results', i], problems);
    planned.push({ entry, model, scenario: entry.scenario, runs: measured, userConf });
  }
  return planned;
}

async function readUserConf(
  { resolve }: SubmissionConfig,
  { user_conf }: ResultEntry,
  { performance }: MeasuredRuns,
  path: YamlPath,
  problems: Problems,
): Promise<string> {
  const place = [...path, 'user_conf'];
  const text =
    user_conf === undefined
      ? userConfOf(performance)
      : await problems.attempt(place, () => readTextFile(resolve(user_conf)));
  if (text?.trim() === '')
    problems.error(place, 'user.conf is empty: the official checkers refuse that');
  for (const line of brokenConfLines(text ?? '')) {
    problems.warn(
      place,
      `user.conf: "${line}" is not read by the official checker, which wants model.scenario.key = value and nothing behind it`,
    );
  }
  return text ?? '';
}

/** One run is one result: of one system, one model and one scenario. */
function checkOwner(
  { resolve }: SubmissionConfig,
  { performance, system, model, scenario }: ResultEntry,
  owners: Map<string, string>,
  path: YamlPath,
  problems: Problems,
): void {
  const folder = resolve(performance as string);
  const owner = `${system}/${model}/${scenario}`;
  const other = owners.get(folder);
  if (other !== undefined && other !== owner) {
    problems.error(path, `the run is already the result of ${other}`);
  }
  owners.set(folder, owner);
}

async function readRuns(
  config: SubmissionConfig,
  entry: ResultEntry,
  path: YamlPath,
  problems: Problems,
): Promise<MeasuredRuns | undefined> {
  const { round } = config.entry;
  const { scenario, divisions } = entry;
  const model = modelOfFolder(round, entry.reference_model ?? entry.model);
  const expected = { round, divisions, scenario, model };
  const performanceFolder = config.resolve(entry.performance as string);
  const read = async (kind: 'performance' | 'accuracy'): Promise<SubmittedRun | undefined> => {
    const place = [...path, kind];
    const run = await problems.attempt(place, () =>
      readSubmittedRun(config.resolve(entry[kind] as string)),
    );
    if (run !== undefined)
      checkRun(run, { ...expected, kind, path: place } as ExpectedRun, problems);
    return run;
  };
  const performance = await read('performance');
  const accuracy = await read('accuracy');
  if (performance === undefined || accuracy === undefined) return undefined;
  const tests = divisions.some((division) => division !== 'open')
    ? await readTests(
        {
          entry,
          path,
          expected,
          needed: model?.tests ?? [],
          performanceFolder,
          isAudited: performance.audit !== undefined,
          resolve: config.resolve,
        },
        problems,
      )
    : [];
  warnOfEvidence(performance, entry, path, problems);
  const accuracyFile = accuracy.files.accuracyText;
  const accuracyLines = readAccuracy(accuracy, [...path, 'accuracy'], problems);
  return { performance, accuracy, accuracyFile, accuracyLines, tests };
}

function readAccuracy({ files }: SubmittedRun, path: YamlPath, problems: Problems): string[] {
  if (!existsSync(files.accuracy) || statSync(files.accuracy).size === 0) {
    problems.error(path, `${files.accuracy} is missing or empty: it is the log of an accuracy run`);
  }
  if (!existsSync(files.accuracyText)) {
    problems.error(
      path,
      `${files.accuracyText} is missing: longhaul accuracy, or the official accuracy script, writes it`,
    );
    return [];
  }
  const { size } = statSync(files.accuracyText);
  if (size === 0 || size > ACCURACY_TEXT_BYTES_MAX) {
    problems.error(
      path,
      `${files.accuracyText} has ${size} bytes: it is no output of an accuracy script`,
    );
    return [];
  }
  const lines = readFileSync(files.accuracyText, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('hash='));
}

function warnOfEvidence(
  { audit, files }: SubmittedRun,
  { divisions }: ResultEntry,
  path: YamlPath,
  problems: Problems,
): void {
  if (!divisions.includes('network')) return;
  if (audit === undefined) {
    problems.warn(
      [...path, 'performance'],
      `${files.folder} has no network_audit.json: nothing shows that the rules of the network division were kept`,
    );
    return;
  }
  if (audit.run.protocol === 'oip') {
    const open = audit.rules.filter(({ verdict }) => verdict === 'not-provable');
    problems.warn(
      [...path, 'performance'],
      `${files.folder} is a run over the Open Inference Protocol, which cannot prove ${open.length} rules of the network division: ${open.map(({ id }) => id).join(', ')}`,
    );
  }
  const broken = audit.rules.filter(({ verdict }) => verdict === 'broken').map(({ id }) => id);
  if (broken.length === 0) return;
  problems.warn(
    [...path, 'performance'],
    `rules of the network division are broken: ${broken.join(', ')}`,
  );
}

function inferredRuns(
  entry: ResultEntry,
  results: readonly ResultEntry[],
  runs: ReadonlyMap<ResultEntry, MeasuredRuns>,
  path: YamlPath,
  problems: Problems,
): MeasuredRuns | undefined {
  const { scenario, divisions } = entry;
  const from = entry.inferred_from as SubmissionScenario;
  const place = [...path, 'inferred_from'];
  if (divisions.includes('network')) {
    problems.error(
      place,
      'inferred results are for edge systems; the network division has the datacenter suite only (inference_rules v4.1)',
    );
  }
  if (inferredFigure(scenario, from) === undefined) {
    problems.error(
      place,
      `${scenario} cannot be inferred from ${from}: MultiStream can from SingleStream, Offline from SingleStream or MultiStream (inference_rules v4.1)`,
    );
  }
  const source = results.find(
    (other) =>
      other.inferred_from === undefined &&
      other.scenario === from &&
      other.system === entry.system &&
      other.model === entry.model &&
      divisions.every((division) => other.divisions.includes(division)),
  );
  if (source === undefined) {
    problems.error(
      place,
      `there is no measured ${from} result of ${entry.system} and ${entry.model} in ${divisions.join(', ')}`,
    );
    return undefined;
  }
  return runs.get(source);
}
