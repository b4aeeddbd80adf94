import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { addJson } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { inventoryJsonSchema } from '../operate/remote/inventory/inventory-schema.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { remoteDownCommand } from './remote-down.ts';
import { addInventory, type LoadTable } from './remote-options.ts';
import { remoteRunCommand } from './remote-run.ts';
import { remoteStatusCommand } from './remote-status.ts';
import { remoteUpCommand } from './remote-up.ts';

const ABOUT =
  'measure bare machines by ssh: bring SUT nodes up, run, fetch the results, take all down';

const CODES =
  '2 wrong flag, key or inventory, 4 SUT, 6 a host or this machine, 130 Ctrl-C, 143 SIGTERM';

const EXAMPLE = `
Example:
  longhaul remote --inventory hosts.yaml run --output results/first -- --target-qps 200
  longhaul remote --inventory hosts.yaml up          SUT nodes that stay
  longhaul remote --inventory hosts.yaml status
  longhaul remote --inventory hosts.yaml down

Hosts need sh, tar and Node.js; this machine needs ssh that logs in without a question. docs/remote.md has an inventory.

Exit codes: 0 done, or VALID, 3 INVALID or a --threshold is not met, 5 data set or model, ${CODES}.`;

/** `longhaul remote`: bare machines by the system's own ssh. */
export function remoteCommand(
  setExitCode: (code: number) => void,
  loadSutOptions: LoadTable,
): Command {
  const command = addJson(addInventory(createCommand('remote', ABOUT)))
    .option('--schema', 'print the JSON Schema of an inventory')
    .addHelpText('after', EXAMPLE);
  command.action(async () => {
    if (command.opts<{ schema?: boolean }>().schema !== true) {
      const message = 'remote: say what to do: up, run, status or down (see --help)';
      throw new MlperfError('ERR_CONFIG_INVALID', message);
    }
    const schema = inventoryJsonSchema({ run: RUN_SETTINGS, sut: await loadSutOptions() });
    process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  });
  return command
    .addCommand(remoteUpCommand(loadSutOptions))
    .addCommand(remoteRunCommand(setExitCode, loadSutOptions))
    .addCommand(remoteStatusCommand(loadSutOptions))
    .addCommand(remoteDownCommand(loadSutOptions));
}
