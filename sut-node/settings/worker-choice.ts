import { readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseGoodYaml } from '../../shared/base/files/yaml-text.ts';
import { SYNTHETIC_BENCHMARKS } from '../../shared/rules/benchmark-rules.ts';

/** Most workers, and threads in each. */
export const WORKERS_MAX = 256;
export const THREADS_MAX = 256;

/** Settings that decide how many workers there are. */
export interface WorkerWishes {
  readonly benchmark: string;
  readonly workers: number | 'auto';
  readonly threadsPerWorker: number | undefined;
  readonly interThreads: number;
  readonly providers: readonly string[];
  readonly batchPreset: string;
}

/** Cores and memory for the workers. */
export interface WorkerRoom {
  /** Processors that this process may use. */
  readonly cores: number;
  /** Memory for all workers, and for one of them. */
  readonly memoryBytes: number;
  readonly workerBytes: number;
}

/** Numbers of workers and threads, and why. */
export interface WorkerChoice {
  readonly workers: number;
  readonly threadsPerWorker: number;
  /** The choice and the unused cores; empty where the user set the number. */
  readonly why: string;
}

/** Batching for one query at a time: a second worker would stay idle. */
const ONE_AT_A_TIME: readonly string[] = ['single-stream', 'multi-stream'];

/**
 * Chooses the workers: one for each core, with one thread, but for a core that the node's own work
 * (network, batches, answers) needs. Fewer where memory is short, or where queries come one at a
 * time: these have more threads.
 */
export function chooseWorkers(wishes: WorkerWishes, room: WorkerRoom): WorkerChoice {
  const { workers, threadsPerWorker: saidThreads, providers } = wishes;
  const said = { workers: 1, threadsPerWorker: saidThreads ?? 1, why: '' };
  if (workers !== 'auto') return { ...said, workers };
  // They answer without a model.
  if (SYNTHETIC_BENCHMARKS.includes(wishes.benchmark)) return said;
  if (providers[0] !== 'cpu') return { ...said, why: `${providers[0]} computes` };
  return workersByRoom(wishes, room);
}

function workersByRoom(
  { threadsPerWorker: saidThreads, interThreads, batchPreset }: WorkerWishes,
  { cores, memoryBytes, workerBytes }: WorkerRoom,
): WorkerChoice {
  const free = Math.max(1, cores - 1);
  const byCores = Math.max(1, Math.floor(free / ((saidThreads ?? 1) * interThreads)));
  const byMemory = Math.max(1, Math.floor(memoryBytes / workerBytes));
  const isOneAtATime = ONE_AT_A_TIME.includes(batchPreset);
  const workers = Math.min(byCores, byMemory, isOneAtATime ? 1 : WORKERS_MAX);
  const ownThreads = Math.max(1, Math.floor(free / (workers * interThreads)));
  const threadsPerWorker = saidThreads ?? Math.min(ownThreads, THREADS_MAX);
  const unused = free - workers * threadsPerWorker * interThreads;
  const reasons = [coresInWords(cores)];
  if (unused > 0) reasons.push(`${unused} ${unused === 1 ? 'is' : 'are'} unused`);
  if (isOneAtATime) reasons.push(`--batch-preset ${batchPreset}: one query at a time`);
  else if (byMemory < byCores) {
    const count = byMemory === 1 ? 'one worker' : `${byMemory} workers`;
    reasons.push(`free memory is enough for ${count}`);
  }
  return { workers, threadsPerWorker, why: reasons.join(', ') };
}

function coresInWords(cores: number): string {
  if (cores === 1) return "1 core, which does the node's own work as well";
  return `${cores} cores, one is left to the node's own work`;
}

/**
 * The workers of a node for people:
 * `1 worker of 1 thread (2 cores, one is left to the node's own work; --workers)`.
 */
export function workersInWords({ workers, threadsPerWorker, why }: WorkerChoice): string {
  const one = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
  const text = `${one(workers, 'worker')} of ${one(threadsPerWorker, 'thread')}`;
  return why === '' ? text : `${text} (${why}; --workers)`;
}

const MIB = 1024 ** 2;
/** A model that longhaul makes itself: its file may not be there yet. */
const OWN_MODEL_BYTES = 128 * MIB;
/** A session has the weights twice while it starts, and a worker needs this beside them. */
const WORKER_BYTES = 64 * MIB;
/** Share of the free memory that the workers may have. */
const MEMORY_SHARE = 0.8;

/** The machine as this process may use it. */
export function roomHere({ model }: { readonly model: string | undefined }): WorkerRoom {
  return {
    cores: Math.max(1, Math.min(availableParallelism(), quotaCores())),
    memoryBytes: MEMORY_SHARE * process.availableMemory(),
    workerBytes: WORKER_BYTES + 2 * modelBytes(model),
  };
}

/** Whole cores of a container's quota. */
function quotaCores(): number {
  try {
    const [quota, period] = readFileSync('/sys/fs/cgroup/cpu.max', 'utf8').split(' ').map(Number);
    return Math.floor((quota as number) / (period as number)) || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY; // No control groups of this kind.
  }
}

/** The ONNX file of a model's description, which is checked when it is loaded. */
function describedFile(path: string): string {
  const { document } = parseGoodYaml(path, readFileSync(path, 'utf8'));
  return resolve(dirname(path), String(document.get('model')));
}

/** Bytes of a model with the files of its weights, whose names begin as its own does. */
function modelBytes(model: string | undefined): number {
  if (model === undefined) return OWN_MODEL_BYTES;
  try {
    const file = /\.ya?ml$/i.test(model) ? describedFile(model) : model;
    const folder = dirname(file);
    const own = readdirSync(folder).filter((name) => name.startsWith(basename(file)));
    return own.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) || OWN_MODEL_BYTES;
  } catch {
    return OWN_MODEL_BYTES; // It is read once more, and the error told, when it is loaded.
  }
}
