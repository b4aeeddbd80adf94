import type { Command } from 'commander';
import { addSettings, createCommand, settingsOf } from '../shared/config/command-line.ts';
import type { MlperfError } from '../shared/errors/mlperf-error.ts';
import { EXIT } from '../shared/process/exit-codes.ts';
import { createLogger, type Logger } from '../shared/process/logger.ts';
import { reportError } from '../shared/process/report-error.ts';
import { NOWHERE, percentOf, Terminal } from '../shared/process/terminal.ts';
import { exposureWarning } from './server/server-security.ts';
import { SUT_OPTIONS, toSutSettings } from './settings/sut-options.ts';
import type { SutSettings } from './settings/sut-settings.ts';
import { type SutNode, startSutNode } from './sut-node.ts';

export { SUT_OPTIONS };

const EXAMPLE = `
Example:
  longhaul sut --benchmark digits --listen 0.0.0.0:50051 --node sut-a

The node says Ready after every worker has run the model once. SIGTERM and Ctrl-C drain it: what it
holds is answered, then it ends with exit code 0.`;

/** `longhaul sut`: one SUT node. Loaded by the one bin through shared/process/package-files.ts. */
export function sutCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('sut', 'serve a benchmark as a SUT node');
  return addSettings(command, SUT_OPTIONS)
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, 'sut', SUT_OPTIONS);
      const logger = createLogger('longhaul-sut', values.logLevel);
      const terminal = new Terminal(values.progress === 'shown' ? process.stderr : NOWHERE);
      const warn = (text: string): void => {
        // Where nobody looks at the terminal it goes to the log.
        if (values.progress === 'shown') terminal.line(`longhaul: warning: ${text}`);
        else logger.warn({}, text);
      };
      setExitCode(await serve(toSutSettings(values), { logger, terminal, warn }));
    });
}

/** Where a node says what it does. */
interface Outputs {
  readonly logger: Logger;
  readonly terminal: Terminal;
  /** Tells something that a person should know, once. */
  warn(text: string): void;
}

/** Serves until somebody asks for the end, or until the node cannot serve any more. */
async function serve(settings: SutSettings, { logger, terminal, warn }: Outputs): Promise<number> {
  const warning = exposureWarning(settings);
  if (warning !== undefined) warn(warning);
  const asked = askedToStop();
  const giveUp = new AbortController();
  const starting = startSutNode(settings, {
    signal: giveUp.signal,
    logger,
    onListening: (address) => {
      terminal.line(`SUT node ${settings.node} listens on ${address}`);
      // A parent process (longhaul demo) asked for a free port and wants to know which it is.
      process.send?.({ type: 'listening', address });
    },
    onProgress: (fraction, what) => {
      if (fraction < 1) terminal.status(what, percentOf(fraction));
    },
  });
  const node = await Promise.race([starting, asked]);
  if (node === 'stop') {
    giveUp.abort();
    // A thread inside ONNX Runtime must come to its end: the process would abort under it.
    await starting.then((late) => late.stop()).catch(() => {});
    return EXIT.valid;
  }
  const { workerCount, benchmark } = settings;
  terminal.line(`SUT node ${node.name} is ready: ${benchmark}, ${workerCount} worker(s)`);
  const end = await Promise.race([asked, fatalError(node)]);
  if (end === 'stop') terminal.status('draining');
  await node.stop();
  terminal.clear();
  return end === 'stop' ? EXIT.valid : reportError(end);
}

/** Resolves at SIGTERM, at Ctrl-C, or when the parent process that started this node is gone. */
function askedToStop(): Promise<'stop'> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT', 'disconnect'])
      process.once(name, () => resolve('stop'));
  });
}

function fatalError(node: SutNode): Promise<MlperfError> {
  return new Promise((resolve) => {
    node.onFatal(resolve);
  });
}
