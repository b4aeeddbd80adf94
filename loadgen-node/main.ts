#!/usr/bin/env -S node --min-semi-space-size=16

/** Before the program is loaded: each of its files has to be opened for that. */
let reportError = (error: unknown): number => {
  // The loader of Node.js says it in words.
  const isLimit = error instanceof Error && /EMFILE|too many open files/.test(error.message);
  const text = isLimit
    ? 'this process has reached its limit of open files: raise "ulimit -n"'
    : String(error);
  process.stderr.write(`longhaul: ${text}\n`);
  return isLimit ? 6 : 1;
};

// The program that reads our output may end (| head): the run goes on and writes its logs.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// A command with work under way has its own listener, which ends the work and keeps its files.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') === 1) process.exit(reportError(error));
});

try {
  ({ reportError } = await import('../shared/base/process/exit-codes.ts'));
  (await import('../shared/base/process/start-signals.ts')).takeStartSignals();
  // Loaded here, so that a limit of open files that is too low for it is reported as any error.
  const { runCommandLine } = await import('./cli/command-line.ts');
  process.exitCode = await runCommandLine(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportError(error);
}
// A gRPC channel or a pipe that is still closing must not keep the process. Output is flushed
// first: the pipes of a parent process are asynchronous.
process.stdout.write('', () => process.stderr.write('', () => process.exit()));
