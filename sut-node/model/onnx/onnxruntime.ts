import assert from 'node:assert';
import { isatty } from 'node:tty';
import { isMainThread, type Worker } from 'node:worker_threads';
import { errorCodeOf, messageOf, notInstalled } from '../../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../../shared/base/process/exit-codes.ts';
import {
  absentOnnxRuntimeText,
  onnxRuntimeInstallCommand,
} from '../../../shared/host/component-versions.ts';

/**
 * The module `onnxruntime-node`. Its types may be imported elsewhere, the module itself only here.
 */
export type OnnxRuntime = typeof import('onnxruntime-node');

/**
 * Since 1.29 ONNX Runtime collects telemetry on Linux by default: it writes a database with model
 * and graph names below ~/.cache and tries to reach a collector. A benchmark must not do so without
 * its user's knowledge, least of all while it measures. The native library reads this variable
 * once, when it loads.
 */
const TELEMETRY_VARIABLE = 'ORT_DISABLE_TELEMETRY';

const STDERR = 2;

/**
 * Level of ONNX Runtime's own output on stderr: warnings on a terminal, no output elsewhere, since
 * its native code colours every line and has no switch for that. Causes of failed sessions and
 * inferences are thrown as well, and reported as our errors.
 */
export function sessionLogLevel(): 2 | 4 {
  return isatty(STDERR) ? 2 : 4;
}

/**
 * Turns ONNX Runtime's telemetry off for this process. Call it in the main thread before the first
 * worker thread that loads ONNX Runtime is started: `process.env` of a worker is a copy, which the
 * native library never sees.
 */
export function disableTelemetry(): void {
  assert(isMainThread, 'a worker thread cannot set environment variables of the process');
  process.env[TELEMETRY_VARIABLE] = '1';
}

/**
 * Loads ONNX Runtime. Only this file imports it, so that it never loads with telemetry on, and so
 * that commands without inference start without it.
 * @throws MlperfError `ERR_NOT_INSTALLED` when the package is absent or its binary does not load
 *   here.
 */
export async function loadOnnxRuntime(): Promise<OnnxRuntime> {
  if (isMainThread) disableTelemetry();
  // A worker inherits a copy of the variables: if this one is missing, the parent did not set it.
  assert.equal(
    process.env[TELEMETRY_VARIABLE],
    '1',
    'the main thread must call disableTelemetry()',
  );
  try {
    const runtime = await import('onnxruntime-node');
    if (!isatty(STDERR)) runtime.env.logLevel = 'fatal';
    return runtime;
  } catch (error) {
    throw notInstalled(describeLoadFailure(error), error);
  }
}

function describeLoadFailure(error: unknown): string {
  if (errorCodeOf(error) === 'ERR_MODULE_NOT_FOUND') {
    return absentOnnxRuntimeText();
  }
  return (
    `onnxruntime-node does not load on this machine (${process.platform}-${process.arch}): ` +
    `${messageOf(error)}; onnxruntime-node needs glibc 2.28 or later and its binary for this platform, ` +
    `so install the package again with "${onnxRuntimeInstallCommand()}"`
  );
}

/** Signals by the exit code that a shell reports for them, and that longhaul documents. */
const SIGNAL_OF_CODE: ReadonlyMap<number, NodeJS.Signals> = new Map([
  [EXIT.terminated, 'SIGTERM'],
  [EXIT.interrupted, 'SIGINT'],
]);

/** Threads of this process that run ONNX Runtime and have not ended. */
const running = new Set<Worker>();

/** Keeps track of a thread that may run ONNX Runtime, until the thread has ended. */
export function trackThread(worker: Worker): void {
  running.add(worker);
  worker.once('exit', () => running.delete(worker));
}

/**
 * Lets this process end although a thread still runs ONNX Runtime. Node.js would terminate such a
 * thread at its exit, which aborts the process after the inference, and would wait for the thread,
 * for ever if it hangs in native code. So the process then ends itself by a signal: the one that
 * its exit code stands for, or else SIGKILL, which a shell reports as 137.
 */
export function endDespiteThreads(): void {
  let isDefect = false;
  // Node tells what it was behind the event 'exit'.
  process.once('uncaughtExceptionMonitor', () => {
    isDefect = true;
  });
  process.once('exit', (code) => {
    if (isDefect || running.size === 0) return;
    const signal = SIGNAL_OF_CODE.get(code) ?? 'SIGKILL';
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
