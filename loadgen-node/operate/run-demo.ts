import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { resolveSettings } from '../../shared/config/resolve-settings.ts';
import { text } from '../../shared/config/setting.ts';
import { requireOnnxRuntime } from '../../shared/host/component-versions.ts';
import type { LiveView } from '../present/live/live-view.ts';
import type { CommandHost } from '../run/host/host.ts';
import { ownCommand, verboseCommand } from '../run/host/own-command.ts';
import { withSutProcess } from '../run/host/sut-process.ts';
import { planRun } from '../run/plan/run-plan.ts';
import { RUN_SETTINGS, type RunValues } from '../run/plan/run-settings.ts';
import { performRuns } from '../run/repeated-runs.ts';

const NODE_NAME = 'sut-demo';
/** Address in the lines for next steps. */
const NEXT_ADDRESS = '127.0.0.1:50051';

/**
 * The embedded benchmark, with settings that a busy laptop meets; LoadGen's own settings are one
 * verb away.
 */
export const DEMO_RUN = {
  benchmark: 'digits',
  scenario: 'Server',
  mode: 'submission',
  targetQps: '100',
  minDuration: '10s',
  // A laptop also does other work; p99 of LoadGen's own delay may be half of the bound.
  generatorLagMax: '50',
} as const;

/** Settings of `longhaul demo`. */
export const DEMO_SETTINGS = {
  output: text('folder', 'folder for the logs (default: results/<benchmark>-<time>-<process>)'),
  force: RUN_SETTINGS.force,
  cacheDir: RUN_SETTINGS.cacheDir,
  dashboard: RUN_SETTINGS.dashboard,
};

/**
 * Measures the embedded benchmark on a SUT node started for it.
 * @throws MlperfError `ERR_NOT_INSTALLED` without ONNX Runtime; errors of a run
 */
export async function runDemo(
  { output, cacheDir }: Readonly<Record<'output' | 'cacheDir', string | undefined>>,
  host: CommandHost,
  { live, isVerbose }: { readonly live: LiveView | undefined; readonly isVerbose: boolean },
): ReturnType<typeof performRuns> {
  requireOnnxRuntime();
  const cache = cacheDir === undefined ? [] : ['--cache-dir', cacheDir];
  const args = ['--benchmark', DEMO_RUN.benchmark, '--node', NODE_NAME, ...cache];
  return await withSutProcess(args, host, async (sut) => {
    const flags = { ...DEMO_RUN, sut, output, cacheDir };
    const { values } = resolveSettings(RUN_SETTINGS, { section: 'run', file: undefined, flags });
    const screen = { isVerbose, otherNotes: verboseCommand(), advises: false };
    const ended = await performRuns(planRun(values as RunValues), host, {
      live,
      screen,
      tell: () => {},
    });
    if (host.exitCode !== undefined) return ended;
    const isValid = ended.exitCode === EXIT.valid;
    const more = `\n${isValid ? '' : AGAIN}${nextSteps(cacheDir)}`;
    return { ...ended, text: ended.text.followedBy(more) };
  });
}

/** The demo's load is light: its INVALID is mostly not caused by the SUT. */
const AGAIN = 'Does other work use this machine? Then measure again when it is idle.\n';

/** The next commands, ready to type. */
function nextSteps(cacheDir: string | undefined): string {
  const command = ownCommand();
  const { benchmark } = DEMO_RUN;
  const cache = cacheDir === undefined ? '' : ` --cache-dir ${cacheDir}`;
  const run = `--sut ${NEXT_ADDRESS} --benchmark ${benchmark}`;
  const lines = [
    ['A SUT node of your own:', `sut --benchmark ${benchmark} --listen ${NEXT_ADDRESS}${cache}`],
    ['Measure it from here:', `run ${run} --target-qps 200${cache}`],
    ['Find its largest load:', `find-peak ${run} --latency 50ms${cache}`],
  ];
  return lines.map(([what = '', words = '']) => `${what.padEnd(24)}${command} ${words}\n`).join('');
}
