import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { sutBenchmark } from '../../../sut-node/benchmarks/registry.ts';
import { type DigestedModel, digestedModel } from '../../../sut-node/model/model-file.ts';
import { modelFiles } from '../../../sut-node/model/model-source.ts';
import { type BenchServer, type NodeOptions, runNode, startBenchNode } from '../processes.ts';
import { head, median, row } from '../report.ts';
import type { Measured } from '../wire/measured.ts';
import { estimateRatio } from './paired-ratio.ts';
import { openStandinData, type StandinSamples } from './standin-path.ts';

/*
 * Goal: what a SUT node costs beyond ONNX Runtime: a benchmark's stand-in through the whole way of
 * a query (LoadGen's recorder, QDL, wire, queue, worker) against the same model with the same pre-
 * and post-processing in a loop. Method: a SUT node and a bare process, the same threads and batch,
 * both alive, only one at work; they take turns, every other round in reverse. Ratios are made
 * within a round.
 */

export interface SutBenchOptions extends NodeOptions {
  readonly benchmark: string;
  /** A word of the benchmark's own models. */
  readonly model: string;
  /** Compute of the stand-in, as a share of the real model's; undefined: its default. */
  readonly cost: number | undefined;
  /** Empty: all of the benchmark. */
  readonly encodings: readonly string[];
  readonly batches: readonly number[];
  readonly threads: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly cacheFolder: string;
}

/** Model and samples of a case, the same on both sides. */
interface SutCase extends StandinSamples {
  readonly batch: number;
  readonly threads: number;
}

/** Job of the bare process. */
export interface BareJob extends SutCase {
  readonly files: DigestedModel;
}

/** Result of a {@link BareJob}. */
export interface BareMeasured {
  readonly samples: number;
  readonly seconds: number;
  readonly preprocessNs: number;
  readonly computeNs: number;
  readonly postprocessNs: number;
}

/** Job of LoadGen's side. */
export interface NodeJob extends StandinSamples {
  readonly address: string;
  readonly serverPid: number;
  readonly outstanding: number;
  readonly warmUpS: number;
  readonly seconds: number;
}

/** Samples in turn: more than fit into any cache, few enough to be ready soon. */
const SAMPLE_COUNT_MAX = 64;

/** A batch that runs, one behind it at the worker, one that gathers. */
const BATCHES_OUTSTANDING = 3;

const WARM_UP_S = 1;

/** Prints one table, as Markdown. */
export async function benchSut(options: SutBenchOptions): Promise<void> {
  const { cacheFolder, benchmark, model, cost } = options;
  process.stdout.write(`preparing ${benchmark}'s ${model} and its data in ${cacheFolder}\n\n`);
  const { prepareModel, rules } = await sutBenchmark(benchmark);
  const path = await prepareModel({ model, cost, cacheFolder, onProgress: () => {} });
  const files = await digestedModel(modelFiles(path));
  const { totalSampleCount } = await openStandinData(benchmark, cacheFolder);
  const sampleCount = Math.min(SAMPLE_COUNT_MAX, totalSampleCount);
  const columns = ['node/s', 'bare/s', 'ratio', '95 % from', 'to', 'LoadGen CPU %', 'node CPU %'];
  head(1, 'encoding', 'threads', 'batch', 'rounds', ...columns, 'pre %', 'post %');
  const { encodings } = options;
  for (const threads of options.threads) {
    for (const batch of options.batches) {
      for (const encoding of encodings.length === 0 ? Object.keys(rules.encodings) : encodings) {
        const it = { benchmark, encoding, sampleCount, cacheFolder, batch, threads };
        await runCase(options, { ...it, files });
      }
    }
  }
}

async function runCase(options: SutBenchOptions, it: BareJob): Promise<void> {
  const nodes: Measured[] = [];
  const bares: BareMeasured[] = [];
  const server = await startNode(options, it);
  const bare = await startBare(it);
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

function startNode(
  { model, cost, ...options }: SutBenchOptions,
  it: SutCase,
): Promise<BenchServer> {
  const args = ['--benchmark', it.benchmark, '--model', model];
  if (cost !== undefined) args.push('--standin-cost', String(cost));
  args.push('--workers', '1', '--threads-per-worker', String(it.threads));
  args.push('--batch-size-max', String(it.batch), '--cache-dir', options.cacheFolder);
  return startBenchNode(options, args);
}

function runClient(options: SutBenchOptions, server: BenchServer, it: SutCase): Promise<Measured> {
  const job: NodeJob = {
    ...{ ...it, address: server.address, serverPid: server.pid },
    outstanding: BATCHES_OUTSTANDING * it.batch,
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
  /** Of the time inside the model, in the bare loop. */
  const share = (step: 'preprocessNs' | 'postprocessNs'): string =>
    median(bares.map((run) => (100 * run[step]) / run.computeNs)).toFixed(1);
  row(
    ...[encoding, threads, batch, nodes.length],
    ...[median(nodeRates).toFixed(2), median(bareRates).toFixed(2)],
    ...[ratio.median, ratio.low, ratio.high].map((value) => value.toFixed(3)),
    ...[cpu('clientCpuUs'), cpu('serverCpuUs')],
    ...[share('preprocessNs'), share('postprocessNs')],
  );
}
