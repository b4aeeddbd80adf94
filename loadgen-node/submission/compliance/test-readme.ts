import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { RunnableTestId } from '../rules/test-ids.ts';
import type { TestCheck } from './verify/test-check.ts';
import type { TestVerdict } from './verify/verify-test.ts';

const QUESTION: Readonly<Record<RunnableTestId, string>> = {
  TEST01: 'Does the system answer in performance mode as in accuracy mode, at the same speed?',
  TEST04: 'Is the system faster when the same sample is asked for again and again?',
  TEST05: 'Is the system as fast with other random seeds?',
  TEST06: 'Are the tokens of a response those that were streamed and counted?',
};

/** The verdict for a screen: one line per check, in plain words, and notes on the test itself. */
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
 * @param runs Rows of its first table: name and text; those without a text are left out.
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
      `| ${name} | ${isMet ? metWord(warning) : '**not met**'} | ${whose(isOfficial)} | ${cell(text)} |`,
  );
  const lines = (key: 'warning' | 'advice'): string[] =>
    verdict.checks.flatMap((one) => (one[key] === undefined ? [] : [`- ${one.name}: ${one[key]}`]));
  const notes = [...ofTest, ...verdict.notes].map((note) => `- ${note}`);
  return [
    `# ${test}: ${verdict.hasPassed ? 'passed' : 'failed'}`,
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

/** A check that is met with a warning does not read as one that is met without. */
function metWord(warning: string | undefined): string {
  return warning === undefined ? 'met' : 'met, **with a warning**';
}

function checkLines({ name, isMet, isOfficial, text, warning, advice }: TestCheck): string[] {
  const line = `  ${isMet ? 'met    ' : 'NOT MET'} ${name} (${whose(isOfficial)}): ${text}`;
  const more = [warning === undefined ? undefined : `WARNING: ${warning}`, advice];
  return [line, ...more.filter((one) => one !== undefined).map((one) => `          ${one}`)];
}

/** Says whose verdict is which: the official files may say PASS where longhaul looks at more. */
function conclusion({ test, hasPassed, isOfficialPass }: TestVerdict): string {
  if (hasPassed) return `${test} passed.`;
  if (!isOfficialPass) return `${test} failed: the official tools refuse it as well.`;
  return `${test} failed: the official tools would pass it, but not all of longhaul's own checks are met.`;
}

/** Target rate of the submission run and of the test's, queries per second; undefined where one is not known. */
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

/** A text within a table; names come from SUT nodes. */
function cell(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replaceAll('|', '\\|');
}
