import { addVerbose, wantsVerbose } from '../../shared/config/command-line.ts';
import { DEMO_RUN, DEMO_SETTINGS, runDemo } from '../operate/run-demo.ts';
import { CommandHost } from '../run/host/host.ts';
import { withLiveView } from '../run/host/with-live-view.ts';
import { refuseUsedOutput, requireWritable } from '../run/keep/earlier-run.ts';
import { verb } from './verb.ts';

/** `longhaul demo`, which is `npm start`: the main job on one machine. */
export const demoVerb = verb({
  settings: DEMO_SETTINGS,
  takesSignals: true,
  flags: addVerbose,
  example: `
What it does:
  1. makes the embedded benchmark "${DEMO_RUN.benchmark}" (once; it stays in the cache folder)
  2. starts one SUT node as a process of its own on 127.0.0.1
  3. runs accuracy over the whole data set, then Server at ${DEMO_RUN.targetQps} queries per second
  4. prints the result and ends the SUT node

Example:
  longhaul demo --output results/demo --dashboard :8080`,
  action: async ({ values: { dashboard, force, ...folders }, command }) => {
    const host = new CommandHost('interrupted: ending the run');
    if (folders.output === undefined) requireWritable('results');
    else refuseUsedOutput(folders.output, force);
    return await withLiveView({ dashboard }, host, (live) =>
      runDemo(folders, host, { live, isVerbose: wantsVerbose(command) }),
    );
  },
});
