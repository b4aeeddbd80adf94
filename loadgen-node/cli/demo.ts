import type { Command } from 'commander';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, type VerbResult, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { resolveSettings } from '../../shared/config/resolve-settings.ts';
import { optional, type Setting, text } from '../../shared/config/setting.ts';
import { requireOnnxRuntime } from '../../shared/host/onnx-runtime-package.ts';
import type { LiveView } from '../present/live/live-view.ts';
import { CommandHost, orAbort } from '../run/host/host.ts';
import { SutProcess } from '../run/host/sut-process.ts';
import { withLiveView } from '../run/host/with-live-view.ts';
import { refuseUsedOutput } from '../run/keep/earlier-run.ts';
import { runDocument } from '../run/keep/run-report.ts';
import { LIVE_OPTIONS } from '../run/plan/live-options.ts';
import { planRun } from '../run/plan/run-plan.ts';
import { RUN_SETTINGS, type RunValues } from '../run/plan/run-settings.ts';
import { exitCodeOfRun } from '../run/repeated-runs.ts';
import { screenReport } from '../run/screen/report-layout.ts';
import { performRun } from '../run/session.ts';

const BENCHMARK = 'digits';
const NODE_NAME = 'sut-demo';

/** Settings that a busy laptop meets; LoadGen's own are a verb away. */
const DEMO_RUN = {
  benchmark: BENCHMARK,
  scenario: 'Server',
  mode: 'submission',
  targetQps: '100',
  minDuration: '10s',
  // A laptop does other things as well; p99 of LoadGen's own delay may be half of the bound.
  generatorLagMax: '50',
};

const DEMO_SETTINGS: {
  readonly output: Setting<string | undefined>;
  readonly cacheDir: Setting<string | undefined>;
  readonly force: typeof RUN_SETTINGS.force;
  readonly dashboard: typeof LIVE_OPTIONS.dashboard;
} = {
  output: optional(
    text('folder', 'folder for the logs (default: results/<benchmark>-<time>-<process>)'),
  ),
  force: RUN_SETTINGS.force,
  cacheDir: RUN_SETTINGS.cacheDir,
  dashboard: LIVE_OPTIONS.dashboard,
};

const EXAMPLE = `
What it does:
  1. makes the embedded benchmark "${BENCHMARK}" (once; it stays in the cache folder)
  2. starts one SUT node as a process of its own on 127.0.0.1
  3. runs accuracy over the whole data set, then Server at ${DEMO_RUN.targetQps} queries per second
  4. prints the result and ends the SUT node

Example:
  longhaul demo --output results/demo --dashboard :8080`;

/** Where the demonstration writes. */
interface Folders {
  readonly output: string | undefined;
  readonly cacheDir: string | undefined;
}

interface DemoHost {
  readonly host: CommandHost;
  readonly live: LiveView | undefined;
  /** Writes the result. */
  say(result: VerbResult): void;
}

/** `longhaul demo`, which is `npm start`: the main job on one machine. */
export function demoCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand(
    'demo',
    'measure the embedded benchmark on this machine, end to end',
  );
  return addJson(addFlags(command, DEMO_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, DEMO_SETTINGS);
      const say = (result: VerbResult): void => writeResult(command, result);
      const host = new CommandHost('interrupted: ending the run');
      const { dashboard, force, ...folders } = values;
      if (folders.output !== undefined) refuseUsedOutput(folders.output, force);
      const code = await withLiveView({ dashboard }, host, (live) =>
        runDemo(folders, { host, live, say }),
      );
      setExitCode(code);
    });
}

async function runDemo(
  { output, cacheDir }: Folders,
  { host, live, say }: DemoHost,
): Promise<number> {
  requireOnnxRuntime();
  host.progress('starting a SUT node');
  const cache = cacheDir === undefined ? [] : ['--cache-dir', cacheDir];
  const starting = SutProcess.start([
    ...['--benchmark', BENCHMARK, '--node', NODE_NAME, '--listen', '127.0.0.1:0'],
    // Two processes would write over each other's status line; Ready tells what the node is doing.
    ...['--progress', 'hidden'],
    ...cache,
  ]);
  // Given up, the node ends by itself: it watches the channel to this process.
  const sut = await orAbort(host, starting);
  try {
    const flags = { ...DEMO_RUN, sut: sut.address, output, cacheDir };
    const { values } = resolveSettings(RUN_SETTINGS, { section: 'run', file: undefined, flags });
    const plan = planRun(values as RunValues);
    const report = await performRun(plan, host, { live });
    say({ text: screenReport(report), json: runDocument(report) });
    return exitCodeOfRun(report, host);
  } finally {
    const code = await sut.stop();
    if (code !== EXIT.valid)
      host.report(`longhaul: the SUT node did not end well (${code ?? 'killed'})`);
  }
}
