import { join } from 'node:path';
import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../../../shared/base/process/exit-codes.ts';
import { resolveSettings } from '../../../../shared/config/resolve-settings.ts';
import { flagOf } from '../../../../shared/config/setting.ts';
import { earlierTests, NextTest } from '../../../official/test-process.ts';
import { CommandHost } from '../../../run/host/host.ts';
import { COMPLIANCE_FOLDER, refuseUsedOutput } from '../../../run/keep/earlier-run.ts';
import { tellProblems } from '../../../run/keep/run-report.ts';
import { refuseDepartures } from '../../../run/plan/departures.ts';
import { planRun, type RunPlan } from '../../../run/plan/run-plan.ts';
import { inspectRun, type RunSources } from '../../../run/plan/run-record.ts';
import { RUN_SETTINGS, type RunValues } from '../../../run/plan/run-settings.ts';
import { performRun } from '../../../run/session.ts';
import { seedOfImages } from '../../../samples/benchmarks/generated-data.ts';
import { runSources } from '../compliance-run.ts';
import type { CustomDataSetValues } from '../compliance-settings.ts';
import { forgetVerdict, writeTestFolder } from '../test-folder.ts';
import {
  judgeCustomDataSet,
  readmeText,
  readRunPair,
  verifyTexts,
} from './judge-custom-data-set.ts';

/** Name of the test, and of its folder below the output folder. */
export const CUSTOM_DATA_SET = 'custom-data-set';

/** Of these flags of a run one at least says what the custom data set is. */
const DATA_FLAGS = ['dataSeed', 'dataCount', 'dataDir'] as const;

/**
 * Settings of the submission run and its data set alone: a test has them only where its own flags
 * name them.
 */
const NOT_REPEATED: readonly (keyof RunValues)[] = [
  'dataChecksums',
  'trace',
  'copySummaryToStdout',
  'copyDetailToStdout',
];

/**
 * Compares the submission's runs with runs over another data set, which it makes where they are not named, and writes what
 * came of it.
 * @param flags Of the runs that are made.
 * @throws MlperfError for runs that cannot be made or compared
 */
export async function customDataSetTest(values: CustomDataSetValues, flags: RunSources['flags']) {
  const { run, accuracyRun = run, output = join(run, COMPLIANCE_FOLDER), accuracyDropMax } = values;
  // Faults of the submission's runs are reported before minutes go into others.
  const submission = await readRunPair(run, accuracyRun);
  refuseContradictions(values, flags);
  const { testRun } = values;
  const made =
    testRun === undefined
      ? await makeTestRuns(runSources(submission.performance.folder, flags), output)
      : { performance: testRun, accuracy: values.testAccuracyRun ?? testRun };
  if (typeof made === 'number') {
    const text = 'The test was interrupted before the comparison.\n';
    return { exitCode: made, text, json: { wasInterrupted: true, hasPassed: null } };
  }
  const custom = await readRunPair(made.performance, made.accuracy);
  const [own, other] = [submission, custom].map(({ performance }) =>
    inspectRun(runSources(performance.folder, {})),
  );
  requireOtherImages(own ?? {}, other ?? {});
  const verdict = judgeCustomDataSet(submission, custom, accuracyDropMax / 100);
  const runs = {
    performance: run,
    accuracy: accuracyRun,
    testPerformance: made.performance,
    testAccuracy: made.accuracy,
  };
  const readme = readmeText(verdict, runs);
  const folder = join(output, CUSTOM_DATA_SET);
  writeTestFolder(folder, { texts: verifyTexts(verdict), copies: new Map() }, readme);
  const { hasPassed, reference, custom: tested, accuracy, performance, notes } = verdict;
  return {
    exitCode: hasPassed ? EXIT.valid : EXIT.invalid,
    text: `${readme}\nWritten to ${join(folder, 'README.md')}\n`,
    json: {
      wasInterrupted: false,
      hasPassed,
      accuracy,
      performance,
      notes,
      folder,
      dataSets: { submission: reference ?? null, test: tested ?? null },
      runs,
    },
  };
}

function refuseContradictions(
  { testRun, testAccuracyRun }: CustomDataSetValues,
  flags: RunSources['flags'],
): void {
  if (testRun === undefined) {
    if (testAccuracyRun !== undefined) {
      throw configInvalid('--test-accuracy-run is for --test-run: name both');
    }
    if (DATA_FLAGS.some((key) => flags[key] !== undefined)) return;
    throw configInvalid(
      '--data-seed <n> is needed (or --data-dir <folder>, or --test-run <folder>): another data set',
    );
  }
  const [said] = Object.keys(flags);
  if (said === undefined) return;
  throw configInvalid(
    `--test-run ${testRun} is a run that was made: ${flagOf(said)} is for a new one`,
  );
}

/**
 * Images of one seed are the same ones, however many: a larger set begins as a smaller one.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
function requireOtherImages(own: Partial<RunValues>, other: Partial<RunValues>): void {
  const [seed, otherSeed] = [own, other].map(({ benchmark, dataDir, dataSeed }) =>
    benchmark === undefined ? undefined : seedOfImages({ benchmark, dataDir, dataSeed }),
  );
  if (seed === undefined || seed !== otherSeed) return;
  throw configInvalid(
    `the submission's own images are those of seed ${seed}, whatever their number: say another --data-seed`,
  );
}

/** Makes the two runs over the custom data set. @returns The exit code when one was interrupted. */
async function makeTestRuns(
  sources: RunSources,
  output: string,
): Promise<Record<'accuracy' | 'performance', string> | number> {
  const folder = join(output, `${CUSTOM_DATA_SET}-run`);
  const folders = { accuracy: join(folder, 'accuracy'), performance: join(folder, 'performance') };
  // Both are planned first, so that a refused plan costs no run.
  const plans = (['accuracy', 'performance'] as const).map((mode) => ({
    mode,
    plan: planTestRun(sources, mode, folders[mode]),
  }));
  // Those before were made by processes of their own.
  const left = plans.slice(earlierTests());
  for (const { plan } of left) {
    refuseUsedOutput(plan.output, sources.flags['force'] !== undefined);
  }
  const host = new CommandHost('interrupted: ending the run');
  for (const [i, { mode, plan }] of left.entries()) {
    if (i > 0 && plan.linked !== undefined) throw new NextTest();
    host.report(`longhaul: ${mode} run over the custom data set, logs in ${plan.output}`);
    const onBegin = (): void => forgetVerdict(join(output, CUSTOM_DATA_SET), host);
    const report = await performRun(plan, host, { onBegin });
    tellProblems(report, host);
    if (report.outcome.isInterrupted) return host.exitCode ?? EXIT.interrupted;
  }
  return folders;
}

/** Plans a run as the submission run, but for its data set. It is made once, whatever the round asks of submissions. */
function planTestRun(
  sources: RunSources,
  mode: 'accuracy' | 'performance',
  output: string,
): RunPlan {
  const file = new Map(sources.file);
  const hasFolder = sources.flags['dataDir'] !== undefined;
  const dropped = [
    ...NOT_REPEATED,
    ...(hasFolder ? ['dataSeed', 'dataCount'] : []),
    ...(mode === 'accuracy' ? ['extendUntilDecided'] : []),
  ];
  for (const key of dropped) file.delete(key);
  const flags = { ...sources.flags, mode, runs: '1', output };
  const { values, settings } = resolveSettings(RUN_SETTINGS, { section: 'run', file, flags });
  refuseDepartures(values, 'a compliance test has');
  requireOtherImages(inspectRun({ file: sources.file, flags: {} }), values);
  return planRun(values, { asked: settings });
}
