import type { Command } from 'commander';
import {
  askNames,
  checkDispatchSettings,
  defaultDispatchSettings,
  resolveNodeAddresses,
} from '../../qdl/index.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { addressList, type Setting } from '../../shared/config/setting.ts';
import { CONNECTION_OPTIONS, toConnectionSettings } from '../run/plan/connection-options.ts';
import { nodesOfRun, OIP_SERVICE_OPTION, requireOipAddress } from '../run/plan/oip-options.ts';
import { nameLines } from '../run/screen/print-report.ts';

const NAME_SETTINGS: { readonly sut: Setting<string[]> } & typeof OIP_SERVICE_OPTION &
  typeof CONNECTION_OPTIONS = {
  sut: addressList('addresses of the SUT nodes', { required: true, allowsOip: true }),
  ...OIP_SERVICE_OPTION,
  ...CONNECTION_OPTIONS,
};

const EXAMPLE = `
Example:
  longhaul name --sut 10.0.0.2:50051,10.0.0.3:50051
  longhaul name --sut oip://10.0.0.4:8001`;

/** `longhaul name`: what LoadGen's Name() would say, and each node's round trip. */
export function nameCommand(): Command {
  const command = createCommand('name', 'ask SUT nodes for their names: one round trip to each');
  return addJson(addFlags(command, NAME_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, NAME_SETTINGS);
      requireOipAddress(values, values.sut);
      const { nodes, ...protocol } = nodesOfRun(values.sut, values);
      const settings = {
        ...defaultDispatchSettings(await resolveNodeAddresses(nodes)),
        ...protocol,
        ...toConnectionSettings(values),
      };
      checkDispatchSettings(settings);
      const call = await askNames(settings);
      writeResult(command, { text: `${nameLines([call]).join('\n')}\n`, json: call });
    });
}
