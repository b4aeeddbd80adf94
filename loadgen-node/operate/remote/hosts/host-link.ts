import type { Readable } from 'node:stream';
import type { AgentEvent, AgentRequest } from '../agent/agent-words.ts';

/** How a call of an agent ended. */
export interface AgentCallEnd {
  /** Exit code; null: a signal, or the program could not be started. */
  readonly code: number | null;
  /** Last of what came on stderr. */
  readonly stderr: string;
  /** False when the agent never answered: the connection, or the Node.js of the host. */
  readonly isGreeted: boolean;
  /** Version of the host's Node.js, once greeted. */
  readonly nodeVersion: string;
  /** Why this side ended the call; undefined: it did not, or was told to. */
  readonly problem?: string | undefined;
}

/** What a call takes and gives besides its request. */
export interface CallOptions {
  /** Each line of an agent that answers in events. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Takes stdout as it is, of `exec` and `fetch`. */
  readonly onOutput?: (data: Buffer) => void;
  /** Takes stderr as it comes. */
  readonly onStderr?: (data: Buffer) => void;
  /** A file that goes with the request. */
  readonly payload?: Readable;
}

/** An agent at work on a host. */
export interface AgentCall {
  readonly ended: Promise<AgentCallEnd>;
  /** Says a word to it: `keep`, `stop` or `interrupt`. */
  say(word: 'keep' | 'stop' | 'interrupt'): void;
}

/** The way to a host. An interface, because tests have neither hosts nor ssh. */
export interface HostLink {
  /** How messages call the host. */
  readonly label: string;
  call(request: AgentRequest, options?: CallOptions): AgentCall;
  /** What a call that failed before the agent answered means, in a sentence that says what to do. */
  explain(end: AgentCallEnd): string;
  /** Ends every call that goes on: their agents stop what they hold. */
  close(): Promise<void>;
}

/** Makes the way to a host. @param ssh Destination; undefined: this machine. */
export type OpenLink = (host: {
  readonly ssh: string | undefined;
  readonly sshConfig: string | undefined;
  readonly nodePath: string;
}) => HostLink;
