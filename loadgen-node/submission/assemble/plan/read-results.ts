import { existsSync, readFileSync, statSync } from 'node:fs';
import { brokenConfLines } from '../../rules/conf-lines.ts';
import { modelOfFolder } from '../../rules/models-of-rounds.ts';
import { inferredFigure } from '../../rules/result-metric.ts';
import type { ResultEntry } from '../config/config-schema.ts';
import {
  type Problems,
  readTextFile,
  type SubmissionConfig,
} from '../config/read-submission-config.ts';
import { checkRun, isOpenOnly } from './check-run.ts';
import { readSubmittedRun, type SubmittedRun, userConfOf } from './read-run.ts';
import { readTests } from './read-tests.ts';

/** Longest accuracy.txt that is read: the scripts print a few lines. */
const ACCURACY_TEXT_BYTES_MAX = 2 ** 20;

/** Reads the runs of all results; one that cannot be read is a problem, and is left out. */
export async function readResults(config: SubmissionConfig, all: Problems) {
  const { round, results } = config.entry;
  const runs = new Map<ResultEntry, MeasuredRuns | undefined>();
  const owners = new Map<string, string>();
  for (const [i, entry] of results.entries()) {
    if (entry.inferred_from !== undefined) continue;
    const problems = all.at('results', i);
    checkOwner(config, entry, owners, problems.at('performance'));
    runs.set(entry, await readRuns(config, entry, problems));
  }
  const planned = [];
  for (const [i, entry] of results.entries()) {
    const problems = all.at('results', i);
    const source = entry.inferred_from === undefined ? entry : sourceOf(entry, results, problems);
    const measured = source && runs.get(source);
    if (measured === undefined) continue;
    const model = modelOfFolder(round, entry.reference_model ?? entry.model);
    const userConf = await readUserConf(config, entry, measured, problems.at('user_conf'));
    planned.push({ entry, model, runs: measured, userConf });
  }
  return planned;
}

/**
 * A result with its runs and the text of its user.conf. One that is inferred has the runs of the measured one; a model of
 * the open division that the round does not know is undefined.
 */
export type PlannedResult = Awaited<ReturnType<typeof readResults>>[number];

/** Runs behind a result, the lines of its accuracy.txt, and its compliance tests. */
type MeasuredRuns = NonNullable<Awaited<ReturnType<typeof readRuns>>>;

async function readUserConf(
  { resolve }: SubmissionConfig,
  { user_conf }: ResultEntry,
  { performance }: MeasuredRuns,
  problems: Problems,
): Promise<string> {
  const text =
    user_conf === undefined
      ? userConfOf(performance)
      : await problems.attempt(() => readTextFile(resolve(user_conf)));
  if (text?.trim() === '') problems.error('user.conf is empty: the official checkers refuse that');
  for (const line of brokenConfLines(text ?? '')) {
    problems.warn(
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
  problems: Problems,
): void {
  const folder = resolve(performance as string);
  const owner = `${system}/${model}/${scenario}`;
  const other = owners.get(folder) ?? owner;
  if (other !== owner) problems.error(`the run is already the result of ${other}`);
  owners.set(folder, owner);
}

async function readRuns(config: SubmissionConfig, entry: ResultEntry, problems: Problems) {
  const { round } = config.entry;
  const { scenario, divisions } = entry;
  const model = modelOfFolder(round, entry.reference_model ?? entry.model);
  const expected = { round, divisions, scenario, model };
  const read = async (kind: 'performance' | 'accuracy'): Promise<SubmittedRun | undefined> => {
    const place = problems.at(kind);
    const run = await place.attempt(() => readSubmittedRun(config.resolve(entry[kind] as string)));
    if (run !== undefined) checkRun(run, { ...expected, kind }, place);
    return run;
  };
  const performance = await read('performance');
  const accuracy = await read('accuracy');
  if (performance === undefined || accuracy === undefined) return undefined;
  const tests = isOpenOnly(divisions)
    ? []
    : await readTests({ entry, expected, performance, resolve: config.resolve }, problems);
  if (divisions.includes('network')) warnOfEvidence(performance, problems.at('performance'));
  const accuracyLines = readAccuracy(accuracy, problems.at('accuracy'));
  return { performance, accuracy, accuracyLines, tests };
}

function readAccuracy({ files }: SubmittedRun, problems: Problems): string[] {
  const { accuracy, accuracyText } = files;
  if (!existsSync(accuracy) || statSync(accuracy).size === 0) {
    problems.error(`${accuracy} is missing or empty: it is the log of an accuracy run`);
  }
  if (!existsSync(accuracyText)) {
    problems.error(
      `${accuracyText} is missing: longhaul accuracy, or the official accuracy script, writes it`,
    );
    return [];
  }
  const { size } = statSync(accuracyText);
  if (size === 0 || size > ACCURACY_TEXT_BYTES_MAX) {
    problems.error(`${accuracyText} has ${size} bytes: it is no output of an accuracy script`);
    return [];
  }
  const lines = readFileSync(accuracyText, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('hash='));
}

function warnOfEvidence({ audit, files }: SubmittedRun, problems: Problems): void {
  if (audit === undefined) {
    problems.warn(
      `${files.folder} has no network_audit.json: nothing shows that the rules of the network division were kept`,
    );
    return;
  }
  const idsOf = (wanted: string): string[] =>
    audit.rules.filter(({ verdict }) => verdict === wanted).map(({ id }) => id);
  if (audit.run.protocol === 'oip') {
    const open = idsOf('not-provable');
    problems.warn(
      `${files.folder} is a run over the Open Inference Protocol, which cannot prove ${open.length} rules of the network division: ${open.join(', ')}`,
    );
  }
  const broken = idsOf('broken');
  if (broken.length === 0) return;
  problems.warn(`rules of the network division are broken: ${broken.join(', ')}`);
}

/** The measured result that one is inferred from. */
function sourceOf(
  { scenario, divisions, inferred_from: from, system, model }: ResultEntry,
  results: readonly ResultEntry[],
  all: Problems,
): ResultEntry | undefined {
  const problems = all.at('inferred_from');
  if (divisions.includes('network')) {
    problems.error(
      'inferred results are for edge systems; the network division has the datacenter suite only (inference_rules v4.1)',
    );
  }
  if (from === undefined || inferredFigure(scenario, from) === undefined) {
    problems.error(
      `${scenario} cannot be inferred from ${from}: MultiStream can from SingleStream, Offline from SingleStream or MultiStream (inference_rules v4.1)`,
    );
  }
  const source = results.find(
    (other) =>
      other.inferred_from === undefined &&
      other.scenario === from &&
      other.system === system &&
      other.model === model &&
      divisions.every((division) => other.divisions.includes(division)),
  );
  if (source === undefined) {
    problems.error(
      `there is no measured ${from} result of ${system} and ${model} in ${divisions.join(', ')}`,
    );
  }
  return source;
}
