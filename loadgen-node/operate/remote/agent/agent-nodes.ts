import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError, Controller, expand, tailOf, tell, writeFiles } from './agent-basics.ts';
import { expandCommand, pathWithNode } from './agent-facts.ts';
import { withLock } from './agent-lock.ts';
import {
  folderOf,
  forget,
  forgetEnded,
  killGroup,
  pause,
  stateOf,
  stopProcess,
  writeState,
} from './agent-states.ts';
import type {
  NodeFailure,
  NodeStart,
  ProcessState,
  StartRequest,
  StopRequest,
} from './agent-words.ts';

/** A node that this agent started. */
interface StartedNode {
  readonly name: string;
  readonly child: ChildProcess;
  /** Undefined: it ended before it could be written down. */
  readonly state: ProcessState | undefined;
}

/** See {@link StartRequest}. */
export async function startNodes(request: StartRequest): Promise<void> {
  const folder = expand(request.folder);
  const started: StartedNode[] = [];
  let isStopping = false;
  const ending = new Promise<string>((resolve) => {
    const controller = new Controller((word) => {
      isStopping = isStopping || word !== 'keep';
      controller.close();
      resolve(word);
    });
  });
  const isGivenUp = (): boolean => isStopping;
  const starting = request.nodes.map(async (node) => {
    try {
      const child = await startNode(folder, node, request, (one) => started.push(one), isGivenUp);
      if (child !== undefined) watchEnd(folder, node.name, child, isGivenUp);
    } catch (error) {
      const failure = error instanceof NodeStartError ? error.failure : failureOf(error);
      tell({ event: 'failed', node: node.name, ...failure });
    }
  });
  const word = await ending;
  if (word === 'keep') {
    for (const { child } of started) child.unref();
    tell({ event: 'done' });
    return;
  }
  await Promise.all(starting);
  await Promise.all(
    started.map(async ({ name, state }) => {
      // Its own, not what is written down by now: that may be somebody else's.
      const how =
        state === undefined ? 'was gone' : await stopProcess(state, request.stopTimeoutMs);
      forgetEnded(folder, name);
      tell({ event: 'stopped', node: name, how });
    }),
  );
  tell({ event: 'done' });
}

/** Why a node did not start. */
class NodeStartError extends Error {
  readonly failure: NodeFailure;

  constructor(failure: Partial<NodeFailure> & Pick<NodeFailure, 'why' | 'message'>) {
    super(failure.message);
    this.failure = { code: undefined, log: '', ...failure };
  }
}

function failureOf(error: unknown): NodeFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { why: 'other', message, code: undefined, log: '' };
}

/** @returns the process when it is this agent's own; undefined: it was running, or nobody wants it any more */
async function startNode(
  folder: string,
  node: NodeStart,
  { isHeld, readyTimeoutMs }: StartRequest,
  onStarted: (node: StartedNode) => void,
  isGivenUp: () => boolean,
): Promise<ChildProcess | undefined> {
  const { name } = node;
  const own = folderOf(folder, name);
  const child = withLock(own, name, () => {
    if (isRunning(folder, node)) return undefined;
    forget(folder, name);
    try {
      writeFiles(own, node.files);
      return launch(folder, node, isHeld, onStarted);
    } catch (error) {
      forget(folder, name);
      throw error;
    }
  });
  if (child === undefined) return undefined;
  const processId = child.pid;
  if (processId === undefined) {
    const error = await new Promise<Error>((resolve) => child.once('error', resolve));
    forgetEnded(folder, name);
    const message = `cannot start ${node.argv[0]}: ${error.message}`;
    throw new NodeStartError({ why: 'other', message });
  }
  tell({ event: 'started', node: name, processId });
  await untilReady(own, name, child, readyTimeoutMs, isGivenUp);
  return child;
}

/** Whether a node runs as it should; says so then. @throws NodeStartError where it runs otherwise */
function isRunning(folder: string, { name, digest }: NodeStart): boolean {
  const before = stateOf(folder, name);
  if (before?.isAlive !== true) return false;
  if (before.isHeld) {
    const message = `process ${before.processId} runs since ${before.since} for another run`;
    throw new NodeStartError({ why: 'held', message });
  }
  if (before.digest !== digest) {
    const message = `process ${before.processId} runs with other settings or another package`;
    throw new NodeStartError({ why: 'different', message });
  }
  tell({ event: 'running', node: name, processId: before.processId });
  return true;
}

