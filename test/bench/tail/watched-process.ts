import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { cpuUsOf, cpuUsWithChildren } from '../wire/measured.ts';

/** Time between two looks at the CPU time: rare enough to disturb nobody. */
const LOOK_MS = 250;

/** Longest time of a client beyond its load. */
const GRACE_MS = 30_000;

/** Characters of stderr that an error shows. */
const SHOWN_CHARACTERS = 2000;

interface Look {
  readonly atMs: number;
  readonly clientUs: number;
  readonly serverUs: number;
}

/** Cores that each process kept busy on average; NaN where too little was seen. */
export interface BusyCores {
  readonly clientCores: number;
  readonly serverCores: number;
}

/** CPU time of a client and its server while the client ran. */
export class CpuWatch {
  readonly #looks: Look[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(clientPid: number, serverPid: number) {
    this.#timer = setInterval(() => {
      try {
        const [clientUs, serverUs] = [cpuUsWithChildren(clientPid), cpuUsOf(serverPid)];
        this.#looks.push({ atMs: Date.now(), clientUs, serverUs });
      } catch {
        this.stop(); // The client has ended.
      }
    }, LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Between the first look and the last one of a stretch of time, in ms since the epoch. */
  coresBetween(beginMs: number, endMs: number): BusyCores {
    const looks = this.#looks.filter(({ atMs }) => atMs >= beginMs && atMs <= endMs);
    const [first, last] = [looks[0], looks.at(-1)];
    if (first === undefined || last === undefined || first === last) {
      return { clientCores: Number.NaN, serverCores: Number.NaN };
    }
    const us = (last.atMs - first.atMs) * 1e3;
    return {
      clientCores: (last.clientUs - first.clientUs) / us,
      serverCores: (last.serverUs - first.serverUs) / us,
    };
  }
}

/**
 * Runs a client to its end.
 * @param goodCodes Exit codes that are no failure.
 */
export async function runWatched(
  [path, ...args]: readonly string[],
  { serverPid, seconds }: { readonly serverPid: number; readonly seconds: number },
  goodCodes: readonly number[],
): Promise<CpuWatch> {
  const child = spawn(path as string, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  let errorText = '';
  (child.stderr as Readable).on('data', (text: Buffer) => {
    errorText = (errorText + text.toString()).slice(-SHOWN_CHARACTERS);
  });
  const watch = new CpuWatch(child.pid as number, serverPid);
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1e3 + GRACE_MS);
  try {
    const [code, signal] = await ended;
    if (goodCodes.includes(code)) return watch;
    throw new Error(`${path} ${args.join(' ')}: ended with ${code ?? signal}\n${errorText}`);
  } finally {
    clearTimeout(timer);
    watch.stop();
  }
}
