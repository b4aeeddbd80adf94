import {
  bothLines,
  type CustomDataSetCheck,
  type CustomDataSetVerdict,
} from './judge-custom-data-set.ts';
import type { DataSetRecord } from './run-pair.ts';

/** What a verdict is written from. */
export interface CustomDataSetReport {
  readonly verdict: CustomDataSetVerdict;
  /** Folders of the four runs. */
  readonly folders: {
    readonly performance: string;
    readonly accuracy: string;
    readonly testPerformance: string;
    readonly testAccuracy: string;
  };
}

/** Texts of verify_accuracy.txt and verify_performance.txt. */
export function verifyTexts(verdict: CustomDataSetVerdict): Map<string, string> {
  return new Map([
    ['verify_accuracy.txt', verifyText(verdict, [verdict.accuracy])],
    ['verify_performance.txt', verifyText(verdict, verdict.performance)],
  ]);
}

function verifyText(verdict: CustomDataSetVerdict, checks: readonly CustomDataSetCheck[]): string {
  const hasPassed = checks.every(({ isMet }) => isMet);
  return [
    ...bothLines(nameOf(verdict.reference), nameOf(verdict.custom)),
    ...checks.flatMap(({ name, isMet, lines }) => [
      '',
      `${name}: ${isMet ? 'pass' : 'FAIL'}`,
      ...lines,
    ]),
    '',
    hasPassed ? 'TEST PASS' : 'TEST FAIL',
    '',
  ].join('\n');
}

/** What the command prints, and the body of README.md: what was compared, and what came of it. */
export function readmeText({ verdict, folders }: CustomDataSetReport): string {
  const { accuracy, performance, notes, hasPassed } = verdict;
  return [
    `# Custom data set: ${hasPassed ? 'passed' : 'FAILED'}`,
    '',
    'The same system answered the samples of another data set, with the settings of the submission run. A system that',
    "keeps results of the benchmark's data set is right less often on samples that it has never seen, or slower.",
    'This is the test of the paper of MLPerf Inference (4.7.4 and 5.2); no official script of it exists, and a',
    'submission needs no files of it.',
    '',
    '| | data set | performance run | accuracy run |',
    '|---|---|---|---|',
    `| submission | ${nameOf(verdict.reference)} | ${folders.performance} | ${folders.accuracy} |`,
    `| test | ${nameOf(verdict.custom)} | ${folders.testPerformance} | ${folders.testAccuracy} |`,
    ...[accuracy, ...performance].flatMap(sectionOf),
    ...(notes.length === 0 ? [] : ['', '## Notes', '', ...notes.map((note) => `* ${note}`)]),
    ...(hasPassed ? [] : ['', adviceOf(verdict)]),
    '',
  ].join('\n');
}

function sectionOf({ name, isMet, lines }: CustomDataSetCheck): string[] {
  return ['', `## ${name}: ${isMet ? 'pass' : 'FAIL'}`, '', ...lines.map((line) => `* ${line}`)];
}

function adviceOf({ accuracy, performance }: CustomDataSetVerdict): string {
  const parts: string[] = [];
  if (!accuracy.isMet) {
    parts.push(
      "Right less often than chance explains: the system may know the answers to the benchmark's own samples, or its " +
        'model may be fitted to them. Where the custom data set is harder by itself, say by how many points ' +
        '(--accuracy-drop-max).',
    );
  }
  if (performance.some(({ isMet }) => !isMet)) {
    parts.push(
      "Slower, or not VALID: the system may keep results, or intermediate data, of the benchmark's own samples. Look " +
        'at what else ran on the machines and the network first, and repeat the test.',
    );
  }
  return parts.join('\n');
}

/** A run of another LoadGen tells nothing of its data. */
function nameOf(dataSet: DataSetRecord | undefined): string {
  return dataSet?.name ?? 'not known';
}