/** Starts a node and writes it down, or neither. */
function launch(
  folder: string,
  node: NodeStart,
  isHeld: boolean,
  onStarted: (node: StartedNode) => void,
): ChildProcess {
  const { name, address, digest } = node;
  const child = spawnNode(folderOf(folder, name), node, isHeld);
  const processId = child.pid;
  if (processId === undefined) return child;
  try {
    const state = writeState(folder, { name, kind: 'sut', processId, digest, isHeld, address });
    onStarted({ name, child, state });
  } catch (error) {
    killGroup(processId);
    throw error;
  }
  return child;
}

function spawnNode(own: string, { argv, environment }: NodeStart, isHeld: boolean): ChildProcess {
  const log = join(own, 'log');
  try {
    renameSync(log, join(own, 'log.before'));
  } catch {
    // There was none before.
  }
  const [program, ...args] = expandCommand(argv);
  const [out, err] = [openSync(join(own, 'out'), 'w', 0o600), openSync(log, 'w', 0o600)];
  const child = spawn(program, args, {
    cwd: own,
    // Of its own session: no terminal and no Ctrl-C reaches it.
    detached: true,
    env: { ...process.env, PATH: pathWithNode(), ...environment, ORT_DISABLE_TELEMETRY: '1' },
    // By the channel a node notices that this process is gone, however that ended, and ends.
    stdio: isHeld ? ['ignore', out, err, 'ipc'] : ['ignore', out, err],
  });
  closeSync(out);
  closeSync(err);
  return child;
}

/** What a node said on its stdout: an event on a line each, an error at the end. */
function saidOf(own: string): { isReady: boolean; error: { code?: string; message?: string } } {
  let isReady = false;
  let error = {};
  for (const line of tailOf(join(own, 'out')).split('\n')) {
    try {
      const said = JSON.parse(line) as { event?: string; error?: object };
      if (said.event === 'ready') isReady = true;
      if (said.error !== undefined) error = said.error;
    } catch {
      // A line that is being written.
    }
  }
  return { isReady, error };
}

async function untilReady(
  own: string,
  name: string,
  child: ChildProcess,
  timeoutMs: number,
  isGivenUp: () => boolean,
): Promise<void> {
  const log = join(own, 'log');
  const deadline = performance.now() + timeoutMs;
  let lastSaid = '';
  while (!isGivenUp()) {
    const { isReady, error } = saidOf(own);
    if (isReady) {
      tell({ event: 'ready', node: name, processId: child.pid ?? 0 });
      return;
    }
    if (hasEnded(child)) {
      const message = error.message ?? `ended before it was ready (${endOf(child)})`;
      throw new NodeStartError({ why: 'ended', message, code: error.code, log: tailOf(log) });
    }
    if (performance.now() > deadline) {
      const message = `not ready within ${timeoutMs / 1000} s`;
      throw new NodeStartError({ why: 'timeout', message, log: tailOf(log) });
    }
    const text = tailOf(log).trim().split('\n').at(-1) ?? '';
    if (text !== '' && text !== lastSaid) tell({ event: 'progress', node: name, text });
    lastSaid = text;
    await pause();
  }
}

/** Says so when a node ends that nobody stopped. */
function watchEnd(
  folder: string,
  name: string,
  child: ChildProcess,
  isStopping: () => boolean,
): void {
  const onEnd = (): void => {
    if (isStopping()) return;
    const own = folderOf(folder, name);
    const { message, code } = saidOf(own).error;
    const said = message === undefined ? '' : `: ${message}`;
    const log = tailOf(join(own, 'log'));
    tell({
      event: 'failed',
      node: name,
      why: 'ended',
      message: `ended (${endOf(child)})${said}`,
      code,
      log,
    });
  };
  if (hasEnded(child)) onEnd();
  else child.once('exit', onEnd);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function endOf({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `exit code ${exitCode}` : signalCode;
}

/** See {@link StopRequest}. */
export async function stopNodes({ folder: path, names, timeoutMs }: StopRequest): Promise<void> {
  const folder = expand(path);
  const controller = new Controller(() => {});
  try {
    await Promise.all(
      names.map(async (name) => {
        const state = stateOf(folder, name);
        const isAlive = state?.isAlive === true;
        const how = isAlive ? await stopProcess(state, timeoutMs) : 'was gone';
        forgetEnded(folder, name);
        tell({ event: 'stopped', node: name, how });
      }),
    );
  } catch (error) {
    const { message } = error as Error;
    throw new AgentError(`a process cannot be stopped: ${message}`);
  } finally {
    controller.close();
  }
  tell({ event: 'done' });
}
