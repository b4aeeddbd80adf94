import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { protocolNamed } from '../../../../qdl/protocols/index.ts';
import { statIfThere } from '../../../../shared/base/files/read-file.ts';
import type { SubmissionModel, TestId } from '../../../../shared/rules/rows/model-row.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { REHEARSAL_TITLE } from '../../compliance/test-folder.ts';
import { modelOfFolder } from '../../rules/models-of-rounds.ts';
import { brokenConfLines } from '../../rules/submission-rounds.ts';
import { TEST_PASS, VERIFY_FILES } from '../../rules/test-files.ts';
import { hasContent } from '../../tree/file-work.ts';
import {
  type Problems,
  type ResultEntry,
  readTextFile,
  type SubmissionConfig,
} from '../config/read-submission-config.ts';
import {
  checkRun,
  isOpenOnly,
  readSubmittedRun,
  runFolders,
  type SubmittedRun,
  userConfOf,
} from './read-run.ts';
import { collectFiles, type PlannedImplementation, type PlannedSystem } from './read-system.ts';

/** Largest accuracy.txt that is read: the scripts print a few lines. */
const ACCURACY_TEXT_BYTES_MAX = 2 ** 20;

/** Reads the runs of all results; one that cannot be read is a problem, and is omitted. */
export async function readResults(
  config: SubmissionConfig,
  { systems, implementations }: Brought,
  all: Problems,
): Promise<PlannedResult[]> {
  const { round, results } = config.entry;
  const runs = new Map<ResultEntry, MeasuredRuns | undefined>();
  const owners = new Map<string, string>();
  for (const [i, entry] of results.entries()) {
    if (entry.inferred_from !== undefined) continue;
    const problems = all.at('results', i);
    checkOwner(config, entry, owners, problems.at('performance'));
    runs.set(entry, await readRuns(config, entry, problems));
  }
  const planned: PlannedResult[] = [];
  for (const [i, entry] of results.entries()) {
    const problems = all.at('results', i);
    const source = entry.inferred_from === undefined ? entry : sourceOf(entry, results, problems);
    const measured = source && runs.get(source);
    const system = systems.get(entry.system);
    const implementation = implementations.get(entry.implementation);
    if (measured === undefined || system === undefined || implementation === undefined) continue;
    const model = modelOfFolder(round, entry.reference_model ?? entry.model);
    const userConf = await readUserConf(config, entry, measured, problems.at('user_conf'));
    planned.push({ entry, system, implementation, model, runs: measured, userConf });
  }
  return planned;
}

/** Readable systems and implementations of a configuration, by id. */
interface Brought {
  readonly systems: ReadonlyMap<string, PlannedSystem>;
  readonly implementations: ReadonlyMap<string, PlannedImplementation>;
}

/** A result with all its inputs. */
export interface PlannedResult {
  readonly entry: ResultEntry;
  readonly system: PlannedSystem;
  readonly implementation: PlannedImplementation;
  /** Undefined: a model of the open division that the round does not know. */
  readonly model: SubmissionModel | undefined;
  /** For an inferred result, the runs of the measured one. */
  readonly runs: MeasuredRuns;
  /** Text of its user.conf. */
  readonly userConf: string;
}

/** Runs that a result is based on. */
interface MeasuredRuns {
  readonly performance: SubmittedRun;
  /** Further performance runs after the first. */
  readonly others: readonly SubmittedRun[];
  readonly accuracy: SubmittedRun;
  /** Lines of its accuracy.txt. */
  readonly accuracyLines: readonly string[];
  readonly tests: readonly ReadTest[];
}

/** A compliance test of a result. */
interface ReadTest {
  readonly test: TestId;
  /** Path in its folder of the tree, and source file. */
  readonly files: ReadonlyMap<string, string>;
  /** Files that only longhaul writes: name and source file. */
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
  for (const line of brokenConfLines(text ?? '')) {
    problems.warn(
      `user.conf: "${line}" is not read by the official checker, which wants only model.scenario.key = value on a line`,
    );
  }
  return text ?? '';
}

/** Checks that one run belongs to one result: of one system, model and scenario. */
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
  const { divisions } = entry;
  const model = modelOfFolder(config.entry.round, entry.reference_model ?? entry.model);
  const read = async (kind: 'performance' | 'accuracy', folder: string) => {
    const place = problems.at(kind);
    const run = await place.attempt(() => readSubmittedRun(folder));
    if (run !== undefined) checkRun(run, { model, divisions }, place);
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
  const accuracy = await read('accuracy', ofAccuracy as string);
  if (performance === undefined || accuracy === undefined) return undefined;
  const tests = isOpenOnly(divisions)
    ? []
    : readTests({ entry, model, performance, resolve: config.resolve }, problems);
  if (divisions.includes('network')) warnOfEvidence(performance, problems.at('performance'));
  const accuracyLines = readAccuracy(accuracy, problems.at('accuracy'));
  return { performance, others, accuracy, accuracyLines, tests };
}

