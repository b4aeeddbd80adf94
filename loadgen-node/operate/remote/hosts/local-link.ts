import type { AgentRequest } from '../agent/agent-words.ts';
import { AgentProcess } from './agent-process.ts';
import { loaderCommand } from './agent-source.ts';
import { atExit } from './at-exit.ts';
import type { AgentCall, AgentCallEnd, CallOptions, HostLink } from './host-link.ts';
import { explainSsh } from './ssh-errors.ts';

/** This machine as a host of an inventory: the same agent behind a shell instead of ssh. */
export class LocalLink implements HostLink {
  readonly label = 'this machine';
  readonly #command: string;
  readonly #calls = new Set<AgentProcess>();
  #isClosed = false;
  readonly #forgetExit: () => void;

  constructor(nodePath: string) {
    this.#command = loaderCommand(nodePath);
    this.#forgetExit = atExit(() => {
      for (const call of this.#calls) call.kill();
    });
  }

  call(request: AgentRequest, options?: CallOptions): AgentCall {
    // Work that nobody waits for any more.
    if (this.#isClosed) throw new Error(`the connection to ${this.label} is closed`);
    const call = new AgentProcess('sh', ['-c', this.#command], request, options);
    this.#calls.add(call);
    void call.ended.then(() => this.#calls.delete(call));
    return call;
  }

  explain(end: AgentCallEnd): string {
    return explainSsh(this.label, end);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#calls) call.kill();
    await Promise.all([...this.#calls].map(({ ended }) => ended));
    this.#forgetExit();
  }
}
