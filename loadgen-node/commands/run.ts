import { join } from 'node:path';
import type { Command } from 'commander';
import { addSettings, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import type { ResolvedSetting } from '../../shared/config/resolve-settings.ts';
import type { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { EXIT, exitCodeOf } from '../../shared/process/exit-codes.ts';
import { Terminal } from '../../shared/process/terminal.ts';
import { repeatTest } from '../engine/repeat-test.ts';
import { openAuditConfig } from './conf-files.ts';
import { Interruption } from './interruption.ts';
import { isValid, performRun, type RunReport } from './perform-run.ts';
import { printReport } from './print-report.ts';
import { planRun, type RunPlan } from './run-plan.ts';
import { runRecord } from './run-record.ts';
import { RUN_SETTINGS } from './run-settings.ts';

const EXAMPLE = `
Example:
  longhaul run --sut 10.0.0.2:50051,10.0.0.3:50051 --benchmark digits \\
    --scenario Server --target-qps 100 --min-duration 10s --output results/first

Exit codes: 0 VALID, 3 INVALID, 2 wrong flag or key, 4 SUT, 5 data set, 6 this machine, 130 Ctrl-C.`;

/** `longhaul run`: measures SUT nodes. */
export function runCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('run', 'measure SUT nodes: performance, accuracy, or both');
  return addSettings(command, RUN_SETTINGS)
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values, settings } = settingsOf(command, 'run', RUN_SETTINGS);
      const said = new Set(settings.filter(isSaid).map(({ key }) => key));
      const audit = openAuditConfig(values.auditConf);
      const plan = planRun(values, { said, audit, record: runRecord(settings), asked: settings });
      const terminal = new Terminal();
      if (audit !== undefined) {
        terminal.line(`longhaul: settings of ${audit.name} win over all others`);
      }
      const interruption = new Interruption(() => terminal.line('interrupted: ending the run'));
      if (plan.runCount > 1) {
        setExitCode(await performRuns(plan, terminal, interruption));
        return;
      }
      const report = await performRun(plan, terminal, interruption);
      process.stdout.write(printReport(report));
      setExitCode(exitCodeOfRun(report, interruption));
    });
}

/** Several runs, each with logs of its own below the output folder. */
async function performRuns(
  plan: RunPlan,
  terminal: Terminal,
  interruption: Interruption,
): Promise<number> {
  const { runCount } = plan;
  const problems: MlperfError[] = [];
  const repeated = await repeatTest(runCount, async (run) => {
    const output = join(plan.output, `run_${run + 1}`);
    const report = await performRun({ ...plan, output }, terminal, interruption);
    if (report.problem !== null) problems.push(report.problem);
    process.stdout.write(`Run ${run + 1} of ${runCount}\n${printReport(report)}\n`);
    return report.outcome;
  });
  if (repeated.outcomes.some(({ isInterrupted }) => isInterrupted)) {
    return interruption.exitCode ?? EXIT.interrupted;
  }
  const { samplesPerSecond } = repeated;
  const what =
    samplesPerSecond === null
      ? 'INVALID: not every run is VALID'
      : `VALID, ${samplesPerSecond.toFixed(2)} samples/s completed in the lowest`;
  process.stdout.write(`${runCount} runs: ${what}\n`);
  const [problem] = problems;
  if (problem !== undefined) return exitCodeOf(problem.code);
  return repeated.isValid ? EXIT.valid : EXIT.invalid;
}

function isSaid({ source }: ResolvedSetting): boolean {
  return source !== 'default' && source !== 'not set';
}

/** Exit code of a run that came to its end. */
export function exitCodeOfRun(report: RunReport, interruption: Interruption): number {
  if (report.outcome.isInterrupted) return interruption.exitCode ?? EXIT.interrupted;
  if (report.problem !== null) return exitCodeOf(report.problem.code);
  return isValid(report) ? EXIT.valid : EXIT.invalid;
}
