import type { Command } from 'commander';
import { Deferred } from '../shared/base/async.ts';
import { configInvalid, type MlperfError } from '../shared/base/errors/mlperf-error.ts';
import { EXIT, errorDocument, reportError } from '../shared/base/process/exit-codes.ts';
import { createLogger, type Logger } from '../shared/base/process/logger.ts';
import { hasYoungGenerationFlag, NODE_FLAGS } from '../shared/base/process/node-flags.ts';
import { NOWHERE, percentOf, printText, Terminal } from '../shared/base/process/terminal.ts';
import { jsonText } from '../shared/base/text.ts';
import {
  addJson,
  addSettingsInGroups,
  createCommand,
  settingsOf,
  wantsJson,
} from '../shared/config/command-line.ts';
import type { SettingValues } from '../shared/config/setting.ts';
import { ownRuntimeFlags } from '../shared/host/tuning-facts.ts';
import { createModel } from './inference/create-model.ts';
import { disableTelemetry, endDespiteThreads } from './model/onnx/onnxruntime.ts';
import { checkNode, checkReportText } from './operations/check-node.ts';
import { Patience } from './operations/patience.ts';
import { exposureWarnings } from './server/connection/server-security.ts';
import { SUT_OPTIONS, type SutSettings, toSutSettings } from './settings/sut-settings.ts';
import { chooseWorkers, roomHere, workersInWords } from './settings/worker-choice.ts';
import { type SutNode, startSutNode } from './sut-node.ts';

const EXAMPLE = `
Example:
  longhaul sut --benchmark digits --listen 0.0.0.0:50051 --node sut-a

With --json stdout has a line of JSON when the node is ready, {"event":"ready","address":...}, and
one at its end.

The node says Ready after every worker has run the model once. SIGTERM and Ctrl-C drain it: what it
holds is answered, then it ends with exit code 0. A second one ends it at once (143, 130); where the
drain timeout leaves samples without a response the exit code is 4, and where a worker thread hangs
it is 137. See docs/operate.md.`;

/** Settings that most nodes need: first in the help. */
const FIRST_KEYS: readonly string[] = [
  ...['benchmark', 'listen', 'node', 'model', 'workers', 'threadsPerWorker', 'providers'],
  ...['batchPreset', 'batchSizeMax', 'batchDelayUsMax', 'healthListen', 'metricsListen'],
  ...['tlsCert', 'tlsKey', 'check'],
];

/**
 * `longhaul sut`: one SUT node. Loaded by the one bin through shared/base/files/package-files.ts.
 */
export function sutCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('sut', 'serve a benchmark as a SUT node');
  return addJson(addSettingsInGroups(command, SUT_OPTIONS, { keys: FIRST_KEYS }))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      endDespiteThreads();
      const { values } = settingsOf(command, 'sut', SUT_OPTIONS);
      const logger = createLogger('longhaul-sut', values.logLevel);
      const terminal = new Terminal(values.progress === 'shown' ? process.stderr : NOWHERE);
      const warn = (text: string): void => {
        // Without a terminal this goes to the log.
        if (values.progress === 'shown') terminal.line(`longhaul: warning: ${text}`);
        else logger.warn({}, text);
      };
      checkFormatIsUsed(values);
      const chosen = chooseWorkers(values, roomHere(values));
      const settings = toSutSettings({ ...values, ...chosen });
      // Shown even with hidden progress: only this line names the free port, unless a parent
      // process receives it.
      const isSaid = values.progress === 'shown' || process.send !== undefined;
      const screen = isSaid ? terminal : new Terminal();
      const announce = (text: string): void => screen.line(text);
      const isJson = wantsJson(command);
      const tell = (event: object): void => {
        if (isJson) printText(process.stdout, `${jsonText(event)}\n`);
      };
      const outputs = { logger, terminal, warn, announce, tell };
      setExitCode(
        values.check
          ? await check(settings, isJson ? 'json' : values.checkFormat, outputs)
          : await serve(settings, workersInWords(chosen), outputs),
      );
    });
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for --check-format without --check */
function checkFormatIsUsed({ check, checkFormat }: SettingValues<typeof SUT_OPTIONS>): void {
  if (check || checkFormat === 'text') return;
  throw configInvalid(`--check-format ${checkFormat} has no effect without --check`);
}

/** Outputs of a node for people and programs. */
interface Outputs {
  readonly logger: Logger;
  readonly terminal: Terminal;
  /** Warns a person, once. */
  warn(text: string): void;
  /** Reports the node's address to the process that started it. */
  announce(text: string): void;
  /** Reports an event as one JSON line to a program. */
  tell(event: object): void;
}

