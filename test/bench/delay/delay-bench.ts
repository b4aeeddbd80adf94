import { type BuiltProgram, buildSleepLoop } from '../cpp-programs.ts';
import {
  markCompactCount,
  type NodeOptions,
  runNode,
  runProgram,
  startNullNode,
} from '../processes.ts';
import { head, median, row } from '../report.ts';

/*
 * Goal: how late LoadGen issues its queries while the QDL sends them and reads responses. Method:
 * the whole engine, Server scenario, against a SUT node without a model on loopback; in turns with
 * a C++ loop that sleeps until the due times of such a schedule and does nothing else. Medians of
 * rounds.
 */

export interface DelayBenchOptions extends NodeOptions {
  readonly qps: readonly number[];
  readonly sizeBytes: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** Job of a client process. */
export interface DelayJob {
  readonly address: string;
  readonly qps: number;
  readonly sizeBytes: number;
  readonly seconds: number;
}

/** Issued - scheduled in µs, and the cores that the process kept busy. */
export interface DelayMeasured {
  readonly queries: number;
  readonly cores: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly maxUs: number;
}

/** Prints one table, as Markdown. */
export async function benchDelay(options: DelayBenchOptions): Promise<void> {
  const loop = buildSleepLoop();
  if (typeof loop === 'string') process.stdout.write(`no C++ loop to compare with: ${loop}\n\n`);
  head(1, 'loop', 'QPS', 'p50 µs', 'p99 µs', 'p99.9 µs', 'max µs', 'cores', 'CPU µs/query');
  const collections: number[] = [];
  for (const qps of options.qps) {
    const longhaul: DelayMeasured[] = [];
    const cpp: DelayMeasured[] = [];
    const before = markCompactCount();
    for (let round = 0; round < options.rounds; round += 1) {
      const node = await startNullNode(options);
      try {
        longhaul.push(await runLonghaul(options, node.address, qps));
      } finally {
        await node.stop();
      }
      if (typeof loop !== 'string') cpp.push(await runLoop(loop, options, qps, round));
    }
    collections.push(markCompactCount() - before);
    printRounds('longhaul with traffic', qps, longhaul);
    if (cpp.length > 0) printRounds('C++ sleep_until, no traffic', qps, cpp);
  }
  process.stdout.write(
    `\nMark-Compacts in all rounds of longhaul, per rate: ${collections.join(', ')}\n`,
  );
}

function runLonghaul(
  options: DelayBenchOptions,
  address: string,
  qps: number,
): Promise<DelayMeasured> {
  const { sizeBytes, seconds } = options;
  const job: DelayJob = { address, qps, sizeBytes, seconds };
  const args = [JSON.stringify(job)];
  const program = { name: `delay-client-${qps}`, module: 'test/bench/delay/client.js', args };
  return runNode<DelayMeasured>(options, program, seconds);
}

function runLoop(
  { path }: BuiltProgram,
  { seconds }: DelayBenchOptions,
  qps: number,
  seed: number,
): Promise<DelayMeasured> {
  return runProgram<DelayMeasured>(path, [qps, seconds, seed].map(String), seconds);
}

function printRounds(name: string, qps: number, rounds: readonly DelayMeasured[]): void {
  const of = (value: (run: DelayMeasured) => number): number => median(rounds.map(value));
  const times = (['p50Us', 'p99Us', 'p999Us', 'maxUs'] as const).map((key) =>
    of((run) => run[key]).toFixed(1),
  );
  const cores = of((run) => run.cores);
  row(name, qps, ...times, cores.toFixed(2), ((cores / qps) * 1e6).toFixed(0));
}
