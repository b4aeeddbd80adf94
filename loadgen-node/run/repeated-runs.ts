import { join } from 'node:path';
import { EXIT, exitCodeOf } from '../../shared/base/process/exit-codes.ts';
import { StyledText } from '../../shared/base/process/terminal.ts';
import { repeatTest } from '../loadgen/engine/test-outcome.ts';
import type { LiveView } from '../present/live/live-view.ts';
import type { CommandHost } from './host/host.ts';
import { replaceEarlierRun } from './keep/earlier-run.ts';
import { isValid, meetsThresholds, type RunReport, runDocument } from './keep/run-report.ts';
import type { RunPlan } from './plan/run-plan.ts';
import type { ScreenOptions } from './screen/print-report.ts';
import { screenReport } from './screen/report-layout.ts';
import { performRun } from './session.ts';

/** Where the runs of a plan are shown. */
interface RunsView {
  readonly live: LiveView | undefined;
  /** Reports one of several runs before the next starts. */
  readonly tell: (text: string | StyledText) => void;
  readonly screen: ScreenOptions;
}

/** Result of a verb that makes runs. */
interface RunsEnd {
  readonly exitCode: number;
  readonly text: StyledText;
  readonly json: object;
  /** Files that could not be written. */
  readonly problems: RunReport['problems'];
}

/**
 * Makes the runs of a plan: one, or as many as it requires, each with its own logs below the output
 * folder. In a submission run only the first measures accuracy.
 * @throws MlperfError as {@link performRun}
 */
export async function performRuns(
  plan: RunPlan,
  host: CommandHost,
  { live, tell, screen }: RunsView,
): Promise<RunsEnd> {
  const { runCount } = plan;
  if (runCount === 1) {
    const report = await performRun(plan, host, { live });
    const exitCode = exitCodeOfRun(report, host);
    const text = screenReport(report, screen);
    return { exitCode, text, json: runDocument(report), problems: report.problems };
  }
  const reports: RunReport[] = [];
  const repeated = await repeatTest(runCount, async (run) => {
    const output = join(plan.output, `run_${run + 1}`);
    // An earlier result may have had more runs than this one.
    const onBegin = (): void => {
      if (run === 0) replaceEarlierRun(plan.output, host);
    };
    const report = await performRun(planOfRun(plan, run, output), host, { onBegin, live });
    reports.push(report);
    tell(`Run ${run + 1} of ${runCount}\n`);
    tell(screenReport(report, screen));
    tell('\n');
    return report.outcome;
  });
  const { samplesPerSecond, isValid: areValid } = repeated;
  const json = { runs: reports.map(runDocument), isValid: areValid, samplesPerSecond };
  if (repeated.outcomes.some(({ isInterrupted }) => isInterrupted)) {
    const problems = reports.flatMap((report) => report.problems);
    return {
      exitCode: host.exitCode ?? EXIT.interrupted,
      text: new StyledText(''),
      json,
      problems,
    };
  }
  const what =
    samplesPerSecond === null
      ? 'INVALID: not every run is VALID'
      : `VALID, ${samplesPerSecond.toFixed(2)} samples/s completed in the lowest`;
  const problems = reports.flatMap((report) => report.problems);
  const isGood = areValid && reports.every(meetsThresholds);
  const verdict = isGood ? EXIT.valid : EXIT.invalid;
  const exitCode = host.exitCode ?? exitCodeOfProblems(problems) ?? verdict;
  return { exitCode, text: new StyledText(`${runCount} runs: ${what}\n`), json, problems };
}

/**
 * The plan of one of several runs. Accuracy is measured once, in the first: it does not depend on
 * the load.
 */
function planOfRun(plan: RunPlan, run: number, output: string): RunPlan {
  if (run === 0) return { ...plan, output };
  const repeated = { ...plan, output, lengthNote: undefined };
  if (plan.settings.mode !== 'SubmissionRun') return repeated;
  const only = { mode: 'PerformanceOnly' } as const;
  const settings = { ...plan.settings, ...only };
  return { ...repeated, settings, unaudited: { ...plan.unaudited, ...only } };
}

/** Exit code of a completed run. */
function exitCodeOfRun(report: RunReport, host: Pick<CommandHost, 'exitCode'>): number {
  // Also for a signal after the last response: the result is complete, and the sender sees that the
  // signal was received.
  if (host.exitCode !== undefined) return host.exitCode;
  if (report.outcome.isInterrupted) return EXIT.interrupted;
  const verdict = isValid(report) && meetsThresholds(report) ? EXIT.valid : EXIT.invalid;
  return exitCodeOfProblems(report.problems) ?? verdict;
}

function exitCodeOfProblems([first]: RunReport['problems']): number | undefined {
  return first && exitCodeOf(first.code);
}