function readAccuracy({ files: { accuracyText } }: SubmittedRun, problems: Problems): string[] {
  const bytes = statIfThere(accuracyText)?.size ?? 0;
  if (bytes > ACCURACY_TEXT_BYTES_MAX) {
    problems.error(`${accuracyText} has ${bytes} bytes: it is no output of an accuracy script`);
  }
  if (bytes === 0 || bytes > ACCURACY_TEXT_BYTES_MAX) return [];
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

/** The measured result from which another one is inferred. */
function sourceOf(
  { divisions, inferred_from: from, system, model }: ResultEntry,
  results: readonly ResultEntry[],
  all: Problems,
): ResultEntry | undefined {
  const source = results.find(
    (other) =>
      other.inferred_from === undefined &&
      other.scenario === from &&
      other.system === system &&
      other.model === model &&
      divisions.every((division) => other.divisions.includes(division)),
  );
  if (source === undefined) {
    all
      .at('inferred_from')
      .error(
        `there is no measured ${from} result of ${system} and ${model} in ${divisions.join(', ')}`,
      );
  }
  return source;
}

/** A result whose compliance tests are read. */
interface TestsOfResult {
  readonly entry: ResultEntry;
  readonly model: SubmissionModel | undefined;
  /** `longhaul compliance` writes below this run's folder. */
  readonly performance: SubmittedRun;
  resolve(path: string): string;
}

/** Files that the official checkers read, for tests that longhaul runs. */
const PERFORMANCE_FILES = [
  VERIFY_FILES.performance,
  `performance/run_1/${RUN_FILES.summary}`,
  `performance/run_1/${RUN_FILES.detail}`,
];
const ACCURACY_FILES = [VERIFY_FILES.accuracy, `accuracy/${RUN_FILES.accuracy}`];
const TEST_FILES: Partial<Record<TestId, readonly string[]>> = {
  TEST01: [...PERFORMANCE_FILES, ...ACCURACY_FILES, `accuracy/${RUN_FILES.accuracyText}`],
  TEST04: PERFORMANCE_FILES,
  TEST05: PERFORMANCE_FILES,
  TEST06: ACCURACY_FILES,
};
/** The official checkers refuse these beside a TEST01 that passed without them. */
const BASELINES = ['accuracy/baseline_accuracy.txt', 'accuracy/compliance_accuracy.txt'];

/** Finds the compliance tests of a result; tests unknown to the round are omitted. */
function readTests(of: TestsOfResult, all: Problems): ReadTest[] {
  const needed = of.model?.tests ?? [];
  const problems = all.at('compliance');
  const tests: ReadTest[] = [];
  for (const [test, folder] of testFolders(of)) {
    if (needed.includes(test)) tests.push(readTest(test, folder, of, problems.at(test)));
    else problems.warn(`${test} is left out: the round does not ask for it here`);
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

function readTest(test: TestId, folder: string, of: TestsOfResult, problems: Problems): ReadTest {
  const evidence = evidenceOf(test, folder, of);
  const isNetwork = of.entry.divisions.includes('network');
  if (isNetwork && of.performance.audit !== undefined && !evidence.has(RUN_FILES.audit)) {
    problems.warn(
      `the run of ${test} has no ${RUN_FILES.audit}: name its folder in "compliance_runs"`,
    );
  }
  const files = isFolder(folder) ? filesOfTest(test, folder, problems) : new Map<string, string>();
  // longhaul's own findings (such as a cache visible in Server) are in no file that the official
  // tools read.
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

/** Existing files of a test for the tree: path below the test's folder, and source file. */
function filesOfTest(test: TestId, folder: string, problems: Problems): Map<string, string> {
  const known = TEST_FILES[test];
  if (known !== undefined) {
    const verdict = join(folder, VERIFY_FILES.accuracy);
    const needsBaselines =
      test === 'TEST01' &&
      hasContent(verdict) &&
      !readFileSync(verdict, 'utf8').includes(TEST_PASS);
    const names = needsBaselines ? [...known, ...BASELINES] : known;
    const files = names.map((name): [string, string] => [name, join(folder, name)]);
    return new Map(files.filter(([, file]) => hasContent(file)));
  }
  // For a test that longhaul does not run: everything that the official script or longhaul wrote.
  const found = collectFiles([folder]);
  for (const text of found.problems) problems.error(text);
  const files = [...found.files].map(([name, file]): [string, string] => [
    name.replace(/^[^/]*\//, ''),
    file,
  ]);
  // longhaul's evidence has its own place.
  return new Map(files.filter(([name]) => name !== 'README.md'));
}

/**
 * Evidence of a test. `longhaul compliance` stores the raw logs of the test's run beside its
 * folder, as TESTnn-run.
 */
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
