import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { protocolNamed } from '../../../../qdl/protocols/index.ts';
import { statIfThere } from '../../../../shared/base/files/read-file.ts';
import type { SubmissionModel, TestId } from '../../../../shared/rules/rows/model-row.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { REHEARSAL_TITLE } from '../../compliance/test-folder.ts';
import { modelOfFolder } from '../../rules/models-of-rounds.ts';
import { inferredFigure } from '../../rules/submission-model.ts';
import { brokenConfLines, isRunnableTest } from '../../rules/submission-rounds.ts';
import { TEST_PASS, VERIFY_FILES } from '../../rules/test-files.ts';
import {
  type Problems,
  type ResultEntry,
  readTextFile,
  type SubmissionConfig,
} from '../config/read-submission-config.ts';
import {
  checkRun,
  checkRunCount,
  type ExpectedRun,
  isOpenOnly,
  readSubmittedRun,
  runFolders,
  type SubmittedRun,
  userConfOf,
} from './read-run.ts';
import { collectFiles, type PlannedImplementation, type PlannedSystem } from './read-system.ts';

/** Longest accuracy.txt that is read: the scripts print a few lines. */
const ACCURACY_TEXT_BYTES_MAX = 2 ** 20;

/** Reads the runs of all results; one that cannot be read is a problem, and is left out. */
export async function readResults(
  config: SubmissionConfig,
  { systems, implementations }: Brought,
  all: Problems,
): Promise<ReadResult[]> {
  const { round, results } = config.entry;
  const runs = new Map<ResultEntry, MeasuredRuns | undefined>();
  const owners = new Map<string, string>();
  for (const [i, entry] of results.entries()) {
    if (entry.inferred_from !== undefined) continue;
    const problems = all.at('results', i);
    checkOwner(config, entry, owners, problems.at('performance'));
    runs.set(entry, await readRuns(config, entry, problems));
  }
  const planned: ReadResult[] = [];
  for (const [i, entry] of results.entries()) {
    const problems = all.at('results', i);
    const source = entry.inferred_from === undefined ? entry : sourceOf(entry, results, problems);
    const measured = source && runs.get(source);
    if (measured === undefined) continue;
    const model = modelOfFolder(round, entry.reference_model ?? entry.model);
    const userConf = await readUserConf(config, entry, measured, problems.at('user_conf'));
    const system = systems.get(entry.system);
    const implementation = implementations.get(entry.implementation);
    planned.push({ entry, system, implementation, model, runs: measured, userConf });
  }
  return planned;
}

/** Systems and implementations of a configuration by their ids, as far as they can be read. */
interface Brought {
  readonly systems: ReadonlyMap<string, PlannedSystem>;
  readonly implementations: ReadonlyMap<string, PlannedImplementation>;
}

/** A result as far as its parts can be read. */
export interface ReadResult {
  readonly entry: ResultEntry;
  /** Undefined: it cannot be read, as the next. */
  readonly system: PlannedSystem | undefined;
  readonly implementation: PlannedImplementation | undefined;
  /** Undefined: a model of the open division that the round does not know. */
  readonly model: SubmissionModel | undefined;
  /** Of an inferred result those of the measured one. */
  readonly runs: MeasuredRuns;
  /** Text of its user.conf. */
  readonly userConf: string;
}

/** A result of a plan without problems: its system and its implementation are there. */
export interface PlannedResult extends ReadResult {
  readonly system: PlannedSystem;
  readonly implementation: PlannedImplementation;
}

/** Runs behind a result. */
interface MeasuredRuns {
  readonly performance: SubmittedRun;
  /** Performance runs beside the first. */
  readonly others: readonly SubmittedRun[];
  readonly accuracy: SubmittedRun;
  /** Lines of its accuracy.txt. */
  readonly accuracyLines: readonly string[];
  readonly tests: readonly ReadTest[];
}

/** A compliance test of a result. */
interface ReadTest {
  readonly test: TestId;
  /** Path in its folder of the tree → file here. */
  readonly files: ReadonlyMap<string, string>;
  /** Files that only longhaul leaves: name → file here. */
  readonly evidence: ReadonlyMap<string, string>;
}

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
      `user.conf: "${line}" is not read by the official checker, which wants only model.scenario.key = value on a line`,
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

