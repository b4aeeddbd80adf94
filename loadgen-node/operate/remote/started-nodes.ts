import { MlperfError, type MlperfErrorCode } from '../../../shared/base/errors/mlperf-error.ts';
import { exitCodeOf } from '../../../shared/base/process/exit-codes.ts';
import { asOneLine } from '../../../shared/base/text/one-line.ts';
import type { AgentEvent, NodeFailure, NodeStart } from './agent/agent-words.ts';
import { allOrErrors, type HostSession, hostError } from './host-session.ts';
import type { AgentCall } from './hosts/host-link.ts';
import { type RemoteContext, reportOf } from './hosts-of-inventory.ts';

/** Longer than the agent itself takes to stop its nodes. */
const STOP_MARGIN_MS = 10_000;
const LOG_LINES = 3;
/** A node that fails ends the start of all: so long others have to say that they fail as well. */
export const OTHERS_MS = 500;

/** The SUT nodes that one verb started: they stay when it says so, and end with its connections otherwise. */
export class StartedNodes {
  readonly #context: RemoteContext;
  readonly #isHeld: boolean;
  readonly #calls: AgentCall[] = [];
  readonly #names = new Set<string>();
  #isEnding = false;

  /** @param isHeld True: the nodes cannot outlive the connection. */
  constructor(context: RemoteContext, isHeld: boolean) {
    this.#context = context;
    this.#isHeld = isHeld;
  }

  /** Nodes that this verb started, not those that were running. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /**
   * Starts the nodes of a host, or leaves those that run as they should, and waits until all are ready.
   * @throws MlperfError with a line per node that does not
   */
  async start(session: HostSession, nodes: readonly NodeStart[]): Promise<void> {
    // A signal came while an older node was being stopped.
    if (this.#isEnding) return;
    const waiting = new Map<string, Waiting>();
    const ready = nodes.map(
      ({ name }) => new Promise<void>((resolve, reject) => waiting.set(name, { resolve, reject })),
    );
    const { readyTimeoutMs, stopTimeoutMs } = this.#context.inventory;
    const call = session.link.call(
      {
        ...{ verb: 'start', folder: session.facts.folder, isHeld: this.#isHeld, nodes },
        ...{ readyTimeoutMs, stopTimeoutMs },
      },
      { onEvent: (event) => this.#take(session, event, waiting) },
    );
    this.#calls.push(call);
    void call.ended.then((end) => {
      const why = session.link.explain(end);
      const error = hostError(session.label, why);
      if (waiting.size === 0 && !this.#isEnding) reportOf(this.#context, session, why);
      for (const { reject } of waiting.values()) reject(error);
    });
    await allOrErrors(ready, OTHERS_MS);
  }

  /** Leaves the nodes running. */
  async keep(): Promise<void> {
    await this.#end('keep');
  }

  /** Drains the nodes that this verb started, kills those that do not end, and waits. */
  async stop(): Promise<void> {
    await this.#end('stop');
  }

  async #end(word: 'keep' | 'stop'): Promise<void> {
    this.#isEnding = true;
    for (const call of this.#calls) call.say(word);
    const ended = Promise.all(this.#calls.map((call) => call.ended));
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise((resolve) => {
      timer = setTimeout(resolve, this.#context.inventory.stopTimeoutMs + STOP_MARGIN_MS);
    });
    await Promise.race([ended, bound]);
    clearTimeout(timer);
  }

  #take(session: HostSession, event: AgentEvent, waiting: Map<string, Waiting>): void {
    const { label } = session;
    const report = (text: string): void => reportOf(this.#context, session, asOneLine(text));
    if (event.event === 'started') {
      this.#names.add(event.node);
      report(`${event.node}: started, process ${event.processId}`);
    }
    if (event.event === 'progress') report(`${event.node}: ${event.text}`);
    if (event.event === 'running' || event.event === 'ready') {
      const what = event.event === 'ready' ? 'ready' : 'runs with these settings already';
      report(`${event.node}: ${what}`);
      waiting.get(event.node)?.resolve();
      waiting.delete(event.node);
    }
    if (event.event === 'stopped') report(`${event.node}: ${event.how}`);
    if (event.event === 'error') {
      const error = hostError(label, event.message);
      for (const { reject } of waiting.values()) reject(error);
    }
    if (event.event === 'failed') {
      const error = nodeError(session, event.node, event);
      const waiter = waiting.get(event.node);
      waiting.delete(event.node);
      if (waiter === undefined) report(error.message.slice(label.length + 2));
      else waiter.reject(error);
    }
  }
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: MlperfError) => void;
}

const CODE_OF_FAILURE: Readonly<Record<NodeFailure['why'], MlperfErrorCode>> = {
  different: 'ERR_SUT_REFUSED',
  held: 'ERR_SUT_REFUSED',
  ended: 'ERR_SUT_NOT_READY',
  timeout: 'ERR_SUT_NOT_READY',
  other: 'ERR_HOST',
};

const HINT_OF_FAILURE: Readonly<Record<NodeFailure['why'], string>> = {
  different: '; "longhaul remote up" starts it anew, "longhaul remote down" stops it',
  held: '; wait for its end, or stop it by "longhaul remote down"',
  ended: '',
  timeout: ' ("readyTimeout" in the inventory)',
  other: '',
};

function nodeError(
  { label, facts }: HostSession,
  node: string,
  { why, message, code, log }: NodeFailure,
): MlperfError {
  const lines = log.split('\n').map((line) => line.trim());
  const last = lines.filter((line) => line !== '').slice(-LOG_LINES);
  const isSaid = last.length === 0 || code !== undefined;
  const cited = isSaid ? '' : `; its log ends with: ${last.join(' | ')}`;
  const where =
    why === 'ended' || why === 'timeout' ? ` (log: ${facts.folder}/run/${node}/log)` : '';
  const text = `${label}: ${node}: ${asOneLine(`${message}${cited}`)}${HINT_OF_FAILURE[why]}${where}`;
  return new MlperfError(isErrorCode(code) ? code : CODE_OF_FAILURE[why], text);
}

/** What a node says may be another version's. */
function isErrorCode(code: string | undefined): code is MlperfErrorCode {
  return code !== undefined && exitCodeOf(code as MlperfErrorCode) !== undefined;
}
