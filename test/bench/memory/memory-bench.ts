import { defaultCacheFolder } from '../../../shared/base/files/read-file.ts';
import { IMAGENET_ELEMENTS } from '../../../shared/rules/cards/imagenet.ts';
import { type BenchServer, type NodeOptions, runNode, startBenchNode } from '../processes.ts';
import { head, row } from '../report.ts';
import type { RssPoint } from './rss-watch.ts';

/*
 * Goal: the memory of both ends is bounded, however many queries there are and however large.
 * Method: LoadGen and a SUT node, mostly without a model, two processes on loopback; their resident
 * memory is looked at all the time and shown at the tenths of the run. LoadGen's recorder takes its
 * memory at the start and touches it query by query: that growth is known and shown beside.
 */

/** Job of a client process. */
export interface MemoryJob {
  readonly address: string;
  readonly serverPid: number;
  readonly scenario: 'closed loop' | 'Offline';
  /** The stand-in for ResNet-50, in int8; or no model. */
  readonly model: 'null' | 'standin-int8';
  readonly sampleBytes: number;
  readonly sampleCount: number;
}

export interface MemoryBenchOptions extends NodeOptions {
  /** Queries of the long runs. */
  readonly count: number;
  /** Names of cases; all if empty. */
  readonly only: readonly string[];
}

/** One row of the table. */
interface MemoryCase extends Pick<MemoryJob, 'scenario' | 'model' | 'sampleBytes' | 'sampleCount'> {
  readonly name: string;
  readonly sutArgs: readonly string[];
}

/**
 * Bytes of LoadGen's plan and recorder per query of one sample: indices, state, latency, issue,
 * hand-over.
 */
const RECORDER_BYTES = 4 + 1 + 8 + 8 + 8;

const MIB = 2 ** 20;

/** Longest run, in s. */
const SECONDS_MAX = 1_500;

/** Queries with a model, which take as long as a million without. */
const MODEL_QUERIES = 20_000;

function casesOf(count: number): MemoryCase[] {
  const none = { model: 'null', sutArgs: [] } as const;
  const loop = { ...none, scenario: 'closed loop', sampleCount: count } as const;
  const offline = { ...none, scenario: 'Offline' } as const;
  // A sample may take a 32nd of the node's queue.
  const large = ['--queue-bytes-max', String(5e9), '--response-bytes', String(33e6)];
  return [
    { name: 'small', sampleBytes: 16, ...loop },
    { name: 'medium', sampleBytes: 4096, ...loop },
    { name: 'offline', sampleBytes: 602_112, sampleCount: 24_576, ...offline },
    { name: 'large', sampleBytes: 132e6, sampleCount: 24, ...offline, sutArgs: large },
    {
      name: 'standin',
      ...loop,
      model: 'standin-int8',
      sampleBytes: IMAGENET_ELEMENTS,
      sampleCount: MODEL_QUERIES,
    },
  ];
}

/** Prints one table, as Markdown. */
export async function benchMemory(options: MemoryBenchOptions): Promise<void> {
  const tenths = ['begin', '10 %', '50 %', '90 %', 'end', 'largest'];
  head(4, 'case', 'queries', 'process', 'recorder MiB', ...tenths.map((text) => `${text} MiB`));
  for (const it of casesOf(options.count)) {
    if (options.only.length > 0 && !options.only.includes(it.name)) continue;
    try {
      printPoints(it, await runCase(options, it));
    } catch (error) {
      row(it.name, describe(it), `failed: ${firstLine(error)}`);
    }
  }
}

async function runCase(
  options: MemoryBenchOptions,
  { scenario, model, sampleBytes, sampleCount, sutArgs }: MemoryCase,
): Promise<readonly RssPoint[]> {
  const { address, pid: serverPid, stop } = await startNode(options, model, sutArgs);
  try {
    const job: MemoryJob = { address, serverPid, scenario, model, sampleBytes, sampleCount };
    const args = [JSON.stringify(job)];
    const program = { name: 'memory-client', module: 'test/bench/memory/client.js', args };
    return await runNode<readonly RssPoint[]>(options, program, SECONDS_MAX);
  } finally {
    await stop();
  }
}

function startNode(
  options: NodeOptions,
  model: MemoryJob['model'],
  sutArgs: readonly string[],
): Promise<BenchServer> {
  const benchmark =
    model === 'null'
      ? ['--benchmark', 'null']
      : ['--benchmark', 'resnet50', '--model', model, '--cache-dir', defaultCacheFolder()];
  return startBenchNode(options, [...benchmark, ...sutArgs]);
}

function printPoints(it: MemoryCase, points: readonly RssPoint[]): void {
  const last = points.length - 1;
  const shown = [0, 0.1, 0.5, 0.9, 1].map((part) => points[Math.round(part * last)] as RssPoint);
  for (const side of ['client', 'server'] as const) {
    const bytesOf = (point: RssPoint): number => point[`${side}Bytes`];
    const largest = Math.max(...points.map(bytesOf));
    const recorder = side === 'client' ? (it.sampleCount * RECORDER_BYTES) / MIB : 0;
    const mib = [...shown.map(bytesOf), largest].map((bytes) => (bytes / MIB).toFixed(0));
    row(
      it.name,
      describe(it),
      side === 'client' ? 'LoadGen' : 'SUT node',
      recorder.toFixed(0),
      ...mib,
    );
  }
}

function describe({ scenario, sampleBytes, sampleCount }: MemoryCase): string {
  return scenario === 'Offline'
    ? `1 of ${sampleCount} x ${sampleBytes} B`
    : `${sampleCount} of ${sampleBytes} B`;
}

function firstLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  const told = stderr?.split('\n').find((line) => line.startsWith('Error'));
  return told ?? message.split('\n')[0] ?? '';
}
