import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { sutBenchmark } from '../../../sut-node/benchmarks/registry.ts';
import { type BenchServer, type NodeOptions, runNode, startBenchNode } from '../processes.ts';
import { head, median, row } from '../report.ts';
import type { Measured } from '../wire/measured.ts';
import { estimateRatio } from './paired-ratio.ts';
import { openStandinData } from './standin-path.ts';

/*
 * Goal: what a SUT node costs beyond ONNX Runtime: the stand-in ResNet-50 through the whole way of a query
 * (LoadGen's recorder, QDL, wire, queue, worker) against the same model in a loop.
 * Method: a SUT node and a bare process, the same threads and batch, both alive, only one at work; they take
 * turns, every other round in reverse. Ratios are made within a round.
 */

export interface SutBenchOptions extends NodeOptions {
  /** `standin` or `standin-int8`. */
  readonly model: string;
  readonly encodings: readonly string[];
  readonly batches: readonly number[];
  readonly threads: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly cacheFolder: string;
}

/** Model and encoding of a case, the same on both sides. */
interface SutCase {
  readonly encoding: string;
  readonly batch: number;
  readonly threads: number;
}

/** Job of the bare process. */
export interface BareJob extends SutCase {
  readonly modelFile: string;
  readonly cacheFolder: string;
  readonly sampleCount: number;
}

/** Result of a {@link BareJob}. */
export interface BareMeasured {
  readonly samples: number;
  readonly seconds: number;
}

/** Job of LoadGen's side. */
export interface NodeJob {
  readonly address: string;
  readonly serverPid: number;
  readonly encoding: string;
  readonly cacheFolder: string;
  readonly sampleCount: number;
  readonly outstanding: number;
  readonly warmUpS: number;
  readonly seconds: number;
}

/** Images in turn: more than fit into any cache, few enough to be ready soon. */
const SAMPLE_COUNT = 64;

/** A batch that runs, one behind it at the worker, one that gathers. */
const BATCHES_OUTSTANDING = 3;

const WARM_UP_S = 1;

/** Prints one table, as Markdown. */
export async function benchSut(options: SutBenchOptions): Promise<void> {
  const { cacheFolder, model } = options;
  const prepared = { cacheFolder, onProgress: () => {} };
  process.stdout.write(`preparing ${model} and its images in ${cacheFolder}\n\n`);
  const modelFile = await (await sutBenchmark('resnet50')).prepareModel({ ...prepared, model });
  await openStandinData(cacheFolder);
  const columns = ['node/s', 'bare/s', 'ratio', '95 % from', 'to', 'LoadGen CPU %', 'node CPU %'];
  head(1, 'encoding', 'threads', 'batch', 'rounds', ...columns);
  for (const threads of options.threads) {
    for (const batch of options.batches) {
      for (const encoding of options.encodings) {
        await runCase(options, modelFile, { encoding, batch, threads });
      }
    }
  }
}

async function runCase(options: SutBenchOptions, modelFile: string, it: SutCase): Promise<void> {
  const nodes: Measured[] = [];
  const bares: BareMeasured[] = [];
  const server = await startNode(options, it);
  const bare = await startBare({
    ...{ ...it, modelFile, sampleCount: SAMPLE_COUNT },
    cacheFolder: options.cacheFolder,
  });
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      const turns = [
        async () => nodes.push(await runClient(options, server, it)),
        async () => bares.push(await bare.measure(options.seconds)),
      ];
      if (round % 2 === 1) turns.reverse();
      for (const turn of turns) await turn();
    }
  } finally {
    bare.stop();
    await server.stop();
  }
  printCase(it, nodes, bares);
}

function startNode({ model, ...options }: SutBenchOptions, it: SutCase): Promise<BenchServer> {
  const args = ['--benchmark', 'resnet50', '--model', model];
  args.push('--workers', '1', '--threads-per-worker', String(it.threads));
  args.push('--batch-size-max', String(it.batch), '--cache-dir', options.cacheFolder);
  return startBenchNode(options, args);
}

function runClient(
  options: SutBenchOptions,
  server: BenchServer,
  { encoding, batch }: SutCase,
): Promise<Measured> {
  const job: NodeJob = {
    ...{ address: server.address, serverPid: server.pid, encoding },
    cacheFolder: options.cacheFolder,
    sampleCount: SAMPLE_COUNT,
    outstanding: BATCHES_OUTSTANDING * batch,
    warmUpS: WARM_UP_S,
    seconds: options.seconds,
  };
  const program = { name: 'sut-client', module: 'test/bench/sut/client.js' };
  const seconds = WARM_UP_S + options.seconds;
  return runNode(options, { ...program, args: [JSON.stringify(job)] }, seconds);
}

/** The process that runs the model in a loop. */
interface BareProcess {
  measure(seconds: number): Promise<BareMeasured>;
  stop(): void;
}

async function startBare(job: BareJob): Promise<BareProcess> {
  const file = fileURLToPath(compiledModule('test/bench/sut/bare-runtime.js'));
  const child = fork(file, [JSON.stringify(job)]);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the bare process ended with ${code}`);
  });
  // A rejection that nobody waits for just now is no failure of its own.
  ended.catch(() => {});
  const answer = async (): Promise<unknown> =>
    ((await Promise.race([once(child, 'message'), ended])) as [unknown])[0];
  await answer();
  return {
    measure: (seconds) => {
      child.send({ seconds });
      return answer() as Promise<BareMeasured>;
    },
    stop: () => child.disconnect(),
  };
}

function printCase(
  { encoding, threads, batch }: SutCase,
  nodes: readonly Measured[],
  bares: readonly BareMeasured[],
): void {
  const nodeRates = nodes.map(({ queries, seconds }) => queries / seconds);
  const bareRates = bares.map(({ samples, seconds }) => samples / seconds);
  const ratio = estimateRatio(nodeRates.map((rate, i) => rate / (bareRates[i] as number)));
  const cpu = (side: 'clientCpuUs' | 'serverCpuUs'): string =>
    median(nodes.map((run) => run[side] / run.seconds / 1e4)).toFixed(1);
  row(
    ...[encoding, threads, batch, nodes.length],
    ...[median(nodeRates).toFixed(2), median(bareRates).toFixed(2)],
    ...[ratio.median, ratio.low, ratio.high].map((value) => value.toFixed(3)),
    ...[cpu('clientCpuUs'), cpu('serverCpuUs')],
  );
}
