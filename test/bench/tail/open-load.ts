import { readFileSync, writeFileSync } from 'node:fs';
import { exponentialNs } from '../../../loadgen-node/loadgen/random/distributions.ts';
import { Mt19937 } from '../../../loadgen-node/loadgen/random/mt19937.ts';
import { DEFAULT_ROUND, mlperfConfOf } from '../../../shared/rules/rounds/rounds.ts';

/** Queries of one size that arrive by a Poisson process, whatever happens to those before them. */
export interface OpenLoad {
  readonly sizeBytes: number;
  readonly queriesPerSecond: number;
}

/** Job of a client process. */
export interface TailJob extends OpenLoad {
  /** `host:port` of the server. */
  readonly address: string;
  /** Samples in the library that queries take in turn. */
  readonly sampleCount: number;
  readonly seconds: number;
  /** Its own, for what it writes and reads. */
  readonly folder: string;
}

/** Files of a job's folder. */
export const LOAD_FILES = {
  /** Due times of all queries, in ns since the begin. */
  due: 'due',
  /** File of {@link writeTimes}. */
  times: 'times',
  /** Output folder of `longhaul run`. */
  run: 'run',
} as const;

/** The times of all queries, in the order of the schedule, in ns since the begin. */
export interface QueryTimes {
  /** Begin of the load, in ms since the epoch. */
  readonly beginMs: number;
  readonly scheduledNs: Float64Array;
  readonly issuedNs: Float64Array;
  readonly completedNs: Float64Array;
}

/** The arrivals that `longhaul run` makes for the same load: all contenders have one schedule. */
export function dueTimesNs(load: OpenLoad, seconds: number): Float64Array {
  const seed = /\.schedule_rng_seed = (\d+)/.exec(mlperfConfOf(DEFAULT_ROUND))?.[1] ?? '0';
  const generator = new Mt19937(BigInt(seed));
  const due: number[] = [0];
  let atNs = 0;
  while (atNs < seconds * 1e9) {
    atNs += exponentialNs(generator, load.queriesPerSecond);
    due.push(atNs);
  }
  return Float64Array.from(due);
}

/** Numbers of 64 bits one behind the other, as C++ reads and writes them on the same machine. */
export function writeNumbers(path: string, numbers: Float64Array): void {
  writeFileSync(path, new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
}

export function readNumbers(path: string): Float64Array {
  const bytes = readFileSync(path);
  return new Float64Array(new Uint8Array(bytes).buffer);
}

/** Writes the begin, and then scheduled, issued and completed of all queries. */
export function writeTimes(path: string, times: QueryTimes): void {
  const { beginMs, scheduledNs, issuedNs, completedNs } = times;
  const count = scheduledNs.length;
  const numbers = new Float64Array(1 + 3 * count);
  numbers[0] = beginMs;
  [scheduledNs, issuedNs, completedNs].forEach((column, i) => {
    numbers.set(column, 1 + i * count);
  });
  writeNumbers(path, numbers);
}

/** Reads what {@link writeTimes} or the C++ client wrote. */
export function readTimes(path: string): QueryTimes {
  const numbers = readNumbers(path);
  const count = (numbers.length - 1) / 3;
  const column = (i: number): Float64Array => numbers.slice(1 + i * count, 1 + (i + 1) * count);
  return {
    beginMs: numbers[0] as number,
    scheduledNs: column(0),
    issuedNs: column(1),
    completedNs: column(2),
  };
}
