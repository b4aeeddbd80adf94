import { RAW_IMAGE_BYTES } from '../../../shared/benchmarks/digits/digit-sets.ts';
import { buildPeer } from '../cpp-programs.ts';
import { type NodeOptions, runNode, startBenchNode, startServer } from '../processes.ts';
import { type Contestant, cppContestant } from '../wire/contestants.ts';
import type { ClientJob, Measured } from '../wire/measured.ts';
import { benchContestants, type TableOptions } from '../wire/wire-bench.ts';
import type { CallerKind } from './callers.ts';
import type { PathBenchmark } from './path-stores.ts';

/*
 * Goals: what a unary call costs on this side of the wire, by our own HTTP/2 client, by the clients
 * of Node and by C++ gRPC; and what the Open Inference Protocol costs on the whole path, beside
 * longhaul's own. Method: for the first, all call one and the same method of one C++ server, bytes
 * there and four bytes back, with nothing around the call; for the others, the paths of the `wire`
 * benchmark to one and the same SUT node, without a model and with one. Rounds, turns and ratios:
 * wire-bench.ts.
 */

export interface OipBenchOptions extends TableOptions, NodeOptions {
  /**
   * Of `calls`, `paths` (a node without a model) and `model` (the embedded example, which sets its
   * own size).
   */
  readonly parts: readonly string[];
  /** Beginnings of names of contestants in the table of calls; all if empty. */
  readonly only: readonly string[];
}

/** Ways to call from Node: connections, and threads with so many each. */
const WAYS: readonly (readonly [name: string, CallerKind, connections: number, threads: number])[] =
  [
    ['longhaul', 'longhaul', 1, 1],
    ['longhaul, 4 connections', 'longhaul', 4, 1],
    ['node:http2', 'http2', 1, 1],
    ['grpc-js', 'grpc-js', 1, 1],
    ['grpc-js, 4 channels', 'grpc-js', 4, 1],
    ['grpc-js, 2 threads', 'grpc-js', 1, 2],
  ];

/** Paths of a query, by the argument of path-client.ts. */
const PATHS = { native: 'longhaul protocol', unary: 'OIP calls', stream: 'OIP stream' } as const;

/** Prints a table of calls and two of paths, as Markdown. */
export async function benchOip(options: OipBenchOptions): Promise<void> {
  if (options.parts.includes('calls')) await benchCalls(options);
  if (options.parts.includes('paths')) await benchPaths('null', options);
  if (options.parts.includes('model')) {
    await benchPaths('digits', { ...options, sizes: [RAW_IMAGE_BYTES] });
  }
}

async function benchPaths(benchmark: PathBenchmark, options: OipBenchOptions): Promise<void> {
  const contestants = Object.entries(PATHS).map(([protocol, name]) => ({
    name,
    startServer: () => startBenchNode(options, ['--benchmark', benchmark]),
    runClient: (job: ClientJob) => {
      const program = {
        name: `${benchmark}-${protocol}-path-client-${job.sizeBytes}`,
        module: 'test/bench/oip/path-client.js',
        args: [benchmark, protocol, JSON.stringify(job)],
      };
      return runNode<Measured>(options, program, job.warmUpS + job.seconds);
    },
  }));
  await benchContestants(contestants, options, PATHS.native);
}

async function benchCalls(options: OipBenchOptions): Promise<void> {
  const peer = buildPeer();
  if (typeof peer === 'string') {
    process.stdout.write(`no C++ peer, so no server to call: ${peer}\n`);
    return;
  }
  const all: Contestant[] = [
    cppContestant(peer, 'unary'),
    ...WAYS.map(([name, kind, connections, threads]) => ({
      name,
      startServer: () => startServer(peer.path, ['server', '4']),
      runClient: (job: ClientJob) => callFromNode(options, kind, [connections, threads], job),
    })),
  ];
  const isWanted = ({ name }: Contestant): boolean =>
    options.only.length === 0 || options.only.some((word) => name.toLowerCase().startsWith(word));
  await benchContestants(all.filter(isWanted), options);
}

function callFromNode(
  options: NodeOptions,
  kind: CallerKind,
  counts: readonly [connections: number, threads: number],
  job: ClientJob,
): Promise<Measured> {
  const program = {
    name: `${kind}-${counts.join('-')}-client-${job.sizeBytes}`,
    module: 'test/bench/oip/client.js',
    args: [kind, ...counts.map(String), JSON.stringify(job)],
  };
  return runNode<Measured>(options, program, job.warmUpS + job.seconds);
}
