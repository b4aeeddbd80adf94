import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import { type UpSut, withSut } from './bring-up.ts';
import { type Fetched, fetchFiles, listFolder } from './fetch-files.ts';
import { ask, type HostSession, hostError, isConnectionLost } from './host-session.ts';
import type { AgentCallEnd } from './hosts/host-link.ts';
import { type InstallContext, type RemoteContext, reportOf } from './hosts-of-inventory.ts';
import { runLaunch } from './launch-plans.ts';
import { OutputFolder } from './output-folder.ts';

/** How often a host is tried again whose connection broke off. */
const RECONNECTIONS = 5;
const RECONNECTION_PAUSE_MS = 2_000;

/** How a run on hosts is made. */
export interface MeasureOptions {
  /** Folder here; must be empty or absent. */
  readonly output: string;
  /** Asks LoadGen for its JSON document. */
  readonly isJson: boolean;
  /** True: nodes that this run starts stay. */
  readonly isKeeping: boolean;
  /** Take what LoadGen says, as it says it. */
  readonly onOutput: (data: Buffer) => void;
  readonly onStderr: (data: Buffer) => void;
}

/** What became of a run. */
export interface Measured {
  /** Of `longhaul run` on the LoadGen host. */
  readonly exitCode: number;
  readonly fetched: Fetched;
  /** Folder of the results on the LoadGen host, as LoadGen's own words have it. */
  readonly remoteOutput: string;
  readonly warnings: readonly string[];
}

/**
 * Measures the nodes of an inventory from its LoadGen host and brings results and logs here.
 * @throws MlperfError; everything that was started is stopped then
 */
export async function measure(context: InstallContext, options: MeasureOptions): Promise<Measured> {
  const output = OutputFolder.claim(options.output);
  const up = { isHeld: !options.isKeeping, isRestarting: false };
  try {
    return await withSut(context, up, (sut) => runAndFetch(context, sut, output, options));
  } finally {
    output.release();
  }
}

async function runAndFetch(
  context: InstallContext,
  sut: UpSut,
  output: OutputFolder,
  options: MeasureOptions,
): Promise<Measured> {
  const { inventory, host } = context;
  for (const warning of sut.warnings) host.report(`warning: ${warning}`);
  const session = sut.hosts.of(inventory.loadgen);
  const name = `run-${Date.now()}-${process.pid}`;
  const remote = join(session.facts.folder, 'results', name);
  const end = await runLoadGen(context, sut, session, name, remote, options);
  let fetched: Fetched;
  try {
    if (isConnectionLost(end)) {
      const why = session.link.explain(end);
      const left = await afterLoss(context, session, name, remote);
      await fetchResults(context, session, remote, output.partial).catch(() => undefined);
      throw hostError(session.label, `${why}: the run was broken off; ${left}`);
    }
    fetched = await fetchResults(context, session, remote, output.partial);
    await endNodes(sut, end, options);
    await fetchLogs(context, sut, output.partial);
  } catch (error) {
    // Whatever came is shown under the name that was asked for. What went wrong first is told as the error.
    try {
      output.place();
    } catch (second) {
      host.report(messageOf(second));
    }
    throw error;
  }
  place(output, session, fetched, remote);
  if (fetched.files > 0) await removeResults(context, session, name, remote);
  return { exitCode: end.code ?? 1, fetched, remoteOutput: remote, warnings: sut.warnings };
}

/** @throws MlperfError `ERR_OUTPUT` that says where the results are, here and on the host */
function place(
  output: OutputFolder,
  session: HostSession,
  { files }: Fetched,
  remote: string,
): void {
  try {
    output.place();
  } catch (error) {
    const there = files > 0 ? `, and on ${session.label} in ${remote}` : '';
    throw new MlperfError('ERR_OUTPUT', `${messageOf(error)}${there}`, { cause: error });
  }
}

/** The host's copy is not needed any more. A result that is here is not spoiled where it cannot be removed. */
async function removeResults(
  context: RemoteContext,
  session: HostSession,
  name: string,
  remote: string,
): Promise<void> {
  const { folder } = session.facts;
  try {
    await ask(session, { verb: 'remove', folder, names: [`results/${name}`] });
  } catch (error) {
    reportOf(context, session, `a copy of the results stays in ${remote}: ${messageOf(error)}`);
  }
}

