import { writeFileSync } from 'node:fs';
import { buildPeer } from '../cpp-programs.ts';
import { markCompactCount, type NodeOptions } from '../processes.ts';
import { head, median, row } from '../report.ts';
import {
  bareContestant,
  type Contestant,
  cppContestant,
  longhaulContestant,
} from './contestants.ts';
import { type ChannelSettings, type ClientJob, type Measured, samplesOf } from './measured.ts';

/*
 * Goal: the whole path of a query (issueQuery, QDL, wire, SUT node without a model, recorder)
 * against gRPC in C++ on the same machine in the same minute. Method: client and server are two
 * processes on loopback. The contestants take turns, short rounds with new processes, every other
 * round in reverse; ratios are made within a round, and medians of the rounds are shown. It reports
 * and does not judge.
 */

/** The cases of a table, and how each is measured. */
export interface TableOptions {
  readonly sizes: readonly number[];
  readonly outstanding: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpS: number;
  readonly channels: ChannelSettings;
  /** File for all figures. */
  readonly jsonFile: string | undefined;
}

export interface WireBenchOptions extends TableOptions, NodeOptions {
  /** Names of contestants, or the beginnings of names; all if empty. */
  readonly only: readonly string[];
}

/** The contestant that the others are compared with. */
const BASE = 'C++ unary';

/** One round of one contestant. */
interface Turn extends Measured {
  /** Collections of the whole heap in its processes of Node.js, start and end included. */
  readonly markCompacts: number;
}

/** All rounds of one contestant in one case. */
interface CaseResult {
  readonly sizeBytes: number;
  readonly outstanding: number;
  readonly contestant: string;
  readonly rounds: readonly Turn[];
}

/** Prints one table, as Markdown. */
export async function benchWire(options: WireBenchOptions): Promise<void> {
  await benchContestants(chooseContestants(options), options);
}

/**
 * Lets contestants take turns in every case, and prints one table.
 * @param baseName The contestant that the others are compared with.
 */
export async function benchContestants(
  contestants: readonly Contestant[],
  options: TableOptions,
  baseName: string = BASE,
): Promise<void> {
  const results: CaseResult[] = [];
  const columns = ['queries/s', `of ${baseName}`, 'same by CPU', 'client µs', 'server µs'];
  head(1, 'path', 'bytes', 'outstanding', ...columns, 'p50 µs', 'p99 µs', 'Mark-Compacts');
  for (const sizeBytes of options.sizes) {
    for (const outstanding of options.outstanding) {
      const runs = await runCase(contestants, options, { sizeBytes, outstanding });
      const base = contestants.findIndex(({ name }) => name === baseName);
      contestants.forEach(({ name }, i) => {
        const rounds = runs[i] as Turn[];
        results.push({ sizeBytes, outstanding, contestant: name, rounds });
        printCase(results.at(-1) as CaseResult, runs[base]);
      });
    }
  }
  if (options.jsonFile !== undefined) {
    writeFileSync(options.jsonFile, `${JSON.stringify({ options, results }, null, 1)}\n`);
  }
}

function chooseContestants(options: WireBenchOptions): Contestant[] {
  const isWanted = ({ name }: Contestant): boolean =>
    options.only.length === 0 || options.only.some((word) => name.toLowerCase().startsWith(word));
  const node = [longhaulContestant(options), bareContestant(options)].filter(isWanted);
  const peer = { path: '' };
  const cpp = (['unary', 'bidi'] as const)
    .map((mode) => cppContestant(peer, mode))
    .filter(isWanted);
  if (cpp.length === 0) return node;
  const built = buildPeer();
  if (typeof built === 'string') {
    process.stdout.write(`no C++ peer, so no ratios: ${built}\n\n`);
    return node;
  }
  peer.path = built.path;
  return [...node, ...cpp];
}

async function runCase(
  contestants: readonly Contestant[],
  { rounds, warmUpS, seconds, channels }: TableOptions,
  { sizeBytes, outstanding }: Pick<ClientJob, 'sizeBytes' | 'outstanding'>,
): Promise<Turn[][]> {
  const results: Turn[][] = contestants.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...contestants.keys()];
    if (round % 2 === 1) order.reverse();
    for (const i of order) {
      const contestant = contestants[i] as Contestant;
      const before = markCompactCount();
      // Both processes are new in each round: what V8 does to one by chance it does for all of its
      // life.
      const server = await contestant.startServer();
      try {
        const where = { address: server.address, serverPid: server.pid };
        const what = { sizeBytes, sampleCount: samplesOf(sizeBytes), outstanding };
        const run = await contestant.runClient({ ...where, ...what, warmUpS, seconds, channels });
        await server.stop();
        results[i]?.push({ ...run, markCompacts: markCompactCount() - before });
      } finally {
        await server.stop();
      }
    }
  }
  return results;
}

function printCase(
  { sizeBytes, outstanding, contestant, rounds }: CaseResult,
  base?: Measured[],
): void {
  const of = (value: (run: Turn) => number): number => median(rounds.map(value));
  const ratios = (value: (run: Measured) => number): number[] =>
    base?.map((run, i) => value(rounds[i] as Measured) / value(run)) ?? [];
  row(
    contestant,
    sizeBytes,
    outstanding,
    of(rateOf).toFixed(0),
    shown(ratios(rateOf)),
    shown(ratios(rateByCpu)),
    of((run) => run.clientCpuUs / run.queries).toFixed(1),
    of((run) => run.serverCpuUs / run.queries).toFixed(1),
    of((run) => run.p50Us).toFixed(0),
    of((run) => run.p99Us).toFixed(0),
    rounds.map((run) => run.markCompacts).join(' '),
  );
}

function shown(ratios: readonly number[]): string {
  return ratios.length === 0 ? '' : median(ratios).toFixed(2);
}

/** Queries per second of CPU time of the busier process: where cores are free, it sets the rate. */
function rateByCpu({ queries, clientCpuUs, serverCpuUs }: Measured): number {
  return (queries / Math.max(clientCpuUs, serverCpuUs)) * 1e6;
}

function rateOf({ queries, seconds }: Measured): number {
  return queries / seconds;
}
