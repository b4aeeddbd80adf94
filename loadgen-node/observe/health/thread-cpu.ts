import { closeSync, openSync, readSync } from 'node:fs';

/** CPU time of a thread, and time in which it waited for a core, in ns since it began. */
export interface ThreadCpuTimes {
  readonly cpuNs: number;
  /** Null where the system does not tell. */
  readonly waitNs: number | null;
}

/** Looks at the calling thread's use of the CPU, 2 µs a look. */
export class ThreadCpu {
  readonly #file: number | null;
  readonly #text = Buffer.alloc(96);

  /** Opens the kernel's scheduler statistics of this thread; without them it is the process that is measured. */
  constructor() {
    this.#file = openOrNull('/proc/thread-self/schedstat');
  }

  read(): ThreadCpuTimes {
    if (this.#file !== null) {
      const length = readSync(this.#file, this.#text, 0, this.#text.length, 0);
      const [cpu, wait] = this.#text.toString('latin1', 0, length).split(' ').map(Number);
      // Kernels without the statistics show zeros: a thread that reads a file has run.
      if (cpu !== undefined && wait !== undefined && cpu > 0) return { cpuNs: cpu, waitNs: wait };
    }
    const { user, system } = process.cpuUsage();
    return { cpuNs: (user + system) * 1_000, waitNs: null };
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
  }
}

/** Not every system has the file; there the process's CPU time stands in. */
function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
