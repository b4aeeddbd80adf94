#!/usr/bin/env node
import type { Command } from 'commander';
import { commanderOutcome, createCommand } from '../shared/config/command-line.ts';
import type { SettingTable } from '../shared/config/setting.ts';
import { EXIT } from '../shared/process/exit-codes.ts';
import { compiledModule, packageVersion } from '../shared/process/package-files.ts';
import { reportError } from '../shared/process/report-error.ts';
import { accuracyCommand } from './commands/accuracy.ts';
import { auditCommand } from './commands/audit.ts';
import { complianceCommand } from './commands/compliance.ts';
import { compressionCommand } from './commands/compression.ts';
import { confCommand } from './commands/conf.ts';
import { configCommand } from './commands/config.ts';
import { dataCommand } from './commands/data.ts';
import { demoCommand } from './commands/demo.ts';
import { earlyStoppingCommand } from './commands/early-stopping.ts';
import { InterruptedError } from './commands/interruption.ts';
import { nameCommand } from './commands/name.ts';
import { prepareCommand } from './commands/prepare.ts';
import { resultsCommand } from './commands/results.ts';
import { runCommand } from './commands/run.ts';
import { selfCheckCommand } from './commands/self-check.ts';
import { settingsCommand } from './commands/settings.ts';
import { submissionCommand } from './commands/submission.ts';
import { systemCommand } from './commands/system.ts';
import { traceCommand } from './commands/trace.ts';

const EXAMPLES = `
Examples:
  longhaul demo                                       the whole thing on this machine
  longhaul sut --benchmark digits --listen 0.0.0.0:50051 --node sut-a
  longhaul run --sut 10.0.0.2:50051 --benchmark digits --scenario Server --target-qps 100
  longhaul name --sut 10.0.0.2:50051
  longhaul audit network results/first                what a run shows of the division's rules

"longhaul VERB --help" shows the flags of a verb.`;

/** What the SUT half exports to the one bin (sut-node/command.ts). */
interface SutHalf {
  sutCommand(setExitCode: (code: number) => void): Command;
  readonly SUT_OPTIONS: SettingTable;
}

/** Loads the other half by path: `run` must work where it, or ONNX Runtime, is not installed. */
async function loadSutHalf(): Promise<SutHalf> {
  return (await import(compiledModule('sut-node/command.js').href)) as SutHalf;
}

/** Takes the verb's place until it is asked for, so that the other verbs never load the SUT half. */
async function sutVerb(isAsked: boolean, setExitCode: (code: number) => void): Promise<Command> {
  if (isAsked) return (await loadSutHalf()).sutCommand(setExitCode);
  return createCommand('sut', 'serve a benchmark as a SUT node');
}

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
    .addHelpText('after', EXAMPLES)
    .addCommand(demoCommand(setExitCode))
    .addCommand(await sutVerb(args.includes('sut'), setExitCode))
    .addCommand(runCommand(setExitCode))
    .addCommand(nameCommand())
    .addCommand(prepareCommand())
    .addCommand(accuracyCommand(setExitCode))
    .addCommand(auditCommand(setExitCode))
    .addCommand(complianceCommand(setExitCode))
    .addCommand(systemCommand())
    .addCommand(submissionCommand(setExitCode))
    .addCommand(dataCommand())
    .addCommand(compressionCommand())
    .addCommand(settingsCommand())
    .addCommand(confCommand())
    .addCommand(traceCommand())
    .addCommand(resultsCommand())
    .addCommand(earlyStoppingCommand())
    .addCommand(selfCheckCommand(setExitCode))
    .addCommand(configCommand(async () => (await loadSutHalf()).SUT_OPTIONS));
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
