import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { TEST_IDS, type TestId } from '../../rules/test-ids.ts';
import type { ResultEntry } from '../config/config-types.ts';
import type { YamlPath } from '../config/placed-yaml.ts';
import type { Problems } from '../config/problems.ts';
import { checkRun, type ExpectedRun } from './check-run.ts';
import { collectFiles } from './collect-files.ts';
import type { PlannedTest } from './plan-types.ts';
import { readSubmittedRun } from './read-run.ts';

/** Compliance tests of a result, and what they are held against. */
export interface TestsOfResult {
  readonly entry: ResultEntry;
  /** Place of the result in the configuration. */
  readonly path: YamlPath;
  readonly expected: Omit<ExpectedRun, 'kind' | 'path'>;
  /** Tests that the round asks this model for. */
  readonly needed: readonly TestId[];
  /** Folder of the performance run: `longhaul compliance` writes below it. */
  readonly performanceFolder: string;
  /** True where the performance run left a network_audit.json. */
  readonly isAudited: boolean;
  resolve(path: string): string;
}

/** Tests that compare what the SUT answers, not only how fast it does. */
const WITH_ANSWERS: readonly TestId[] = ['TEST01', 'TEST06'];
/** TEST06 has no performance to compare. */
const WITHOUT_PERFORMANCE: readonly TestId[] = ['TEST06'];

const PERFORMANCE_FILES = [RUN_FILES.summary, RUN_FILES.detail] as const;
const FALLBACK_FILES = ['baseline_accuracy.txt', 'compliance_accuracy.txt'] as const;

/** Finds and checks the compliance tests of a result; tests that the round does not have are left out. */
export async function readTests(of: TestsOfResult, problems: Problems): Promise<PlannedTest[]> {
  const folders = testFolders(of);
  const place: YamlPath = [...of.path, 'compliance'];
  const missing = of.needed.filter((test) => !folders.has(test));
  if (missing.length > 0) {
    const { model, scenario } = of.entry;
    problems.error(
      place,
      `${model} ${scenario} lacks ${missing.join(', ')}, which ${of.expected.round} wants in the closed and network divisions: longhaul compliance ${missing[0]} --run ${of.performanceFolder}`,
    );
  }
  const tests: PlannedTest[] = [];
  for (const [test, folder] of folders) {
    if (!of.needed.includes(test)) {
      problems.warn(place, `${test} is left out: ${of.expected.round} does not ask for it here`);
      continue;
    }
    const read = await readTest(test, folder, of, problems);
    if (read !== undefined) tests.push(read);
  }
  return tests;
}

function testFolders({ entry, performanceFolder, resolve }: TestsOfResult): Map<TestId, string> {
  const { compliance } = entry;
  if (typeof compliance === 'object') {
    const named = Object.entries(compliance).filter(([, folder]) => folder !== undefined);
    return new Map(named.map(([test, folder]) => [test as TestId, resolve(folder as string)]));
  }
  const folder =
    compliance === undefined ? join(performanceFolder, 'compliance') : resolve(compliance);
  if (!isFolder(folder)) return new Map();
  const names = readdirSync(folder).filter((name) => /^TEST\d\d$/.test(name));
  return new Map(names.sort().map((name) => [name as TestId, join(folder, name)]));
}

async function readTest(
  test: TestId,
  folder: string,
  of: TestsOfResult,
  problems: Problems,
): Promise<PlannedTest | undefined> {
  const path: YamlPath = [...of.path, 'compliance', test];
  if (!isFolder(folder)) {
    problems.error(path, `${folder} is no folder: longhaul compliance ${test} makes it`);
    return undefined;
  }
  const evidence = evidenceOf(test, folder, of);
  const isNetwork = of.expected.divisions.includes('network');
  if (isNetwork && of.isAudited && !evidence.has(RUN_FILES.audit)) {
    problems.warn(
      path,
      `the run of ${test} has no ${RUN_FILES.audit}: name its folder in "compliance_runs"`,
    );
  }
  const reading = new TestReading(test, folder, path, problems);
  await reading.read(of.expected);
  warnOfOwnVerdict(test, evidence.get('README.md'), path, problems);
  return { test, files: reading.files, evidence };
}

