import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentRequest } from '../agent/agent-words.ts';
import { AgentProcess } from './agent-process.ts';
import { loaderCommand } from './agent-source.ts';
import { atExit } from './at-exit.ts';
import type { AgentCall, AgentCallEnd, CallOptions, HostLink } from './host-link.ts';
import { explainSsh } from './ssh-errors.ts';

/** A path of a socket has room for 104 characters on some systems; ssh adds 17 of its own while it makes it. */
const SOCKET_PATH_MAX = 80;

/** What makes ssh fail where it would ask, wait or open what is not ours; all else is the user's configuration. */
const OPTIONS = [
  ...['-T', '-o', 'BatchMode=yes'],
  ...['-o', 'ConnectTimeout=15'],
  ...['-o', 'ServerAliveInterval=5', '-o', 'ServerAliveCountMax=4'],
  ...['-o', 'ControlPersist=no', '-o', 'ClearAllForwardings=yes', '-o', 'ForwardX11=no'],
  ...['-o', 'RemoteCommand=none'],
];
/** As above, since OpenSSH 8.7: an older one ends where it hears of them, and can have them in no configuration either. */
const OPTIONS_SINCE_8_7 = ['-o', 'StdinNull=no', '-o', 'ForkAfterAuthentication=no'];
const VERSION_TIMEOUT_MS = 5_000;

/** Options that this version of ssh takes. @param said What it says for -V. */
export function sshOptions(said: string): readonly string[] {
  const [, major, minor] = /OpenSSH_(?:\D*_)?(\d+)\.(\d+)/.exec(said) ?? [];
  const isNew = Number(major) > 8 || (Number(major) === 8 && Number(minor) >= 7);
  // Not by IgnoreUnknown: ssh takes the first one, and the user's own would be without effect.
  return isNew ? [...OPTIONS, ...OPTIONS_SINCE_8_7] : OPTIONS;
}

let options: readonly string[] | undefined;

/** Asked once. What is wrong with a program ssh is told by the call. */
function optionsHere(): readonly string[] {
  options ??= sshOptions(
    spawnSync('ssh', ['-V'], { encoding: 'utf8', timeout: VERSION_TIMEOUT_MS }).stderr ?? '',
  );
  return options;
}

/**
 * A host behind the system's own ssh: configuration, agent, keys, known hosts and jump hosts are the user's. The first call is
 * the connection, which the others share through a socket in a folder of our own; without it each makes one for itself.
 */
export class SshLink implements HostLink {
  readonly label: string;
  readonly #config: readonly string[];
  readonly #command: string;
  readonly #folder: string;
  readonly #calls = new Set<AgentProcess>();
  #hasBegun = false;
  #isClosed = false;
  readonly #forgetExit: () => void;

  constructor(ssh: string, sshConfig: string | undefined, nodePath: string) {
    this.label = ssh;
    this.#config = sshConfig === undefined ? [] : ['-F', sshConfig];
    this.#command = loaderCommand(nodePath);
    this.#folder = socketFolder();
    // A second Ctrl-C ends this process at once: what it started must not stay.
    this.#forgetExit = atExit(() => {
      for (const call of this.#calls) call.kill();
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  call(request: AgentRequest, options?: CallOptions): AgentCall {
    // Work that nobody waits for any more.
    if (this.#isClosed) throw new Error(`the connection to ${this.label} is closed`);
    const socket = join(this.#folder, 's');
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    const master = isFirst ? 'yes' : 'no';
    const path = isFirst || existsSync(socket) ? socket : 'none';
    const shared = ['-o', `ControlMaster=${master}`, '-o', `ControlPath=${path}`];
    const args = [...this.#config, ...optionsHere(), ...shared, '--', this.label, this.#command];
    const call = new AgentProcess('ssh', args, request, options);
    this.#calls.add(call);
    void call.ended.then(() => this.#calls.delete(call));
    return call;
  }

  explain(end: AgentCallEnd): string {
    return explainSsh(this.label, end);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // The first one last: the others go through it.
    for (const call of [...this.#calls].reverse()) call.kill();
    await Promise.all([...this.#calls].map(({ ended }) => ended));
    rmSync(this.#folder, { recursive: true, force: true });
    this.#forgetExit();
  }
}

function socketFolder(): string {
  const base = tmpdir().length > SOCKET_PATH_MAX - 12 ? '/tmp' : tmpdir();
  return mkdtempSync(join(base, 'lh-'));
}
