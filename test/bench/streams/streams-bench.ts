import {
  type BenchServer,
  type NodeOptions,
  runNode,
  startBenchNode,
  startNodeServer,
} from '../processes.ts';
import { head, median, row } from '../report.ts';

/*
 * Goal: whether the times of many streams of tokens are true, and what the tokens cost, in CPU time
 * and memory of either end. Method: the whole engine, Server scenario, against the benchmark delay,
 * so many samples outstanding on average, with tokens told as they come and without, in turns.
 * `own`: the node as it is, whose clock sleeps for 0.2 ms at most. `tick`: with one that tells what
 * is due in a tick together, as a step of a model does. Medians of rounds.
 */

export interface StreamsBenchOptions extends NodeOptions {
  /** Samples outstanding, on average. */
  readonly streams: readonly number[];
  /** Clock of the node: 0 for its own, else ms of a tick. */
  readonly ticksMs: readonly number[];
  /** Tokens of a sample. */
  readonly tokens: number;
  readonly firstTokenMs: number;
  readonly tokenMs: number;
  readonly rounds: number;
  readonly seconds: number;
}

interface TokenTimes {
  readonly count: number;
  readonly firstTokenNs: number;
  readonly tokenNs: number;
}

/** Job of a node with a clock that ticks. */
export interface StreamsNodeJob extends TokenTimes {
  readonly tickMs: number;
}

/** Job of a client process. */
export interface StreamsJob extends TokenTimes {
  readonly address: string;
  readonly serverPid: number;
  readonly streams: number;
  readonly isStreamed: boolean;
  /** Measured time, behind the ramp. */
  readonly seconds: number;
}

/** Errors against what the node was told, in µs; CPU time per token of either end in µs. */
export interface StreamsMeasured {
  readonly samples: number;
  readonly ttftP50Us: number;
  readonly ttftP99Us: number;
  readonly tpotP99Us: number;
  /** Null where tokens are not told as they come. */
  readonly itlP99Us: number | null;
  readonly tokensPerS: number;
  readonly clientUs: number;
  readonly serverUs: number;
  /** Largest resident memory. */
  readonly clientBytes: number;
  readonly serverBytes: number;
}

const MIB = 1024 ** 2;

/** Prints one table, as Markdown. */
export async function benchStreams(options: StreamsBenchOptions): Promise<void> {
  const errors = ['TTFT p50 error µs', 'TTFT p99 error µs', 'TPOT p99 error µs', 'ITL p99 ms'];
  const costs = ['LoadGen µs/token', 'node µs/token', 'LoadGen MiB', 'node MiB'];
  head(2, 'node', 'told', 'streams', 'tokens/s', ...errors, ...costs);
  for (const tickMs of options.ticksMs) {
    for (const streams of options.streams) {
      const told: StreamsMeasured[] = [];
      const untold: StreamsMeasured[] = [];
      for (let round = 0; round < options.rounds; round += 1) {
        told.push(await measure(options, tickMs, streams, true));
        untold.push(await measure(options, tickMs, streams, false));
      }
      const name = tickMs === 0 ? 'own' : `tick ${tickMs} ms`;
      print(name, 'each token', streams, told);
      print(name, 'first tokens', streams, untold);
    }
  }
}

async function measure(
  options: StreamsBenchOptions,
  tickMs: number,
  streams: number,
  isStreamed: boolean,
): Promise<StreamsMeasured> {
  const { tokens: count, seconds } = options;
  const [firstTokenNs, tokenNs] = [options.firstTokenMs * 1e6, options.tokenMs * 1e6];
  const times = { count, firstTokenNs, tokenNs };
  const node = await startNode(options, tickMs, times);
  try {
    const place = { address: node.address, serverPid: node.pid };
    const job: StreamsJob = { ...times, ...place, streams, isStreamed, seconds };
    const args = [JSON.stringify(job)];
    const program = { name: `streams-${streams}`, module: 'test/bench/streams/client.js', args };
    const serviceS = (firstTokenNs + (count - 1) * tokenNs) / 1e9;
    return await runNode<StreamsMeasured>(options, program, seconds + 2 * serviceS + 10);
  } finally {
    await node.stop();
  }
}

function startNode(
  options: StreamsBenchOptions,
  tickMs: number,
  { count, firstTokenNs, tokenNs }: TokenTimes,
): Promise<BenchServer> {
  if (tickMs > 0) {
    const job: StreamsNodeJob = { tickMs, count, firstTokenNs, tokenNs };
    const args = [JSON.stringify(job)];
    return startNodeServer(options, { name: 'sut', module: 'test/bench/streams/node.js', args });
  }
  return startBenchNode(options, [
    ...['--benchmark', 'delay', '--delay-tokens', String(count), '--delay-token-type', 'int32'],
    ...['--delay-first-token', `${firstTokenNs / 1e6}ms`, '--delay-token', `${tokenNs / 1e6}ms`],
    ...['--queue-samples-max', '65536'],
  ]);
}

function print(
  name: string,
  told: string,
  streams: number,
  rounds: readonly StreamsMeasured[],
): void {
  const of = (value: (round: StreamsMeasured) => number): number => median(rounds.map(value));
  const itlUs = of(({ itlP99Us }) => itlP99Us ?? Number.NaN);
  row(
    ...[name, told, streams],
    of(({ tokensPerS }) => tokensPerS).toFixed(0),
    of(({ ttftP50Us }) => ttftP50Us).toFixed(0),
    of(({ ttftP99Us }) => ttftP99Us).toFixed(0),
    of(({ tpotP99Us }) => tpotP99Us).toFixed(0),
    Number.isNaN(itlUs) ? '-' : (itlUs / 1e3).toFixed(2),
    of(({ clientUs }) => clientUs).toFixed(2),
    of(({ serverUs }) => serverUs).toFixed(2),
    of(({ clientBytes }) => clientBytes / MIB).toFixed(0),
    of(({ serverBytes }) => serverBytes / MIB).toFixed(0),
  );
}
