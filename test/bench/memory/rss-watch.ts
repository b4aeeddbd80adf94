import { readFileSync } from 'node:fs';

/** Resident memory of both processes after so many samples, in bytes. */
export interface RssPoint {
  readonly completed: number;
  readonly clientBytes: number;
  readonly serverBytes: number;
}

const PERIOD_MS = 100;
const PAGE_BYTES = 4096;

/** Looks at the memory of this process and of the server from its making on. Linux. */
export class RssWatch {
  readonly points: RssPoint[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #look: () => void;

  /** @param completed Samples that were completed by now. */
  constructor(serverPid: number, completed: () => number) {
    this.#look = () => {
      this.points.push({
        completed: completed(),
        clientBytes: process.memoryUsage.rss(),
        serverBytes: rssBytesOf(serverPid),
      });
    };
    this.#look();
    this.#timer = setInterval(this.#look, PERIOD_MS);
  }

  stop(): readonly RssPoint[] {
    clearInterval(this.#timer);
    this.#look();
    return this.points;
  }
}

function rssBytesOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
}
