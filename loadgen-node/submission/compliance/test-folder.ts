import { copyFileSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withReason } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { counted } from '../../../shared/base/text.ts';
import type { TestId } from '../../../shared/rules/rows/model-row.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { RunHost } from '../../run/host/host.ts';
import { VERIFY_FILES } from '../rules/test-files.ts';
import type { TestCheck } from './verify/read-compliance-run.ts';
import type { TestVerdict } from './verify/verify-test.ts';

/** All files that a test can write: old ones must not remain beside a new verification's. */
const FILES = [
  'README.md',
  ...Object.values(VERIFY_FILES),
  `performance/run_1/${RUN_FILES.summary}`,
  `performance/run_1/${RUN_FILES.detail}`,
  `accuracy/${RUN_FILES.accuracy}`,
  'accuracy/accuracy.txt',
  'accuracy/baseline_accuracy.txt',
  'accuracy/compliance_accuracy.txt',
];

/**
 * Writes a test's folder in submission form: verify_*.txt, performance/run_1, accuracy, and
 * README.md.
 * @param folder `OUT/TEST01`; created. Files of an earlier verification are replaced, others
 *   stay.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writeTestFolder(
  folder: string,
  { texts, copies }: Pick<TestVerdict, 'texts' | 'copies'>,
  readme: string,
): void {
  const write = (name: string, how: (path: string) => void): void => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    how(path);
  };
  withReason(`cannot write ${folder}`, () => {
    const sources = [...copies.values()].map((path) => realpathSync(path));
    for (const path of FILES.map((name) => join(folder, name))) {
      if (!isOneOf(path, sources)) rmSync(path, { force: true });
    }
    for (const [name, text] of [...texts, ['README.md', readme] as const]) {
      write(name, (path) => writeFileSync(path, text));
    }
    for (const [name, source] of copies) {
      write(name, (path) => {
        if (!isOneOf(path, [realpathSync(source)])) copyFileSync(source, path);
      });
    }
  });
}

/**
 * Removes the verdict of an earlier test: if a new run is interrupted, the old verdict would look
 * like its own. Other files stay.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function forgetVerdict(folder: string, host: Pick<RunHost, 'report'>): void {
  const paths = FILES.map((name) => join(folder, name)).filter((path) => existsSync(path));
  if (paths.length === 0) return;
  withReason(`cannot write ${folder}`, () => {
    for (const path of paths) rmSync(path, { force: true });
  });
  host.report(`removed the verdict of an earlier test in ${folder}`);
}

/**
 * True if a path is a source: a test may be verified again from the folder of an earlier
 * verification.
 */
function isOneOf(path: string, sources: readonly string[]): boolean {
  return existsSync(path) && sources.includes(realpathSync(path));
}

/** Follows the name of the test in the first line of README.md. */
export const REHEARSAL_TITLE = 'rehearsal';

const QUESTION: Readonly<Record<TestId, string>> = {
  TEST01: 'Does the system answer in performance mode as in accuracy mode, at the same speed?',
  TEST04: 'Is the system faster when the same sample is requested again and again?',
  TEST05: 'Is the system as fast with other random seeds?',
  TEST06: 'Are the tokens of a response those that were streamed and counted?',
  TEST07: 'Is the system right often enough in performance mode?',
  TEST08: 'Are predictions in performance mode as good as in accuracy mode?',
  TEST09: 'Do responses in performance mode have the length of the reference?',
};

/** The verdict for a screen: one line per check, and notes on the test itself. */
export function verdictInWords(verdict: TestVerdict, notes: readonly string[]): string {
  const lines = [
    `${verdict.test}, round ${verdict.round}: ${QUESTION[verdict.test]}`,
    ...verdict.checks.flatMap(checkLines),
    ...[...verdict.notes, ...notes].map((note) => `  note: ${note}`),
    conclusion(verdict),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * README.md of a test's folder.
 * @param runs Rows of its first table: name and text; rows without text are omitted.
 * @param ofTest Notes on the test itself.
 */
export function testReadme(
  verdict: TestVerdict,
  runs: readonly (readonly [name: string, text: string | undefined])[],
  ofTest: readonly string[],
): string {
  const { test } = verdict;
  const checks = verdict.checks.map(
    ({ name, isMet, isOfficial, text, warning }) =>
      `| ${name} | ${isMet ? `met${warning === undefined ? '' : ', **with a warning**'}` : '**not met**'} | ${whose(isOfficial)} | ${cell(text)} |`,
  );
  const lines = (key: 'warning' | 'advice'): string[] =>
    verdict.checks.flatMap((one) => (one[key] === undefined ? [] : [`- ${one.name}: ${one[key]}`]));
  const notes = [...ofTest, ...verdict.notes].map((note) => `- ${note}`);
  const ended = verdict.hasPassed ? 'passed' : 'failed';
  return [
    `# ${test}: ${verdict.isRehearsal ? REHEARSAL_TITLE : ended}`,
    '',
    `${QUESTION[test]} Verified by longhaul ${packageVersion()}.`,
    '',
    '| | |',
    '|---|---|',
    ...runs.flatMap(([name, text]) => (text === undefined ? [] : [`| ${name} | ${cell(text)} |`])),
    '',
    '## What was compared',
    '',
    '| check | | whose | figures |',
    '|---|---|---|---|',
    ...checks,
    '',
    conclusion(verdict),
    ...section('Warnings', lines('warning')),
    ...section('What a check that is not met means', lines('advice')),
    ...section('Notes', notes),
    '',
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines];
}

function whose(isOfficial: boolean): string {
  return isOfficial ? 'official' : 'longhaul';
}

function checkLines({ name, isMet, isOfficial, text, warning, advice }: TestCheck): string[] {
  const line = `  ${isMet ? 'met    ' : 'NOT MET'} ${name} (${whose(isOfficial)}): ${text}`;
  const more = [warning === undefined ? undefined : `WARNING: ${warning}`, advice];
  return [line, ...more.filter((one) => one !== undefined).map((one) => `          ${one}`)];
}

/** States which verdict is whose: the official files may say PASS although longhaul checks more. */
function conclusion({ test, checks, ...verdict }: TestVerdict): string {
  const { hasPassed, isOfficialPass, isRehearsal } = verdict;
  if (isRehearsal) {
    const met = checks.filter(({ isMet }) => isMet).length;
    return `${test} was rehearsed, and is of no use in a submission: ${met} of ${counted(checks.length, 'check')} met.`;
  }
  if (hasPassed) return `${test} passed.`;
  if (!isOfficialPass) return `${test} failed: the official tools refuse it as well.`;
  return `${test} failed: the official tools would pass it, but not all of longhaul's own checks are met.`;
}

/**
 * Target rates of the submission run and of the test, in queries per second; undefined if one is
 * unknown.
 */
export function targetRateInWords(
  submission: number | undefined,
  test: number | undefined,
): string | undefined {
  if (submission === undefined || test === undefined) return undefined;
  if (test === submission) return `${test} per second, as in the submission run`;
  const percent = (100 * Math.abs(1 - test / submission)).toFixed(2);
  const how = test < submission ? 'lowered' : 'raised';
  return `${test} per second, ${how} by ${percent} % from the submission run's ${submission}`;
}

/** A text for a table cell; names come from SUT nodes. */
function cell(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replaceAll('|', '\\|');
}