/** What longhaul alone sees (a cache that shows in Server, ...) stands in no file that the official tools read. */
function warnOfOwnVerdict(
  test: TestId,
  readme: string | undefined,
  path: YamlPath,
  problems: Problems,
): void {
  if (readme === undefined) return;
  const [title] = readFileSync(readme, 'utf8').split('\n', 1);
  if (title !== `# ${test}: failed`) return;
  problems.warn(
    path,
    `${test} failed by longhaul's own checks, whatever the official files say: ${readme} tells which`,
  );
}

/** Lines by which the official checkers know that TEST06 was passed. */
const TEST06_LINES = [
  /^First token check pass: (?:True|Skipped)/m,
  /^EOS check pass: True/m,
  /^Sample length check pass: True/m,
];

/** Finds the files of one test's folder, and what is wrong with them. */
class TestReading {
  readonly files = new Map<string, string>();
  readonly #test: TestId;
  readonly #folder: string;
  readonly #path: YamlPath;
  readonly #problems: Problems;

  constructor(test: TestId, folder: string, path: YamlPath, problems: Problems) {
    this.#test = test;
    this.#folder = folder;
    this.#path = path;
    this.#problems = problems;
  }

  async read(expected: TestsOfResult['expected']): Promise<void> {
    if (!TEST_IDS.some((known) => known === this.#test)) {
      this.#takeAll();
      return;
    }
    if (!WITHOUT_PERFORMANCE.includes(this.#test)) await this.#readPerformance(expected);
    if (WITH_ANSWERS.includes(this.#test)) this.#readAnswers();
  }

  /** A test that longhaul does not run: what its official script left, whatever that is. */
  #takeAll(): void {
    const { files, problems } = collectFiles([this.#folder]);
    for (const text of problems) this.#problems.error(this.#path, text);
    for (const [name, file] of files) this.files.set(name.replace(/^[^/]*\//, ''), file);
    const verdicts = [...this.files.keys()].filter((name) => name.startsWith('verify_'));
    if (verdicts.length === 0) {
      this.#problems.error(this.#path, `${this.#folder} has no verify_*.txt`);
    }
    for (const name of verdicts) this.#checkPass(name);
  }

  async #readPerformance(expected: TestsOfResult['expected']): Promise<void> {
    if (this.#need('verify_performance.txt')) this.#checkPass('verify_performance.txt');
    const logs = PERFORMANCE_FILES.map((name) => this.#need(`performance/run_1/${name}`));
    if (!logs.every(Boolean)) return;
    const folder = join(this.#folder, 'performance', 'run_1');
    const run = await this.#problems.attempt(this.#path, () => readSubmittedRun(folder));
    if (run === undefined) return;
    const isTest05 = this.#test === 'TEST05';
    const what = { ...expected, kind: 'compliance', path: this.#path, isTest05 } as const;
    checkRun(run, what, this.#problems);
  }

  #readAnswers(): void {
    this.#need(`accuracy/${RUN_FILES.accuracy}`);
    if (!this.#need('verify_accuracy.txt')) return;
    const isPassed = this.#checkPass('verify_accuracy.txt');
    if (this.#test !== 'TEST01') return;
    const text = join(this.#folder, 'accuracy', RUN_FILES.accuracyText);
    if (existsSync(text)) this.files.set(`accuracy/${RUN_FILES.accuracyText}`, text);
    // The official checkers refuse these two beside a test that passed without them.
    if (isPassed) return;
    for (const name of FALLBACK_FILES) this.#need(`accuracy/${name}`);
  }

  #need(name: string): boolean {
    const file = join(this.#folder, name);
    if (existsSync(file) && statSync(file).size > 0) {
      this.files.set(name, file);
      return true;
    }
    const text = `${file} is missing or empty: longhaul compliance ${this.#test} writes it`;
    this.#problems.error(this.#path, text);
    return false;
  }

  #checkPass(name: string): boolean {
    const file = this.files.get(name) as string;
    const text = readFileSync(file, 'utf8');
    const isPassed =
      this.#test === 'TEST06'
        ? TEST06_LINES.every((line) => line.test(text))
        : text.includes('TEST PASS');
    const hasFallback = this.#test === 'TEST01' && name === 'verify_accuracy.txt';
    if (!isPassed && !hasFallback) {
      this.#problems.unfinished(this.#path, `${this.#test} was not passed, says ${file}`);
    }
    return isPassed;
  }
}

/** `longhaul compliance` keeps the raw logs of the test's run beside its folder, as TESTnn-run. */
function evidenceOf(
  test: TestId,
  folder: string,
  { entry, resolve }: TestsOfResult,
): Map<string, string> {
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
  return existsSync(path) && statSync(path).isDirectory();
}
