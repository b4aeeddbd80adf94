#!/usr/bin/env -S node --min-semi-space-size=16
import { reportError } from '../shared/base/process/exit-codes.ts';

// Who reads our output may go away (| head): the run goes on and its logs are written all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  // Loaded here, so that a limit of open files that is too low for it is reported as any error.
  const { runCommandLine } = await import('./cli/command-line.ts');
  process.exitCode = await runCommandLine(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportError(error);
}
// A gRPC channel or a pipe that is still closing must not keep the process. Output is flushed first:
// the pipes of a parent process are asynchronous.
process.stdout.write('', () => process.stderr.write('', () => process.exit()));
