import { readFileSync } from 'node:fs';
import type { DispatchSettings } from '../../../qdl/index.ts';

/** Figures of one client, from the end of its warm-up to its end. */
export interface Measured {
  readonly queries: number;
  readonly seconds: number;
  /** CPU time of the two processes in that time, in µs. */
  readonly clientCpuUs: number;
  readonly serverCpuUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

/** The QDL's settings by these names. */
export type ChannelSettings = Pick<DispatchSettings, 'streamsPerNode' | 'connectionsPerNode'>;

/** Job of a client process of any kind. */
export interface ClientJob {
  /** `host:port` of the server. */
  readonly address: string;
  /** Its process, whose CPU time is read. */
  readonly serverPid: number;
  /** Payload of one query in bytes. */
  readonly sizeBytes: number;
  /** Samples in the library that queries take in turn. */
  readonly sampleCount: number;
  readonly outstanding: number;
  readonly warmUpS: number;
  readonly seconds: number;
  readonly channels: ChannelSettings;
}

/**
 * As many as a sample library of 64 MiB holds: payloads come from memory, not from the cache, on
 * all paths.
 */
export function samplesOf(sizeBytes: number): number {
  return Math.max(1, Math.min(1024, Math.floor((64 * 1024 * 1024) / sizeBytes)));
}

/** Kernel ticks of CPU time in one second: fixed in Linux's user interface. */
const TICKS_PER_SECOND = 100;

/** CPU time of another process in µs, as coarse as the kernel's ticks of 10 ms. Linux. */
export function cpuUsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may hold spaces: state is field 3, utime 14, stime 15.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
}

/**
 * The same with the processes that it started and that run: `longhaul run --engine cpp` has one.
 */
export function cpuUsWithChildren(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const ofChild = (child: string): number => {
    try {
      return cpuUsOf(Number(child));
    } catch {
      return 0; // It has ended.
    }
  };
  const pids = children === '' ? [] : children.split(' ');
  return pids.reduce((sum, child) => sum + ofChild(child), cpuUsOf(pid));
}

/** CPU time of two processes, from its making on. */
export class CpuMeter {
  readonly #serverPid: number;
  readonly #own: NodeJS.CpuUsage;
  readonly #serverUs: number;

  constructor(serverPid: number) {
    this.#serverPid = serverPid;
    this.#own = process.cpuUsage();
    this.#serverUs = cpuUsOf(serverPid);
  }

  read(): { readonly clientCpuUs: number; readonly serverCpuUs: number } {
    const { user, system } = process.cpuUsage(this.#own);
    return { clientCpuUs: user + system, serverCpuUs: cpuUsOf(this.#serverPid) - this.#serverUs };
  }
}

/** The value below which the fraction of the sorted values lies. */
export function percentile(sorted: Float64Array, fraction: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}
