import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { AgentEvent, AgentRequest } from '../agent/agent-words.ts';
import { GREETING, openingOf } from './agent-source.ts';
import type { AgentCall, AgentCallEnd, CallOptions } from './host-link.ts';

/** So often an agent hears that this side is there (agent-basics.ts has the other end of it). */
const BEAT_MS = 5_000;
const STDERR_CHARACTERS = 8_000;
/** More than any login shell says before the agent does. */
const NOISE_BYTES_MAX = 1 << 20;
/** More than the list of any result's files takes. */
const LINE_BYTES_MAX = 1 << 22;
/** Login and login shell together have so long; behind it stands somebody who waits for a line. */
const GREETING_TIMEOUT_MS = 60_000;
/** So long a program has to end that was told to. */
const KILL_MS = 5_000;

const NOISE =
  'what comes from it is no answer, and has no end: does a start script of its shell write to stdout?';

/** A program on this machine at whose other end an agent answers: ssh, or a shell. */
export class AgentProcess implements AgentCall {
  readonly ended: Promise<AgentCallEnd>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #options: CallOptions;
  #isGreeted = false;
  #nodeVersion = '';
  #waiting: Buffer = Buffer.alloc(0);
  #stderr = '';
  #problem: string | undefined;
  #killing: NodeJS.Timeout | undefined;
  readonly #greeting: NodeJS.Timeout;

  constructor(
    program: string,
    args: readonly string[],
    request: AgentRequest,
    options: CallOptions = {},
  ) {
    this.#options = options;
    // A session of its own: the Ctrl-C of a terminal is for us, who end it in order.
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    const { stdin, stdout, stderr } = this.#child;
    // The other end may be gone before it has read everything: its exit code says so.
    stdin.on('error', () => {});
    stdout.on('data', (data: Buffer) => this.#take(data));
    stderr.on('data', (data: Buffer) => {
      this.#stderr = (this.#stderr + data.toString()).slice(-STDERR_CHARACTERS);
      if (this.#isGreeted) options.onStderr?.(data);
    });
    const silence = `it was reached, but its shell does not answer within ${GREETING_TIMEOUT_MS / 1000} s: does the login, a start script of the shell, or the home folder hang there?`;
    this.#greeting = setTimeout(() => this.#fail(silence), GREETING_TIMEOUT_MS);
    this.ended = this.#untilEnd();
    stdin.write(openingOf(request));
    if (options.payload !== undefined) options.payload.pipe(stdin);
  }

  say(word: string): void {
    this.#child.stdin.write(`${word}\n`);
  }

  /** Ends the program; the agent notices that its input is at an end. */
  kill(): void {
    this.#child.kill('SIGTERM');
    this.#killing ??= setTimeout(() => {
      this.#child.kill('SIGKILL');
      // What it started may hold them for as long as it likes.
      this.#child.stdout.destroy();
      this.#child.stderr.destroy();
    }, KILL_MS);
  }

  #fail(problem: string): void {
    this.#problem ??= problem;
    this.kill();
  }

  async #untilEnd(): Promise<AgentCallEnd> {
    const isTalk = this.#options.payload === undefined;
    const beat = isTalk ? setInterval(() => this.say('beat'), BEAT_MS) : undefined;
    const code = await new Promise<number | null>((resolve) => {
      this.#child.once('error', (error) => {
        this.#stderr = error.message;
        resolve(null);
      });
      this.#child.once('close', (exitCode) => resolve(exitCode));
    });
    clearInterval(beat);
    clearTimeout(this.#greeting);
    clearTimeout(this.#killing);
    this.#child.stdin.destroy();
    const nodeVersion = this.#nodeVersion;
    const problem = this.#problem;
    return { code, stderr: this.#stderr, isGreeted: this.#isGreeted, nodeVersion, problem };
  }

  #take(data: Buffer): void {
    if (this.#isGreeted) {
      this.#pass(data);
      return;
    }
    this.#waiting = Buffer.concat([this.#waiting, data]);
    const text = this.#waiting.toString('latin1');
    const match = GREETING.exec(text);
    if (match === null) {
      if (text.length > NOISE_BYTES_MAX) this.#fail(NOISE);
      return;
    }
    this.#isGreeted = true;
    clearTimeout(this.#greeting);
    this.#nodeVersion = match[1] ?? '';
    const rest = this.#waiting.subarray(match.index + match[0].length);
    this.#waiting = Buffer.alloc(0);
    if (rest.length > 0) this.#pass(rest);
  }

  #pass(data: Buffer): void {
    const { onOutput, onEvent } = this.#options;
    if (onOutput !== undefined) {
      onOutput(data);
      return;
    }
    this.#waiting = Buffer.concat([this.#waiting, data]);
    for (;;) {
      const end = this.#waiting.indexOf(10);
      if (end < 0) break;
      const line = this.#waiting.subarray(0, end).toString();
      this.#waiting = this.#waiting.subarray(end + 1);
      const event = eventOf(line);
      if (event !== undefined) onEvent?.(event);
    }
    if (this.#waiting.length <= LINE_BYTES_MAX) return;
    this.#waiting = Buffer.alloc(0);
    this.#fail(NOISE);
  }
}

/** Undefined where a line is not the agent's: a program of the login shell goes on beside it. */
function eventOf(line: string): AgentEvent | undefined {
  try {
    const said: unknown = JSON.parse(line);
    const isEvent = typeof (said as { event?: unknown } | null)?.event === 'string';
    return isEvent ? (said as AgentEvent) : undefined;
  } catch {
    return undefined;
  }
}
