#!/usr/bin/env -S node --min-semi-space-size=16
import { runCommandLine } from './commands/command-line.ts';

// Who reads our output may go away (| head): the run goes on and its logs are written all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exitCode = await runCommandLine(process.argv.slice(2));
// A gRPC channel or a pipe that is still closing must not keep the process. Output is flushed first:
// the pipes of a parent process are asynchronous.
process.stdout.write('', () => process.stderr.write('', () => process.exit()));