async function runLoadGen(
  context: RemoteContext,
  sut: UpSut,
  session: HostSession,
  name: string,
  output: string,
  { isJson, onOutput, onStderr }: MeasureOptions,
): Promise<AgentCallEnd> {
  const { inventory, host } = context;
  const installed = sut.installedOf(inventory.loadgen);
  const command = runLaunch(inventory, installed, sut.certificates, { name, output, isJson });
  const { folder } = session.facts;
  const stopTimeoutMs = inventory.stopTimeoutMs;
  reportOf(context, session, 'LoadGen begins');
  const request = { verb: 'exec', folder, stopTimeoutMs, ...command } as const;
  const call = session.link.call(request, { onOutput, onStderr });
  const interrupt = (): void => call.say('interrupt');
  host.signal.addEventListener('abort', interrupt, { once: true });
  if (host.signal.aborted) interrupt();
  try {
    return await call.ended;
  } finally {
    host.signal.removeEventListener('abort', interrupt);
  }
}

/**
 * The connection is gone: by a new one, if there is a way, LoadGen is waited for; without one it ends by itself.
 * @returns what became of LoadGen
 */
async function afterLoss(
  context: RemoteContext,
  session: HostSession,
  name: string,
  remote: string,
): Promise<string> {
  const { folder } = session.facts;
  const timeoutMs = context.inventory.stopTimeoutMs;
  let why = '';
  // An sshd that is started anew, a link that flaps.
  for (let attempt = 0; attempt < RECONNECTIONS; attempt += 1) {
    if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, RECONNECTION_PAUSE_MS));
    try {
      await ask(session, { verb: 'stop', folder, names: [name], timeoutMs });
      return 'LoadGen there has ended';
    } catch (error) {
      why = messageOf(error);
    }
  }
  reportOf(context, session, `no new connection either: ${why}`);
  return `LoadGen there ends by itself, its logs stay there in ${remote}`;
}

/** A run that never began, for a wrong setting, leaves no folder. */
async function fetchResults(
  context: RemoteContext,
  session: HostSession,
  remote: string,
  target: string,
): Promise<Fetched> {
  let files: Awaited<ReturnType<typeof listFolder>>;
  try {
    files = await listFolder(session, remote);
  } catch (error) {
    if (!/no such file or folder/.test(messageOf(error))) throw notFetched(error, session, remote);
    reportOf(context, session, 'LoadGen left no logs');
    return { files: 0, bytes: 0 };
  }
  try {
    const fetched = await fetchFiles(session, remote, files, target);
    const what = `fetched ${fetched.files} files, ${fetched.bytes} bytes, SHA-256 checked`;
    reportOf(context, session, what);
    return fetched;
  } catch (error) {
    throw notFetched(error, session, remote);
  }
}

function notFetched(error: unknown, { label }: HostSession, remote: string): unknown {
  if (!(error instanceof MlperfError)) return error;
  const text = `${error.message}; the results stay on ${label} in ${remote}`;
  return new MlperfError(error.code, text, { cause: error });
}

/** Nodes stay only after a run that came to its end. */
async function endNodes(
  { started }: UpSut,
  { code }: AgentCallEnd,
  { isKeeping }: MeasureOptions,
): Promise<void> {
  const isEnded = code === 0 || code === 3;
  if (isKeeping && isEnded) await started.keep();
  else await started.stop();
}

async function fetchLogs(
  context: RemoteContext,
  { hosts, started }: UpSut,
  target: string,
): Promise<void> {
  for (const { name, host } of context.inventory.nodes) {
    const session = hosts.of(host);
    const path = join(session.facts.folder, 'run', name);
    try {
      const files = (await listFolder(session, path)).filter((file) => file.path === 'log');
      const folder = join(target, 'nodes', name);
      // A node that was running before writes on: what it has written by now is not compared.
      if (started.names.has(name)) await fetchFiles(session, path, files, folder);
    } catch (error) {
      // The result is here: a log less is told, and spoils nothing.
      reportOf(context, session, `the log of ${name} stays in ${path}: ${messageOf(error)}`);
    }
  }
}
