import type { BuiltProgram } from '../cpp-programs.ts';
import {
  type BenchServer,
  type NodeOptions,
  runNode,
  runProgram,
  startNodeServer,
  startNullNode,
  startServer,
} from '../processes.ts';
import type { ClientJob, Measured } from './measured.ts';

/** One way to answer queries: a server, and a client that keeps queries outstanding. */
export interface Contestant {
  readonly name: string;
  startServer(): Promise<BenchServer>;
  runClient(job: ClientJob): Promise<Measured>;
}

/** longhaul from issueQuery to the recorder; on the other side a SUT node of the benchmark null. */
export function longhaulContestant(options: NodeOptions): Contestant {
  return {
    name: 'longhaul',
    startServer: () => startNullNode(options),
    runClient: (job) => runNodeClient(options, 'longhaul', job),
  };
}

/** grpc-js alone, one bidirectional stream. */
export function bareContestant(options: NodeOptions): Contestant {
  const server = { name: 'bare-server', module: 'test/bench/wire/bare-server.js', args: [] };
  return {
    name: 'bare grpc-js',
    startServer: () => startNodeServer(options, server),
    runClient: (job) => runNodeClient(options, 'bare', job),
  };
}

/** The C++ peer, unary calls or one bidirectional stream. */
export function cppContestant(peer: BuiltProgram, mode: 'unary' | 'bidi'): Contestant {
  return {
    name: `C++ ${mode}`,
    startServer: () => startServer(peer.path, ['server', '4']),
    runClient: ({ address, serverPid, ...job }) => {
      const port = address.split(':').at(-1) as string;
      const { sizeBytes, sampleCount, outstanding, warmUpS, seconds } = job;
      const numbers = [serverPid, sizeBytes, sampleCount, outstanding, warmUpS, seconds];
      const args = [mode, port, ...numbers.map(String)];
      return runProgram<Measured>(peer.path, args, warmUpS + seconds);
    },
  };
}

function runNodeClient(options: NodeOptions, kind: string, job: ClientJob): Promise<Measured> {
  const program = {
    name: `${kind}-client-${job.sizeBytes}`,
    module: 'test/bench/wire/client.js',
    args: [kind, JSON.stringify(job)],
  };
  return runNode<Measured>(options, program, job.warmUpS + job.seconds);
}
