import { SCENARIOS, type Scenario } from '../../shared/domain/scenario.ts';
import { type BenchJob, type BenchResult, SIMULATED_RULES } from './engine-job.ts';
import { runInChild } from './run-child.ts';

/*
 * Goal: what the engine itself costs, against a SUT that answers inside the call.
 * Method: every measurement in a process of its own; repetitions are interleaved, so that a noisy
 * moment of the machine hits all cases alike; medians are printed. It reports and does not judge.
 */

/** Sizes of the tables. */
export interface EngineBenchOptions {
  /** Queries of a flat-out run (Offline: samples; MultiStream: a quarter). */
  readonly count: number;
  readonly repeat: number;
  /** Largest size of the table of sizes. */
  readonly largest: number;
  /** Length of an issue-delay run in s. */
  readonly seconds: number;
  /** Tables to print; all if empty. */
  readonly only: readonly string[];
}

type SimulatedJob = Extract<BenchJob, { kind: 'simulated' }>;

/** MultiStream runs fewer queries, each of 8 samples. */
const MULTI_STREAM_SHARE = 4;
const DELAY_QPS = [100, 1000, 10_000, 20_000];

/** Prints the tables, one after the other, as Markdown. */
export async function benchEngine(options: EngineBenchOptions): Promise<void> {
  const tables: Record<string, () => Promise<void>> = {
    rate: () => rateTable(options),
    size: () => sizeTable(options),
    watch: () => watchTable(options),
    delay: () => delayTable(options),
    simulated: () => simulatedTable(options),
  };
  for (const [name, print] of Object.entries(tables)) {
    if (options.only.length === 0 || options.only.includes(name)) await print();
  }
}

async function rateTable({ count, repeat }: EngineBenchOptions): Promise<void> {
  const jobs = SCENARIOS.map((scenario) => flatOut(scenario, count));
  const results = await interleaved(jobs, repeat);
  const small = await interleaved(
    SCENARIOS.map((scenario) => flatOut(scenario, 1000)),
    repeat,
  );
  row('scenario', 'queries', 'samples', 'queries/s', 'samples/s', 'bytes/sample', 'summary s');
  row('---', '---:', '---:', '---:', '---:', '---:', '---:');
  SCENARIOS.forEach((scenario, i) => {
    const runs = results[i] as BenchResult[];
    const { issuedQueries, issuedSamples } = runs[0] as BenchResult;
    const baseBytes = median((small[i] as BenchResult[]).map((run) => run.rssMaxBytes));
    const bytes = median(runs.map((run) => run.rssMaxBytes)) - baseBytes;
    row(
      scenario,
      issuedQueries,
      issuedSamples,
      issuedQueries === 1 ? '' : rate(issuedQueries / median(runs.map((run) => run.issueS))),
      rate(issuedSamples / median(runs.map((run) => run.issueS))),
      (bytes / issuedSamples).toFixed(0),
      seconds(median(runs.map((run) => run.summaryS))),
    );
  });
}

function flatOut(scenario: Scenario, count: number): Extract<BenchJob, { kind: 'flat-out' }> {
  const share = scenario === 'MultiStream' ? MULTI_STREAM_SHARE : 1;
  return { kind: 'flat-out', scenario, count: Math.ceil(count / share) };
}

async function sizeTable({ largest, repeat }: EngineBenchOptions): Promise<void> {
  const sizes = [1e4, 1e5, 1e6, 1e7].filter((size) => size <= largest);
  const jobs = sizes.map((count): BenchJob => ({ kind: 'flat-out', scenario: 'Server', count }));
  const results = await interleaved(jobs, Math.min(repeat, 3));
  row('Server queries', 'issue s', 'ns/query', 'summary s', 'whole test s', 'largest RSS MiB');
  row('---:', '---:', '---:', '---:', '---:', '---:');
  sizes.forEach((size, i) => {
    const runs = results[i] as BenchResult[];
    const issueS = median(runs.map((run) => run.issueS));
    row(
      size,
      seconds(issueS),
      ((issueS / size) * 1e9).toFixed(0),
      seconds(median(runs.map((run) => run.summaryS))),
      seconds(median(runs.map((run) => run.wholeS))),
      (median(runs.map((run) => run.rssMaxBytes)) / 2 ** 20).toFixed(0),
    );
  });
}

/** Cost of live figures; the SUT tells where it served each sample, as a network does. */
async function watchTable({ count, repeat }: EngineBenchOptions): Promise<void> {
  const scenarios = ['Server', 'Offline'] as const;
  const jobs = scenarios.flatMap((scenario) =>
    [false, true].map((isWatched): BenchJob => ({ ...flatOut(scenario, count), isWatched })),
  );
  const results = await interleaved(jobs, repeat);
  row('scenario', 'alone ns/sample', 'watched ns/sample', 'difference ns');
  row('---', '---:', '---:', '---:');
  scenarios.forEach((scenario, i) => {
    const [alone, watched] = [0, 1].map((offset) => {
      const runs = results[2 * i + offset] as BenchResult[];
      return median(runs.map((run) => (run.issueS / run.issuedSamples) * 1e9));
    }) as [number, number];
    row(scenario, alone.toFixed(0), watched.toFixed(0), (watched - alone).toFixed(0));
  });
}

async function delayTable({ seconds: length, repeat }: EngineBenchOptions): Promise<void> {
  const jobs = DELAY_QPS.map((qps): BenchJob => ({ kind: 'delay', qps, seconds: length }));
  const results = await interleaved(jobs, repeat);
  row('QPS', 'p50 µs', 'p99 µs', 'p99.9 µs', 'max µs');
  row('---:', '---:', '---:', '---:', '---:');
  DELAY_QPS.forEach((qps, i) => {
    const runs = results[i] as BenchResult[];
    const delays = [0, 1, 2, 3].map((k) => median(runs.map((run) => run.delayUs[k] as number)));
    row(qps, ...delays.map((us) => us.toFixed(1)));
  });
}

async function simulatedTable({ repeat }: EngineBenchOptions): Promise<void> {
  const jobs = SCENARIOS.flatMap((scenario) =>
    SIMULATED_RULES.map((rule): SimulatedJob => ({ kind: 'simulated', scenario, rule })),
  ).filter(({ scenario, rule }) => scenario !== 'Offline' || rule === 'least');
  const results = await interleaved(jobs, Math.min(repeat, 3));
  row('600 s of virtual time', 'end', 'queries', 'samples', 'real s');
  row('---', '---', '---:', '---:', '---:');
  jobs.forEach(({ scenario }, i) => {
    const runs = results[i] as BenchResult[];
    const { endCause, issuedQueries, issuedSamples } = runs[0] as BenchResult;
    const wholeS = seconds(median(runs.map((run) => run.wholeS)));
    row(scenario, endCause, issuedQueries, issuedSamples, wholeS);
  });
}

async function interleaved(jobs: readonly BenchJob[], repeat: number): Promise<BenchResult[][]> {
  const results: BenchResult[][] = jobs.map(() => []);
  for (let round = 0; round < repeat; round += 1) {
    for (const [i, job] of jobs.entries()) results[i]?.push(await runInChild(job));
  }
  process.stdout.write('\n');
  return results;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

function rate(perSecond: number): string {
  return `${(perSecond / 1e6).toFixed(2)} M`;
}

function seconds(value: number): string {
  return value.toFixed(3);
}

function row(...cells: readonly (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}
