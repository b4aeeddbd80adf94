import type { Command } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { DEMO_RUN, DEMO_SETTINGS, runDemo } from '../operate/demo/run-demo.ts';
import { CommandHost } from '../run/host/host.ts';
import { withLiveView } from '../run/host/with-live-view.ts';
import { refuseUsedOutput } from '../run/keep/earlier-run.ts';

const EXAMPLE = `
What it does:
  1. makes the embedded benchmark "${DEMO_RUN.benchmark}" (once; it stays in the cache folder)
  2. starts one SUT node as a process of its own on 127.0.0.1
  3. runs accuracy over the whole data set, then Server at ${DEMO_RUN.targetQps} queries per second
  4. prints the result and ends the SUT node

Example:
  longhaul demo --output results/demo --dashboard :8080`;

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
      const host = new CommandHost('interrupted: ending the run');
      const { dashboard, force, ...folders } = values;
      if (folders.output !== undefined) refuseUsedOutput(folders.output, force);
      const { exitCode, ...result } = await withLiveView({ dashboard }, host, (live) =>
        runDemo(folders, host, live),
      );
      writeResult(command, result);
      setExitCode(exitCode);
    });
}
