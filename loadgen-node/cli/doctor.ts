import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { DOCTOR_SETTINGS, examine, plansRun } from '../operate/doctor/examine.ts';
import { doctorJson, doctorText } from '../operate/doctor/finding.ts';
import { CommandHost } from '../run/host/host.ts';
import { takeNodeBenchmark } from './node-benchmark.ts';
import { verb } from './verb.ts';

const FIRST_KEYS: readonly string[] = [
  ...['sut', 'benchmark', 'scenario', 'targetQps', 'targetLatency', 'ttft', 'tpot'],
  ...['encoding', 'dataDir', 'linkTestTime', 'again', 'tlsCa', 'tokenFile'],
];

/** `longhaul doctor`: what a run would meet on this machine, its links and its nodes. */
export const doctorVerb = verb({
  json: 'first',
  settings: DOCTOR_SETTINGS,
  groups: { keys: FIRST_KEYS },
  before: async (command) => {
    if (plansRun(command.opts())) await takeNodeBenchmark(command, DOCTOR_SETTINGS);
  },
  example: `
Example:
  longhaul doctor --sut 10.0.0.2:50051 --benchmark resnet50 --data-dir imagenet --target-qps 500

The link test sends load to each node, one after the other. A node in the middle of a run refuses
it.

Exit codes: 0 no errors (warnings do not count), 3 errors, 4 a node does not answer, 2 wrong flag.`,
  action: async ({ values, command }) => {
    const host = new CommandHost();
    const { groups, hasLost } = await examine(values, command.opts(), host);
    host.progress(null);
    const json = doctorJson(groups);
    const result = { text: doctorText(groups), json };
    return hasLost ? { ...result, exitCode: EXIT.sut } : { ...result, isGood: json.errors === 0 };
  },
});
