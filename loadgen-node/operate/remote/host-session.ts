import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { asOneLine } from '../../../shared/base/text/one-line.ts';
import type { AgentEvent, AgentRequest, HostFacts } from './agent/agent-words.ts';
import type { AgentCallEnd, CallOptions, HostLink, OpenLink } from './hosts/host-link.ts';
import { AGENT_FAILED, isNodeNew, oldNode } from './hosts/ssh-errors.ts';
import type { HostSpec } from './inventory/inventory.ts';

/** A host that answers: the way to it, and what it is. */
export interface HostSession {
  readonly label: string;
  readonly link: HostLink;
  readonly facts: HostFacts;
}

/** An error of a host, as a line that begins with its name. */
export function hostError(label: string, message: string): MlperfError {
  return new MlperfError('ERR_HOST', `${label}: ${asOneLine(message)}`);
}

/** So long a host has to tell about itself, connection and login included. */
const FACTS_TIMEOUT_MS = 70_000;

/**
 * Connects to a host and asks what it is. The connection stays until the link is closed.
 * @param onLink Called before anything is waited for: who gives up closes it.
 * @throws MlperfError `ERR_HOST` in one line that says what to do
 */
export async function openSession(
  spec: HostSpec,
  openLink: OpenLink,
  onLink: (link: HostLink) => void,
): Promise<HostSession> {
  const link = openLink(spec);
  onLink(link);
  const { label } = link;
  const command = spec.source.kind === 'command' ? spec.source.command : undefined;
  let refuse = (_error: MlperfError): void => {};
  let timer: NodeJS.Timeout | undefined;
  const facts = await new Promise<HostFacts>((resolve, reject) => {
    refuse = reject;
    const call = link.call(
      { verb: 'facts', folder: spec.folder, command },
      { onEvent: (event) => takeFacts(event, resolve, (text) => reject(hostError(label, text))) },
    );
    void call.ended.then((end) => refuse(hostError(label, link.explain(end))));
    timer = setTimeout(() => {
      reject(hostError(label, SILENCE));
      void link.close();
    }, FACTS_TIMEOUT_MS);
  }).finally(() => clearTimeout(timer));
  refuse = () => {};
  if (!isNodeNew(facts.nodeVersion)) throw hostError(label, oldNode(facts.nodeVersion));
  return { label, link, facts };
}

const SILENCE = `its Node.js answers, but tells nothing about the host within ${FACTS_TIMEOUT_MS / 1000} s: does a file system hang there, or "command --version"?`;

function takeFacts(
  event: AgentEvent,
  resolve: (facts: HostFacts) => void,
  reject: (text: string) => void,
): void {
  if (event.event === 'facts') resolve(event.facts);
  if (event.event === 'error') reject(event.message);
}

/**
 * Asks an agent for something and waits for its end.
 * @returns what it told
 * @throws MlperfError `ERR_HOST`
 */
export async function ask(
  { link, label }: Pick<HostSession, 'link' | 'label'>,
  request: AgentRequest,
  options: CallOptions = {},
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  const onEvent = (event: AgentEvent): void => {
    events.push(event);
    options.onEvent?.(event);
  };
  const end = await link.call(request, { ...options, onEvent }).ended;
  const error = events.find((event) => event.event === 'error');
  if (error !== undefined) throw hostError(label, error.message);
  if (!events.some(({ event }) => event === 'done')) throw hostError(label, link.explain(end));
  return events;
}

/**
 * Runs a command on a host to its end and returns what it said on stdout.
 * @throws MlperfError `ERR_HOST` when the connection breaks off, or the command cannot be started
 */
export async function execute(
  { link, label }: Pick<HostSession, 'link' | 'label'>,
  request: AgentRequest & { readonly verb: 'exec' },
): Promise<AgentCallEnd & { readonly stdout: string }> {
  const parts: Buffer[] = [];
  const end = await link.call(request, { onOutput: (data) => parts.push(data) }).ended;
  if (isConnectionLost(end)) throw hostError(label, link.explain(end));
  return { ...end, stdout: Buffer.concat(parts).toString() };
}

/** ssh's own exit code for its own trouble. */
const SSH_FAILED = 255;

/** True when what runs on the host did not end by itself, or never began: the exit code is not its own. */
export function isConnectionLost({ code, isGreeted }: AgentCallEnd): boolean {
  return !isGreeted || code === null || code === SSH_FAILED || code === AGENT_FAILED;
}

/**
 * All of several, or one error with a line for each that failed.
 * @param graceMs So long others may go on after the first that fails; without it all are waited for.
 * @throws MlperfError with the code of the first one
 */
export async function allOrErrors<T>(work: readonly Promise<T>[], graceMs?: number): Promise<T[]> {
  const failed: unknown[] = [];
  const settled = work.map((one) =>
    one.then(
      (value) => [value],
      (error: unknown) => {
        failed.push(error);
        return [];
      },
    ),
  );
  const all = Promise.all(settled);
  if (graceMs !== undefined) {
    // Settled by the first error, or when there is none.
    await Promise.all(work).catch(() => {});
    if (failed.length > 0) await Promise.race([all, pause(graceMs)]);
  } else await all;
  const defect = failed.find((error) => !(error instanceof MlperfError));
  if (defect !== undefined) throw defect;
  const [first, ...others] = failed as MlperfError[];
  if (first === undefined) return (await all).flat() as T[];
  if (others.length === 0) throw first;
  const lines = [...new Set([first, ...others].map(({ message }) => message))];
  throw new MlperfError(first.code, lines.join('\n'), { cause: first });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