async function readRuns(
  config: SubmissionConfig,
  entry: ResultEntry,
  problems: Problems,
): Promise<MeasuredRuns | undefined> {
  const { round } = config.entry;
  const { scenario, divisions } = entry;
  const model = modelOfFolder(round, entry.reference_model ?? entry.model);
  const expected = { round, divisions, scenario, model };
  const read = async (kind: 'performance' | 'accuracy', folder: string) => {
    const place = problems.at(kind);
    const run = await place.attempt(() => readSubmittedRun(folder));
    if (run !== undefined) checkRun(run, { ...expected, kind }, place);
    return run;
  };
  const [first, ...more] = runFolders(config.resolve(entry.performance as string));
  const [ofAccuracy] = runFolders(config.resolve(entry.accuracy as string));
  const performance = await read('performance', first as string);
  const others: SubmittedRun[] = [];
  for (const folder of more) {
    const run = await read('performance', folder);
    if (run !== undefined) others.push(run);
  }
  checkRunCount(expected, 1 + more.length, problems.at('performance'));
  const accuracy = await read('accuracy', ofAccuracy as string);
  if (performance === undefined || accuracy === undefined) return undefined;
  const tests = isOpenOnly(divisions)
    ? []
    : await readTests({ entry, expected, performance, resolve: config.resolve }, problems);
  if (divisions.includes('network')) warnOfEvidence(performance, problems.at('performance'));
  const accuracyLines = readAccuracy(accuracy, problems.at('accuracy'));
  return { performance, others, accuracy, accuracyLines, tests };
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
      `${files.folder} has no network_audit.json to show that the rules of the network division were kept`,
    );
    return;
  }
  const idsOf = (wanted: string): string[] =>
    audit.rules.filter(({ verdict }) => verdict === wanted).map(({ id }) => id);
  const { title, traits } = protocolNamed(audit.run.protocol);
  if (!traits.hasLedger) {
    const open = idsOf('not-provable');
    problems.warn(
      `${files.folder} is a run over ${title}, which cannot prove ${open.length} rules of the network division: ${open.join(', ')}`,
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

/** A result whose compliance tests are read, and what they are compared with. */
interface TestsOfResult {
  readonly entry: ResultEntry;
  readonly expected: Omit<ExpectedRun, 'kind'>;
  /** `longhaul compliance` writes below the folder of this run. */
  readonly performance: SubmittedRun;
  resolve(path: string): string;
}

/** Parts of each test that the official checkers read, of the tests that longhaul runs. */
const PARTS: Partial<Record<TestId, readonly ('performance' | 'accuracy')[]>> = {
  TEST01: ['performance', 'accuracy'],
  TEST04: ['performance'],
  TEST05: ['performance'],
  TEST06: ['accuracy'],
};

/**
 * Finds and checks the compliance tests of a result; tests that the round does not have are left
 * out.
 */
async function readTests(of: TestsOfResult, all: Problems): Promise<ReadTest[]> {
  const { entry, expected } = of;
  const needed = expected.model?.tests ?? [];
  const folders = testFolders(of);
  const problems = all.at('compliance');
  const missing = needed.filter((test) => !folders.has(test));
  if (missing[0] !== undefined) {
    const given = isRunnableTest(missing[0]) ? '' : ' --test-run FOLDER';
    problems.error(
      `${entry.model} ${entry.scenario} lacks ${missing.join(', ')}, which ${expected.round} wants in the closed and network divisions: longhaul compliance ${missing[0]} --run ${performanceFolder(of)}${given}`,
    );
  }
  const tests: ReadTest[] = [];
  for (const [test, folder] of folders) {
    if (!needed.includes(test)) {
      problems.warn(`${test} is left out: ${expected.round} does not ask for it here`);
    } else if (!isFolder(folder)) {
      problems.at(test).error(`${folder} is no folder: longhaul compliance ${test} makes it`);
    } else tests.push(await readTest(test, folder, of, problems.at(test)));
  }
  return tests;
}

function performanceFolder({ entry, resolve }: TestsOfResult): string {
  return resolve(entry.performance as string);
}

function testFolders(of: TestsOfResult): Map<TestId, string> {
  const { compliance } = of.entry;
  if (typeof compliance === 'object') {
    const named = Object.entries(compliance) as [TestId, string | undefined][];
    return new Map(
      named.flatMap(([test, folder]) => (folder === undefined ? [] : [[test, of.resolve(folder)]])),
    );
  }
  const folder =
    compliance === undefined ? join(performanceFolder(of), 'compliance') : of.resolve(compliance);
  if (!isFolder(folder)) return new Map();
  const names = readdirSync(folder).filter((name) => /^TEST\d\d$/.test(name));
  return new Map(names.sort().map((name) => [name as TestId, join(folder, name)]));
}

/**
 * @returns Files of the test's folder, and what longhaul left of the run: path in the tree → file
 *   here.
 */
async function readTest(
  test: TestId,
  folder: string,
  of: TestsOfResult,
  problems: Problems,
): Promise<ReadTest> {
  const evidence = evidenceOf(test, folder, of);
  const isNetwork = of.expected.divisions.includes('network');
  if (isNetwork && of.performance.audit !== undefined && !evidence.has(RUN_FILES.audit)) {
    problems.warn(
      `the run of ${test} has no ${RUN_FILES.audit}: name its folder in "compliance_runs"`,
    );
  }
  const files = new Map<string, string>();
  const parts = PARTS[test];
  const own = { test, folder, problems, files };
  if (parts === undefined) takeAll(own);
  if (parts?.includes('performance')) {
    await readPerformance(own, { ...of.expected, kind: 'compliance', isTest05: test === 'TEST05' });
  }
  if (parts?.includes('accuracy')) readAnswers(own);
  // Findings of longhaul's own (a cache that shows in Server, ...) are in no file that the
  // official tools read.
  const readme = evidence.get('README.md');
  const title = readme === undefined ? '' : readFileSync(readme, 'utf8').split('\n', 1)[0];
  if (title === `# ${test}: ${REHEARSAL_TITLE}`) {
    problems.unfinished(`${test} was rehearsed, which counts for no submission: ${readme}`);
  }
  if (title === `# ${test}: failed`) {
    problems.warn(
      `${test} failed by longhaul's own checks, whatever the official files say: ${readme} tells which`,
    );
  }
  return { test, files, evidence };
}

/** A test's folder, the files found in it by their path there, and where problems with them go. */
interface TestFiles {
  readonly test: TestId;
  readonly folder: string;
  readonly problems: Problems;
  readonly files: Map<string, string>;
}

/** A test that longhaul does not run: what the official script or longhaul left, whatever that is. */
function takeAll(own: TestFiles): void {
  const { files, problems } = collectFiles([own.folder]);
  for (const text of problems) own.problems.error(text);
  for (const [name, file] of files) {
    const place = name.replace(/^[^/]*\//, '');
    // It is evidence of longhaul's, and has its place.
    if (place !== 'README.md') own.files.set(place, file);
  }
  const verdicts = [...own.files.keys()].filter((name) => name.startsWith('verify_'));
  if (verdicts.length === 0) own.problems.error(`${own.folder} has no verify_*.txt`);
  for (const name of verdicts) isPass(own, name);
}

async function readPerformance(own: TestFiles, expected: ExpectedRun): Promise<void> {
  isPass(own, VERIFY_FILES.performance);
  const names = [RUN_FILES.summary, RUN_FILES.detail];
  const logs = names.map((name) => need(own, `performance/run_1/${name}`));
  if (!logs.every(Boolean)) return;
  const folder = join(own.folder, 'performance', 'run_1');
  const run = await own.problems.attempt(() => readSubmittedRun(folder));
  if (run !== undefined) checkRun(run, expected, own.problems);
}

function readAnswers(own: TestFiles): void {
  need(own, `accuracy/${RUN_FILES.accuracy}`);
  const isPassed = isPass(own, VERIFY_FILES.accuracy);
  if (isPassed === undefined || own.test !== 'TEST01') return;
  const text = join(own.folder, 'accuracy', RUN_FILES.accuracyText);
  if (existsSync(text)) own.files.set(`accuracy/${RUN_FILES.accuracyText}`, text);
  // The official checkers refuse these two beside a test that passed without them.
  if (isPassed) return;
  need(own, 'accuracy/baseline_accuracy.txt');
  need(own, 'accuracy/compliance_accuracy.txt');
}

/** Takes a file that has to be there and not empty. */
function need({ test, folder, files, problems }: TestFiles, name: string): boolean {
  const file = join(folder, name);
  const isThere = existsSync(file) && statSync(file).size > 0;
  if (isThere) files.set(name, file);
  else problems.error(`${file} is missing or empty: longhaul compliance ${test} writes it`);
  return isThere;
}

/** Lines by which the official checkers know that TEST06 was passed. */
const TEST06_LINES = [
  /^First token check pass: (?:True|Skipped)/m,
  /^EOS check pass: True/m,
  /^Sample length check pass: True/m,
];

/**
 * Takes a verdict. @returns Whether it says that the test was passed; undefined where there is
 * none.
 */
function isPass(own: TestFiles, name: string): boolean | undefined {
  const { test, files, problems } = own;
  if (!files.has(name) && !need(own, name)) return undefined;
  const file = files.get(name) as string;
  const text = readFileSync(file, 'utf8');
  const isPassed =
    test === 'TEST06' ? TEST06_LINES.every((line) => line.test(text)) : text.includes(TEST_PASS);
  const hasFallback = test === 'TEST01' && name === VERIFY_FILES.accuracy;
  if (!isPassed && !hasFallback) problems.unfinished(`${test} was not passed, says ${file}`);
  return isPassed;
}

/** `longhaul compliance` keeps the raw logs of the test's run beside its folder, as TESTnn-run. */
function evidenceOf(test: TestId, folder: string, { entry, resolve }: TestsOfResult) {
  const named = entry.compliance_runs?.[test];
  const runFolder = named === undefined ? join(dirname(folder), `${test}-run`) : resolve(named);
  const candidates: [string, string][] = [
    [RUN_FILES.audit, join(runFolder, RUN_FILES.audit)],
    [RUN_FILES.record, join(runFolder, RUN_FILES.record)],
    ['README.md', join(folder, 'README.md')],
  ];
  return new Map(candidates.filter(([, file]) => existsSync(file)));
}

function isFolder(path: string): boolean {
  return statIfThere(path)?.isDirectory() === true;
}