/** Serves until a signal, or until the node can no longer serve. */
async function serve(
  settings: SutSettings,
  workersText: string,
  outputs: Outputs,
): Promise<number> {
  const { logger, terminal, warn, announce, tell } = outputs;
  for (const warning of exposureWarnings(settings)) warn(warning);
  const signals = new StopSignals();
  const giveUp = new AbortController();
  const starting = startSutNode(settings, {
    signal: giveUp.signal,
    logger,
    onListening: (address, { healthAddress, metricsUrl }) => {
      announce(`SUT node ${settings.node} listens on ${address}`);
      if (healthAddress !== undefined) announce(`health is at ${healthAddress}`);
      if (metricsUrl !== undefined) announce(`metrics are at ${metricsUrl}`);
      // A parent process (longhaul demo) requested a free port and needs its number. If the parent
      // is gone, the failed message ends the node without an error.
      process.send?.({ type: 'listening', address, healthAddress, metricsUrl }, () => {});
    },
    onProgress: (fraction, what) => {
      if (fraction < 1) terminal.status(what, percentOf(fraction));
    },
  });
  const node = await Promise.race([starting, signals.first]);
  if (typeof node === 'number') {
    giveUp.abort();
    const isClosed = starting.then((late) => late.stop()).catch(() => {});
    const exitCode = await Promise.race([isClosed.then(() => EXIT.valid), signals.second]);
    tell({ event: 'end', name: settings.node, isDrained: true, exitCode });
    return exitCode;
  }
  if (!hasYoungGenerationFlag(ownRuntimeFlags())) {
    warn(
      `Node.js was started without ${NODE_FLAGS.join(' ')}: samples of 100 kB and more may see long pauses; ` +
        'start it by the program longhaul, which sets the flag (deploy/tuning.md)',
    );
  }
  const workers = node.workerCount === undefined ? 'which needs no workers' : workersText;
  terminal.line(`SUT node ${node.name} is ready: ${settings.benchmark}, ${workers}`);
  tell(readyEvent(node, settings));
  const end = await Promise.race([signals.first, fatalError(node)]);
  if (typeof end === 'number') {
    const exitCode = await drain(node, signals, terminal);
    tell({ event: 'end', name: node.name, isDrained: node.isDrained, exitCode });
    return exitCode;
  }
  void signals.second.then(() => node.hurry());
  await node.stop();
  terminal.clear();
  tell({ event: 'end', name: node.name, isDrained: node.isDrained, ...errorDocument(end) });
  return reportError(end);
}

function readyEvent(
  { name, address, workerCount, healthAddress, metricsUrl }: SutNode,
  settings: SutSettings,
): object {
  const { benchmark } = settings;
  return {
    event: 'ready',
    name,
    address,
    benchmark,
    workers: workerCount ?? null,
    healthAddress: healthAddress ?? null,
    metricsUrl: metricsUrl ?? null,
    processId: process.pid,
  };
}

/**
 * Lets the node answer its outstanding samples; a second signal ends that. Returns the exit code.
 */
async function drain(node: SutNode, signals: StopSignals, terminal: Terminal): Promise<number> {
  terminal.status('draining; press again to end at once');
  let hurriedCode: number | undefined;
  void signals.second.then((code) => {
    hurriedCode = code;
    node.hurry();
  });
  await node.stop();
  terminal.clear();
  if (node.isDrained) return EXIT.valid;
  if (hurriedCode !== undefined) return hurriedCode;
  terminal.line('the drain timeout expired: some samples have no response');
  return EXIT.sut;
}

/** Reports the node that these settings would make, and its speed. Returns the exit code. */
async function check(
  settings: SutSettings,
  format: 'text' | 'json',
  { logger, terminal, warn }: Outputs,
): Promise<number> {
  for (const warning of exposureWarnings(settings)) warn(warning);
  disableTelemetry();
  const signals = new StopSignals();
  const patience = new Patience();
  void signals.second.then(() => patience.hurry());
  const model = await createModel(settings, logger, {});
  const checking = checkNode(settings, model, (fraction, what) =>
    terminal.status(what, percentOf(fraction)),
  );
  try {
    const report = await Promise.race([checking, signals.first]);
    if (typeof report === 'number') {
      terminal.status('ending');
      return report;
    }
    terminal.clear();
    const text = format === 'json' ? `${jsonText(report, 2)}\n` : checkReportText(report);
    printText(process.stdout, text);
    return EXIT.valid;
  } finally {
    terminal.clear();
    await model.stop(patience.withWorkers());
  }
}

function fatalError(node: SutNode): Promise<MlperfError> {
  return new Promise((resolve) => {
    node.onFatal(resolve);
  });
}

/** Stop signals, with the exit code of a process that they interrupt. */
const SIGNALS: Readonly<Record<string, number>> = {
  SIGTERM: EXIT.terminated,
  SIGINT: EXIT.interrupted,
};

/**
 * Source of the stop request: SIGTERM, Ctrl-C, or the end of the parent process. The first is a
 * request, the second forces the end; the third finds no handler, so the system ends the process.
 */
class StopSignals {
  /** Resolves at the first request, with the exit code for interrupted work. */
  readonly first: Promise<number>;
  /** Resolves at the second request. */
  readonly second: Promise<number>;

  constructor() {
    const asked = new Deferred<number>();
    const again = new Deferred<number>();
    this.first = asked.promise;
    this.second = again.promise;
    let count = 0;
    const onSignal = (name: NodeJS.Signals): void => {
      count += 1;
      const code = SIGNALS[name] ?? EXIT.terminated;
      if (count === 1) {
        asked.resolve(code);
        return;
      }
      for (const one of Object.keys(SIGNALS)) process.off(one, onSignal);
      again.resolve(code);
    };
    for (const name of Object.keys(SIGNALS)) process.on(name, onSignal);
    // The end of a parent process is only one request.
    process.once('disconnect', () => asked.resolve(EXIT.terminated));
    // The parent may have ended while this process started.
    if (process.send !== undefined && !process.connected) asked.resolve(EXIT.terminated);
    watchNpx(() => asked.resolve(EXIT.terminated));
  }
}

const LOOK_MS = 500;

/** Names of our programs in npx's command line; npm quotes what it passes to its shell. */
const OWN_PROGRAM = /^['"]?longhaul(?:-sut|-loadgen)?(?:['"\s@]|$)/;

/**
 * Detects the end of npx, which started this process. npx runs a program as a child of a shell: a
 * SIGTERM ends npx and its shell, but does not reach the program. A process started in another way
 * may outlive its parent (nohup, setsid, a supervisor) and is never notified.
 * @param onGone Called once, within half a second. The check does not keep the process alive.
 */
function watchNpx(onGone: () => void): void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = process.env;
  if (event !== 'npx' || !OWN_PROGRAM.test(script)) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS);
  timer.unref();
}
