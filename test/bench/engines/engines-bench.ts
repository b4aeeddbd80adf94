import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchServer, type NodeOptions, nodeCommand, startNullNode } from '../processes.ts';
import { head, median, row } from '../report.ts';
import { RUN_CODES, timesOfRun } from '../tail/contenders.ts';
import type { QueryTimes } from '../tail/open-load.ts';
import { type CpuWatch, runWatched } from '../tail/watched-process.ts';
import { percentile, samplesOf } from '../wire/measured.ts';

/*
 * Goal: what the bridge to the C++ LoadGen costs where queries follow each other: each is issued
 * when the one before is complete, so that all that an engine does between two queries lowers the
 * rate. Method: `longhaul run` in SingleStream by both engines, in turns against one SUT node
 * without a model on loopback. Medians of rounds, and the ratio of the two in each round. Times are
 * those of longhaul's records, which both engines make.
 */

export interface EnginesBenchOptions extends NodeOptions {
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  /** Folder in which LoadGen is linked; undefined: the user's. */
  readonly cacheFolder: string | undefined;
}

/** Figures of one run. */
interface OneByOne {
  readonly perS: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** CPU time per query of the LoadGen node, from the first second on. */
  readonly cpuUs: number;
}

/**
 * Of the latency that LoadGen plans for: none is as short, so that it never runs out of queries.
 */
const USER_CONF = '*.SingleStream.target_latency = 0.02\n*.SingleStream.min_query_count = 1\n';

/** Left out at the begin. */
const SKIP_S = 1;

/** Prints the tables, as Markdown. */
export async function benchEngines(options: EnginesBenchOptions): Promise<void> {
  const engines = { longhaul: 'longhaul', 'C++ LoadGen': 'cpp' };
  const ratios: (readonly [size: number, perS: readonly number[], cpuUs: readonly number[]])[] = [];
  head(1, 'engine', 'bytes', 'queries/s', 'p50 µs', 'p99 µs', 'LoadGen CPU µs per query');
  for (const size of options.sizes) {
    const turns = await runRounds(options, size, Object.values(engines));
    for (const [i, name] of Object.keys(engines).entries()) {
      const of = (key: keyof OneByOne): string =>
        median((turns[i] as OneByOne[]).map((turn) => turn[key])).toFixed(0);
      row(name, size, of('perS'), of('p50Us'), of('p99Us'), of('cpuUs'));
    }
    const [own = [], cpp = []] = turns;
    const ratio = (key: keyof OneByOne): number[] =>
      cpp.map((turn, round) => turn[key] / (own[round] as OneByOne)[key]);
    ratios.push([size, ratio('perS'), ratio('cpuUs')]);
  }
  process.stdout.write('\n');
  head(1, 'C++ LoadGen / longhaul', 'bytes', 'queries/s', 'CPU per query');
  for (const [size, perS, cpuUs] of ratios) row('ratio', size, withRange(perS), withRange(cpuUs));
}

/**
 * Runs of each engine, in the order of the rounds; every other round begins with the last engine.
 */
async function runRounds(
  options: EnginesBenchOptions,
  size: number,
  engines: readonly string[],
): Promise<OneByOne[][]> {
  const turns: OneByOne[][] = engines.map(() => []);
  const node = await startNullNode({ ...options, isGcTraced: false });
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      const order = [...engines.keys()];
      if (round % 2 === 1) order.reverse();
      for (const i of order)
        turns[i]?.push(await runOne(options, node, size, engines[i] as string));
    }
  } finally {
    await node.stop();
  }
  return turns;
}

async function runOne(
  options: EnginesBenchOptions,
  node: BenchServer,
  size: number,
  engine: string,
): Promise<OneByOne> {
  const { seconds, cacheFolder } = options;
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-engines-'));
  try {
    const userConf = join(folder, 'user.conf');
    const run = join(folder, 'run');
    writeFileSync(userConf, USER_CONF);
    const args = [
      ...['run', '--sut', node.address, '--benchmark', 'null', '--scenario', 'SingleStream'],
      ...['--user-conf', userConf, '--min-duration', `${seconds}s`, '--warm-up', '2s'],
      ...['--sample-bytes', String(size), '--sample-count', String(samplesOf(size))],
      ...['--engine', engine, '--report', 'none', '--output', run],
      ...(cacheFolder === undefined ? [] : ['--cache-dir', cacheFolder]),
    ];
    const program = { name: 'run', module: 'loadgen-node/main.js', args };
    const command = nodeCommand({ ...options, isGcTraced: false }, program);
    const watch = await runWatched(command, { serverPid: node.pid, seconds }, RUN_CODES);
    return figuresOf(await timesOfRun(run), watch);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function figuresOf({ beginMs, scheduledNs, completedNs }: QueryTimes, watch: CpuWatch): OneByOne {
  const first = scheduledNs.findIndex((atNs) => atNs >= SKIP_S * 1e9);
  if (first < 0) throw new Error(`no query was issued after the first ${SKIP_S} s`);
  const taken = completedNs.map((atNs, i) => atNs - (scheduledNs[i] as number)).subarray(first);
  const endNs = completedNs.at(-1) as number;
  const perS = (taken.length * 1e9) / (endNs - (scheduledNs[first] as number));
  const { clientCores } = watch.coresBetween(beginMs + SKIP_S * 1e3, beginMs + endNs / 1e6);
  const sorted = taken.toSorted();
  return {
    perS,
    p50Us: percentile(sorted, 0.5) / 1e3,
    p99Us: percentile(sorted, 0.99) / 1e3,
    cpuUs: (clientCores * 1e6) / perS,
  };
}

/** Median, and lowest to highest. */
function withRange(values: readonly number[]): string {
  const [low, middle, high] = [Math.min(...values), median(values), Math.max(...values)];
  return `${middle?.toFixed(2)} (${low?.toFixed(2)}-${high?.toFixed(2)})`;
}
