import { SutNamespace, whyNoNamespaces } from '../../outside/network/sut-behind-link.ts';
import {
  type BenchServer,
  type NodeOptions,
  runNode,
  startNodeServer,
  startNullNode,
} from '../processes.ts';
import { head, median, row } from '../report.ts';
import { type ClientJob, type Measured, samplesOf } from '../wire/measured.ts';

/*
 * Goal: longhaul fills a slow, long link as one raw TCP connection does. Method: two network
 * namespaces with a link of a certain rate and delay between them; in turns, queries of longhaul
 * and as many payloads over one raw TCP connection, with the same number outstanding. Goodput is
 * payload bytes of answered queries. Ratios are made within a round.
 */

export interface LinkBenchOptions extends NodeOptions {
  readonly rateMbit: number;
  readonly oneWayMs: readonly number[];
  readonly sizeBytes: number;
  readonly outstanding: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** Slow start over a long link takes this long, and more is not measured. */
const WARM_UP_S = 1.5;

const PATHS = ['longhaul', 'tcp'] as const;

/** Prints one table, as Markdown; says why where it cannot. */
export async function benchLink(options: LinkBenchOptions): Promise<void> {
  const why = whyNoNamespaces();
  if (why !== undefined) {
    process.stdout.write(`skipped: an emulated link ${why}\n`);
    return;
  }
  const columns = ['one way ms', 'link', 'queries/s', 'goodput Mbit/s', 'of TCP', 'p50 ms'];
  head(1, 'path', ...columns);
  for (const oneWayMs of options.oneWayMs) {
    const space = new SutNamespace();
    try {
      space.set({ delayMs: oneWayMs, rateMbit: options.rateMbit });
      await benchDelayOf(oneWayMs, space, options);
      process.stderr.write(`link ${space.clear()}`);
    } finally {
      space.remove();
    }
  }
}

async function benchDelayOf(
  oneWayMs: number,
  space: SutNamespace,
  options: LinkBenchOptions,
): Promise<void> {
  const { sizeBytes, rounds, rateMbit } = options;
  const inside = { ...options, prefix: space.inside };
  const tcp = { name: 'tcp-server', module: 'test/bench/wire/tcp-server.js' };
  const servers: BenchServer[] = [];
  const results: Measured[][] = PATHS.map(() => []);
  try {
    servers.push(await startNullNode(inside, ['--listen', `${space.sutAddress}:0`]));
    const tcpArgs = [space.sutAddress, String(sizeBytes)];
    servers.push(await startNodeServer(inside, { ...tcp, args: tcpArgs }));
    for (let round = 0; round < rounds; round += 1) {
      for (const [i, path] of PATHS.entries()) {
        results[i]?.push(await runClient(options, path, servers[i] as BenchServer));
      }
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
  const [ours, raw] = results as [Measured[], Measured[]];
  PATHS.forEach((path, i) => {
    const runs = results[i] as Measured[];
    const rate = median(runs.map(rateOf));
    const ratio = median(runs.map((run, k) => rateOf(run) / rateOf(raw[k] as Measured)));
    const p50Ms = median(runs.map(({ p50Us }) => p50Us)) / 1e3;
    const link = `${rateMbit} Mbit/s`;
    const mbit = (rate * sizeBytes * 8) / 1e6;
    const shownRatio = runs === ours ? ratio.toFixed(3) : '';
    row(path, oneWayMs, link, rate.toFixed(1), mbit.toFixed(0), shownRatio, p50Ms.toFixed(1));
  });
}

function runClient(
  options: LinkBenchOptions,
  path: (typeof PATHS)[number],
  { address, pid: serverPid }: BenchServer,
): Promise<Measured> {
  const { sizeBytes, outstanding, seconds } = options;
  const where = { address, serverPid, sizeBytes, sampleCount: samplesOf(sizeBytes) };
  const job: ClientJob = {
    ...where,
    outstanding,
    warmUpS: WARM_UP_S,
    seconds,
    channels: { streamsPerNode: 1, connectionsPerNode: 1 },
  };
  const args = [path, JSON.stringify(job)];
  const program = { name: `link-${path}`, module: 'test/bench/wire/client.js', args };
  return runNode<Measured>(options, program, WARM_UP_S + seconds);
}

function rateOf({ queries, seconds }: Measured): number {
  return queries / seconds;
}
