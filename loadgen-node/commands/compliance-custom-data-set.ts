import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import {
  addressList,
  optional,
  type Setting,
  type SettingValues,
  share,
  text,
} from '../../shared/config/setting.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { makeFolder } from '../../shared/process/make-folder.ts';
import { Terminal } from '../../shared/process/terminal.ts';
import { judgeCustomDataSet } from '../compliance/custom-data-set.ts';
import { readRunPair } from '../compliance/custom-data-set-runs.ts';
import {
  type CustomDataSetReport,
  readmeText,
  verifyAccuracyText,
  verifyPerformanceText,
} from '../compliance/custom-data-set-texts.ts';
import { openRunFolder } from '../run-folder/run-folder.ts';
import { Interruption } from './interruption.ts';
import { performRun } from './perform-run.ts';
import { planRerun, type RunRecord, readRunRecord } from './rerun.ts';
import type { RunPlan } from './run-plan.ts';
import { RUN_SETTINGS } from './run-settings.ts';

const SETTINGS: {
  readonly run: Setting<string>;
  readonly accuracyRun: Setting<string | undefined>;
  readonly dataSeed: Setting<number | undefined>;
  readonly dataCount: Setting<number | undefined>;
  readonly dataDir: Setting<string | undefined>;
  readonly accuracyDropMax: Setting<number>;
  readonly testRun: Setting<string | undefined>;
  readonly testAccuracyRun: Setting<string | undefined>;
  readonly sut: Setting<string[] | undefined>;
  readonly output: Setting<string | undefined>;
} = {
  run: text('folder', 'performance run of the submission', { required: true }),
  accuracyRun: optional(
    text('folder', 'its accuracy run (default: --run, if it was a submission run)'),
  ),
  dataSeed: RUN_SETTINGS.dataSeed,
  dataCount: RUN_SETTINGS.dataCount,
  dataDir: optional(text('folder', 'a custom data set of yours in place of another seed')),
  accuracyDropMax: share('percentage points by which the custom data set is harder by itself', {
    fallback: 0,
  }),
  testRun: optional(
    text('folder', 'performance run that was made over the custom data set: none is made'),
  ),
  testAccuracyRun: optional(text('folder', 'accuracy run over the custom data set')),
  sut: optional(addressList("SUT nodes, where they are not the submission run's")),
  output: optional(text('folder', 'folder for the files of the test (default: RUN/compliance)')),
};

type Values = SettingValues<typeof SETTINGS>;

/** Folder of the test's files below the output folder. */
const FOLDER = 'custom-data-set';

const EXAMPLE = `
Examples:
  longhaul compliance custom-data-set --run results/server --accuracy-run results/accuracy --data-seed 77
  longhaul compliance custom-data-set --run results/server --accuracy-run results/accuracy --data-dir other-images
  longhaul compliance custom-data-set --run A --accuracy-run B --test-run C --test-accuracy-run D

Makes an accuracy run and a performance run with the settings of the submission run (longhaul_run.yaml in its folder;
start it where that run was started) over another data set, and compares right answers and speed.

Exit codes: 0 passed, 3 failed, 2 wrong flag or runs that cannot be compared, 4 SUT, 5 data set, 6 this machine.`;

/** `longhaul compliance custom-data-set`: whether a system does as well on samples that it has never seen. */
export function customDataSetCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand(
    FOLDER,
    'compare accuracy and speed with those over another data set: finds kept results',
  );
  return addFlags(command, SETTINGS)
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, SETTINGS);
      const terminal = new Terminal();
      const interruption = new Interruption(() => terminal.line('interrupted: ending the run'));
      const report = await customDataSetTest(values, terminal, interruption);
      if (report === undefined) {
        setExitCode(interruption.exitCode ?? EXIT.interrupted);
        return;
      }
      process.stdout.write(readmeText(report));
      setExitCode(report.verdict.hasPassed ? EXIT.valid : EXIT.invalid);
    });
}

