#!/usr/bin/env node
import { commanderOutcome, createCommand } from '../shared/config/command-line.ts';
import { EXIT } from '../shared/process/exit-codes.ts';
import { packageVersion } from '../shared/process/package-files.ts';
import { reportError } from '../shared/process/report-error.ts';
import { InterruptedError } from './commands/interruption.ts';
import { verbCommands } from './commands/verbs.ts';

const EXAMPLES = `
Examples:
  longhaul demo                                       the whole thing on this machine
  longhaul sut --benchmark digits --listen 0.0.0.0:50051 --node sut-a
  longhaul run --sut 10.0.0.2:50051 --benchmark digits --scenario Server --target-qps 100
  longhaul name --sut 10.0.0.2:50051
  longhaul audit network results/first                what a run shows of the division's rules

"longhaul VERB --help" shows the flags of a verb.`;

async function main(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.valid;
  const setExitCode = (code: number): void => {
    exitCode = code;
  };
  const program = createCommand(
    'longhaul',
    'MLPerf Inference, Network division: LoadGen and SUT over gRPC',
  )
    .version(packageVersion())
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLES);
  for (const verb of await verbCommands(args, setExitCode)) program.addCommand(verb);
  if (args.length === 0) {
    program.outputHelp();
    return EXIT.usage;
  }
  await program.parseAsync(args, { from: 'user' });
  return exitCode;
}

// Who reads our output may go away (| head): the run goes on and its logs are written all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const outcome = commanderOutcome(error);
  process.exitCode = outcome === 'done' ? EXIT.valid : reportError(outcome ?? error);
  if (error instanceof InterruptedError) process.exitCode = error.exitCode;
}
// A gRPC channel or a pipe that is still closing must not keep the process. Output is flushed first:
// the pipes of a parent process are asynchronous.
process.stdout.write('', () => process.stderr.write('', () => process.exit()));
