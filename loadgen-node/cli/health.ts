import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { printText } from '../../shared/base/process/terminal.ts';
import { writeResult } from '../../shared/config/command-line.ts';
import { checkHealth, HEALTH_SETTINGS } from '../operate/health/check-health.ts';
import { type MakeCommand, verb } from './verb.ts';

/** `longhaul probe health`: whether servers serve. */
export const healthVerb: MakeCommand = verb({
  takes: { '<address...>': 'host:port[,host:port...], or dns:///name:port' },
  settings: HEALTH_SETTINGS,
  example: `
Examples:
  longhaul probe health 10.0.0.2:50052
  longhaul probe health dns:///sut:50051 --wait 10m --tls-ca ca.crt

Any server of grpc.health.v1 can be asked. Of several addresses, and of all behind a name
(dns:///name:port), every one has to serve.

Exit codes: 0 SERVING, 3 any other answer (NOT_SERVING, no such service), 4 no answer.`,
  action: async ({ values, command }, lists: string[]) => {
    // The same as for --sut, so that one variable serves both.
    const named = lists.flatMap((list) => list.split(','));
    const { whyNot, ...result } = await checkHealth(named, values);
    writeResult(command, result);
    if (whyNot === null) return {};
    printText(process.stderr, `longhaul: ${whyNot}\n`);
    return { exitCode: EXIT.invalid };
  },
});

/** Line of the help. */
export const HEALTH_ABOUT =
  'ask servers by grpc.health.v1 whether they serve, or wait until they do';

/** `longhaul probe` with only `health`. */
export const healthOnlyVerb: MakeCommand = verb({
  verbs: { health: [HEALTH_ABOUT, healthVerb] },
});
