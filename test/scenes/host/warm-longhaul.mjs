// Runs command lines of the compiled program one after the other, as its parent asks: what
// WarmLonghaul talks to. argv[2]: URL of the compiled command line.

const { runCommandLine } = await import(process.argv[2]);
const SIGNALS = ['SIGINT', 'SIGTERM', 'uncaughtException'];
const home = process.cwd();

/** Tells the parent what is written to a stream. */
function tell(name) {
  process[name].write = (chunk, ...rest) => {
    process.send({ [name]: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString() });
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
}

tell('stdout');
tell('stderr');

process.on('message', async ({ args, cwd }) => {
  const listeners = SIGNALS.map((signal) => process.listeners(signal));
  process.chdir(cwd ?? home);
  const code = await runCommandLine(args);
  // A real process ends with its verb.
  SIGNALS.forEach((signal, i) => {
    const ofVerb = process.listeners(signal).filter((one) => !listeners[i].includes(one));
    for (const listener of ofVerb) process.removeListener(signal, listener);
  });
  process.exitCode = undefined;
  process.send({ code });
});
process.on('disconnect', () => process.exit());