/** @returns undefined when the test was interrupted. */
async function customDataSetTest(
  values: Values,
  terminal: Terminal,
  interruption: Interruption,
): Promise<CustomDataSetReport | undefined> {
  const { run, accuracyRun = run, output = join(run, 'compliance'), accuracyDropMax } = values;
  // What is wrong with the submission's runs is told before minutes go into others.
  const submission = await readRunPair(run, accuracyRun);
  refuseContradictions(values);
  const { testRun } = values;
  const made =
    testRun === undefined
      ? await makeTestRuns(values, join(output, `${FOLDER}-run`), terminal, interruption)
      : { performance: testRun, accuracy: values.testAccuracyRun ?? testRun };
  if (made === undefined) return undefined;
  const custom = await readRunPair(made.performance, made.accuracy);
  const report: CustomDataSetReport = {
    verdict: judgeCustomDataSet(submission, custom, accuracyDropMax / 100),
    folders: {
      performance: run,
      accuracy: accuracyRun,
      testPerformance: made.performance,
      testAccuracy: made.accuracy,
    },
  };
  writeReport(join(output, FOLDER), report);
  return report;
}

interface TestFolders {
  readonly performance: string;
  readonly accuracy: string;
}

/** Makes the two runs over the custom data set. @returns undefined when one was interrupted. */
async function makeTestRuns(
  values: Values,
  folder: string,
  terminal: Terminal,
  interruption: Interruption,
): Promise<TestFolders | undefined> {
  const record = readRunRecord(openRunFolder(values.run).record);
  const folders = {
    accuracy: join(folder, 'accuracy'),
    performance: join(folder, 'performance'),
  };
  // Both are planned first: a plan that is refused costs nothing then.
  const plans = [
    planTestRun(record, values, 'accuracy', folders.accuracy),
    planTestRun(record, values, 'performance', folders.performance),
  ];
  for (const plan of plans) {
    terminal.line(
      `longhaul: ${plan.settings.mode} over the custom data set, logs in ${plan.output}`,
    );
    const { outcome } = await performRun(plan, terminal, interruption);
    if (outcome.isInterrupted) return undefined;
  }
  return folders;
}

function refuseContradictions(values: Values): void {
  const { testRun, testAccuracyRun, dataSeed, dataCount, dataDir } = values;
  const isData = [dataSeed, dataCount, dataDir].some((value) => value !== undefined);
  const refuse = (message: string): never => {
    throw new MlperfError('ERR_CONFIG_INVALID', message);
  };
  if (testRun === undefined) {
    if (testAccuracyRun !== undefined) refuse('--test-accuracy-run is for --test-run: name both');
    if (!isData) {
      refuse(
        '--data-seed <n> is needed (or --data-dir <folder>, or --test-run <folder>): another data set',
      );
    }
  } else if (isData) {
    refuse(
      '--test-run names a run that was made: --data-seed, --data-count and --data-dir are for a new one',
    );
  }
  if (dataDir !== undefined && (dataSeed !== undefined || dataCount !== undefined)) {
    refuse(
      '--data-dir names a data set of yours, --data-seed and --data-count one of longhaul: say one of them',
    );
  }
}

function planTestRun(
  record: RunRecord,
  { dataSeed, dataCount, dataDir, sut }: Values,
  mode: 'accuracy' | 'performance',
  output: string,
): RunPlan {
  const flags = {
    ...{ mode, output },
    ...(dataSeed === undefined ? {} : { dataSeed: String(dataSeed) }),
    ...(dataCount === undefined ? {} : { dataCount: String(dataCount) }),
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(sut === undefined ? {} : { sut: sut.join(',') }),
  };
  return planRerun(record, {
    flags,
    // A list of checksums belongs to the data set of the submission.
    dropped: [
      'dataChecksums',
      ...(dataDir === undefined ? [] : (['dataSeed', 'dataCount'] as const)),
      ...(mode === 'accuracy' ? (['extendUntilDecided'] as const) : []),
    ],
  });
}

function writeReport(folder: string, report: CustomDataSetReport): void {
  try {
    makeFolder(folder);
    writeFileSync(join(folder, 'verify_accuracy.txt'), verifyAccuracyText(report));
    writeFileSync(join(folder, 'verify_performance.txt'), verifyPerformanceText(report));
    writeFileSync(join(folder, 'README.md'), readmeText(report));
  } catch (error) {
    const reason = describeSystemError(error);
    throw new MlperfError('ERR_OUTPUT', `cannot write ${folder}: ${reason}`, { cause: error });
  }
}
