import { Argument, type Command } from 'commander';
import { wantsJson, writeResult } from '../../shared/base/process/json-output.ts';
import { measure } from '../operate/remote/measure.ts';
import { withPackages } from '../operate/remote/open-remote.ts';
import { folderName } from '../operate/remote/output-folder.ts';
import { outputFolder, planResult, runText } from '../operate/remote/remote-text.ts';
import { addDryRun, type LoadTable, openInventory, remoteVerb } from './remote-options.ts';

/** `longhaul remote run`: a measurement from the LoadGen host. */
export function remoteRunCommand(
  setExitCode: (code: number) => void,
  loadSutOptions: LoadTable,
): Command {
  const verb = remoteVerb('run', 'measure from the LoadGen host, and fetch results and logs')
    .option('--output <folder>', 'folder here (default: results/remote-<time>-<process>)')
    .option('--keep', 'SUT nodes that this run starts stay after it');
  const command = addDryRun(verb).addArgument(
    new Argument('[flags...]', 'after --: flags of "longhaul run", over the inventory'),
  );
  return command.action(async (flags: string[]) => {
    const { context: opened, host, isDry } = await openInventory(command, loadSutOptions, flags);
    const context = await withPackages(opened);
    const { output: named, keep } = command.opts<{ output?: string; keep?: boolean }>();
    const output = folderName(named ?? outputFolder());
    if (isDry) return writeResult(command, planResult(context, { isRun: true, output }));
    const isJson = wantsJson(command);
    const parts: Buffer[] = [];
    const measured = await measure(context, {
      ...{ output, isJson, isKeeping: keep === true },
      // It names folders of the host, which have another name here when it is printed.
      onOutput: (data) => parts.push(data),
      onStderr: (data) => process.stderr.write(data),
    });
    const exitCode = host.exitCode ?? measured.exitCode;
    const text = Buffer.concat(parts).toString();
    writeResult(command, runText(text, { ...measured, output, exitCode }, isJson));
    setExitCode(exitCode);
  });
}
