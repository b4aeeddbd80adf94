import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { openRecords } from '../../../loadgen-node/observe/summary/derive-run.ts';
import type { BuiltProgram } from '../cpp-programs.ts';
import {
  type BenchServer,
  type NodeOptions,
  nodeCommand,
  startNodeServer,
  startNullNode,
  startServer,
} from '../processes.ts';
import { LOAD_FILES, type QueryTimes, readTimes, type TailJob } from './open-load.ts';

/** One way to answer queries: a server, and a client that issues an open load. */
export interface Contender {
  readonly name: string;
  /** Exit codes of the client that are no failure. */
  readonly goodCodes: readonly number[];
  startServer(): Promise<BenchServer>;
  clientCommand(job: TailJob): readonly string[];
  /** Times of the load that the client left. */
  readTimes(job: TailJob): Promise<QueryTimes>;
}

/** Certificate files of a TLS node. */
export interface TlsFiles {
  readonly ca: string;
  readonly node: { readonly cert: string; readonly key: string };
}

/** The name of the contender that the others are compared with. */
export const LONGHAUL = 'longhaul';

/**
 * Exit code of `longhaul run`: VALID, or INVALID, as by a missed latency bound, which is of no
 * interest here.
 */
export const RUN_CODES: readonly number[] = [0, 3];

/**
 * `longhaul run` against `longhaul sut` without a model, as a user starts them; times are those of
 * its records.
 */
export function longhaulContender(options: NodeOptions, tls?: TlsFiles): Contender {
  const nodeTls = tls === undefined ? [] : ['--tls-cert', tls.node.cert, '--tls-key', tls.node.key];
  const runTls = tls === undefined ? [] : ['--tls-ca', tls.ca];
  return {
    name: tls === undefined ? LONGHAUL : `${LONGHAUL}, TLS`,
    goodCodes: RUN_CODES,
    startServer: () => startNullNode(options, nodeTls),
    clientCommand: (job) =>
      nodeCommand(options, {
        name: 'run',
        module: 'loadgen-node/main.js',
        args: [...runArgs(job), ...runTls],
      }),
    readTimes: ({ folder }) => timesOfRun(join(folder, LOAD_FILES.run)),
  };
}

/**
 * The same with the queries issued by the C++ LoadGen that is linked; times are those of the engine
 * that follows it.
 */
export function cppEngineContender(options: NodeOptions): Contender {
  const own = longhaulContender(options);
  return {
    ...own,
    name: `${LONGHAUL}, C++ LoadGen`,
    clientCommand: (job) => [...own.clientCommand(job), '--engine', 'cpp'],
  };
}

/** gRPC in C++, asynchronous on both ends. */
export function cppContender(program: BuiltProgram): Contender {
  return {
    name: 'C++ unary',
    goodCodes: [0],
    startServer: () => startServer(program.path, ['server', '4']),
    clientCommand: ({ address, sizeBytes, sampleCount, folder }) => {
      const port = address.split(':').at(-1) as string;
      const files = [join(folder, LOAD_FILES.due), join(folder, LOAD_FILES.times)];
      return [program.path, 'client', port, String(sizeBytes), String(sampleCount), ...files];
    },
    readTimes: async ({ folder }) => readTimes(join(folder, LOAD_FILES.times)),
  };
}

/** Messages over one TCP connection of Node.js. */
export function tcpContender(options: NodeOptions): Contender {
  const server = { name: 'tcp-server', module: 'test/bench/tail/tcp-server.js', args: [] };
  const client = { name: 'tcp-client', module: 'test/bench/tail/tcp-client.js' };
  return {
    name: 'bare TCP',
    goodCodes: [0],
    startServer: () => startNodeServer(options, server),
    clientCommand: (job) => nodeCommand(options, { ...client, args: [JSON.stringify(job)] }),
    readTimes: async ({ folder }) => readTimes(join(folder, LOAD_FILES.times)),
  };
}

function runArgs({ address, sizeBytes, sampleCount, queriesPerSecond, seconds, folder }: TailJob) {
  return [
    ...['run', '--sut', address, '--benchmark', 'null', '--scenario', 'Server'],
    ...['--target-qps', String(queriesPerSecond), '--min-duration', `${seconds}s`],
    ...['--min-query-count', '1', '--report', 'none'],
    // As before a run of the length that the rules ask for.
    ...['--warm-up', '2s'],
    ...['--sample-bytes', String(sizeBytes), '--sample-count', String(sampleCount)],
    ...['--output', join(folder, LOAD_FILES.run)],
  ];
}

/** Of the records of a run. */
export async function timesOfRun(folder: string): Promise<QueryTimes> {
  const reader = await openRecords(folder);
  if (reader === null) throw new Error(`${folder} has no records`);
  try {
    const { scheduledNs, issuedNs, completedNs } = await reader.readAll();
    return { beginMs: beginOfRun(folder), scheduledNs, issuedNs, completedNs };
  } finally {
    await reader.close();
  }
}

/** Wall time of the first query: `MM-DD-YYYY HH:MM:SS.mmm`, UTC, in the detail log. */
function beginOfRun(folder: string): number {
  const log = readFileSync(join(folder, RUN_FILES.detail), 'utf8');
  const found = /"power_begin", "value": "(\d\d-\d\d)-(\d{4}) ([\d:.]+)"/.exec(log);
  return Date.parse(`${found?.[2]}-${found?.[1]}T${found?.[3]}Z`);
}
