/** What the controller and the agent say to each other. Types only: the agent is sent to hosts where no other file of ours is. */

/** A process that an agent started and wrote down, and what is left of it. */
export interface ProcessState {
  /** Name of the SUT node, or of the run for LoadGen. */
  readonly name: string;
  readonly kind: 'sut' | 'loadgen';
  readonly processId: number;
  /** When the system started it, in the system's own words: a number is used again, the two together are not. */
  readonly startTime: string;
  /** Of package, settings, certificates and environment: equal means nothing to do. */
  readonly digest: string;
  /** True when it ends with the connection of the run that started it. */
  readonly isHeld: boolean;
  /** ISO 8601, by the clock of the host: shown, never compared. */
  readonly since: string;
  readonly address: string;
}

/** A state with what the host says about it now. */
export interface SeenState extends ProcessState {
  readonly isAlive: boolean;
}

/** What an agent tells about its host. */
export interface HostFacts {
  readonly nodeVersion: string;
  /** Path of the Node.js that runs the agent, and runs longhaul. */
  readonly nodePath: string;
  readonly platform: string;
  readonly arch: string;
  readonly hostname: string;
  /** Empty where the system tells none. */
  readonly bootId: string;
  /** Absolute. */
  readonly folder: string;
  /** Why the folder cannot be used; empty: it can. */
  readonly folderProblem: string;
  readonly freeBytes: number;
  readonly hasTar: boolean;
  readonly hasNpm: boolean;
  readonly hasTaskset: boolean;
  /** Keys of what is installed below the folder, each with the path of its main file. */
  readonly installs: Readonly<Record<string, string>>;
  readonly states: readonly SeenState[];
  /** Version of the installation that `command` names; empty where none was asked for or none answers. */
  readonly commandVersion: string;
  readonly user: string;
}

/** Looks at a host; then stays until the controller goes, so that the connection is there for others. */
export interface FactsRequest {
  readonly verb: 'facts';
  readonly folder: string;
  readonly command: string | undefined;
}

/** Takes a file that follows on stdin. */
export interface PutRequest {
  readonly verb: 'put';
  readonly folder: string;
  /** File name below `packages/`. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Installs a file that was put. */
export interface InstallRequest {
  readonly verb: 'install';
  readonly folder: string;
  readonly key: string;
  readonly file: string;
  readonly how: 'npm' | 'copy';
  /** Main file of the package, relative to the installation. */
  readonly main: string;
  readonly timeoutMs: number;
}

/** A SUT node to start. */
export interface NodeStart {
  readonly name: string;
  readonly address: string;
  readonly digest: string;
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** File name → text; written for the owner alone into the node's own folder before it starts. */
  readonly files: Readonly<Record<string, string>>;
}

/** Starts SUT nodes, waits for Ready, and stays: `keep` on stdin leaves them, `stop` or the end of stdin stops them. */
export interface StartRequest {
  readonly verb: 'start';
  readonly folder: string;
  readonly isHeld: boolean;
  readonly nodes: readonly NodeStart[];
  readonly readyTimeoutMs: number;
  readonly stopTimeoutMs: number;
}

/** Stops what was started earlier. */
export interface StopRequest {
  readonly verb: 'stop';
  readonly folder: string;
  readonly names: readonly string[];
  readonly timeoutMs: number;
}

/** Runs one command with its output passed on; `interrupt` on stdin is Ctrl-C, the end of stdin is SIGTERM. */
export interface ExecRequest {
  readonly verb: 'exec';
  readonly folder: string;
  readonly name: string;
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** Longest wait after it was asked to end. */
  readonly stopTimeoutMs: number;
}

/** Lists the files below a folder. */
export interface ListRequest {
  readonly verb: 'list';
  readonly path: string;
}

/** Sends files as a compressed tar archive on stdout. */
export interface FetchRequest {
  readonly verb: 'fetch';
  readonly path: string;
  readonly files: readonly string[];
}

/** Removes what agents made below a folder: names of its subfolders, or of folders in them. */
export interface RemoveRequest {
  readonly verb: 'remove';
  readonly folder: string;
  readonly names: readonly string[];
}

/** Anything that a controller asks of an agent. */
export type AgentRequest =
  | FactsRequest
  | PutRequest
  | InstallRequest
  | StartRequest
  | StopRequest
  | ExecRequest
  | ListRequest
  | FetchRequest
  | RemoveRequest;

/** A file of a result, to be compared with what arrives. */
export interface ListedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Why a node did not start, or ended. */
export interface NodeFailure {
  readonly why: 'different' | 'held' | 'ended' | 'timeout' | 'other';
  readonly message: string;
  /** Code of the node's own error, if it said one. */
  readonly code: string | undefined;
  /** Last lines of its log. */
  readonly log: string;
}

/** A line of an agent on stdout. */
export type AgentEvent =
  | { readonly event: 'facts'; readonly facts: HostFacts }
  | {
      readonly event: 'started' | 'running' | 'ready';
      readonly node: string;
      readonly processId: number;
    }
  | { readonly event: 'progress'; readonly node: string; readonly text: string }
  | ({ readonly event: 'failed'; readonly node: string } & NodeFailure)
  | { readonly event: 'stopped'; readonly node: string; readonly how: StopOutcome }
  | { readonly event: 'installed'; readonly main: string }
  | { readonly event: 'files'; readonly files: readonly ListedFile[] }
  | { readonly event: 'error'; readonly message: string }
  | { readonly event: 'done' };

/** How a process ended that was asked to. */
export type StopOutcome = 'drained' | 'killed' | 'was gone';
