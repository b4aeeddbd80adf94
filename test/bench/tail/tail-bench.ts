import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { distFolder } from '../../../shared/base/files/package-files.ts';
import { buildOpenLoop } from '../cpp-programs.ts';
import type { NodeOptions } from '../processes.ts';
import { head, median, row } from '../report.ts';
import {
  type Contender,
  cppContender,
  cppEngineContender,
  LONGHAUL,
  longhaulContender,
  type TlsFiles,
  tcpContender,
} from './contenders.ts';
import type { OpenLoad } from './open-load.ts';
import { QuietRounds } from './quiet-rounds.ts';
import { type LoadTime, PERCENTILES, runTurn, type Turn } from './turn.ts';

/*
 * Goal: what the path adds to a latency under an open load, up to its tail: `longhaul run` against
 * `longhaul sut` without a model, beside gRPC in C++ and beside one TCP connection of Node.js.
 * Method: all contenders have one schedule, of Poisson arrivals, and latencies count from it. They
 * take turns with new processes on both ends, every other round in reverse; ratios are made within
 * a round. Rounds in which the machine was not quiet are given up. It reports and does not judge.
 */

export interface TailBenchOptions extends NodeOptions, LoadTime {
  readonly loads: readonly OpenLoad[];
  readonly rounds: number;
  /** Names of contenders, or the beginnings of names; all if empty. */
  readonly only: readonly string[];
  /** True: longhaul over TLS is beside the others. */
  readonly hasTls: boolean;
  /**
   * True: longhaul with the C++ LoadGen as engine is beside the others; `longhaul loadgen link`
   * first.
   */
  readonly hasCppEngine: boolean;
  /** File for all figures. */
  readonly jsonFile: string | undefined;
}

/** All rounds of one contender under one load. */
interface LoadResult extends OpenLoad {
  readonly contender: string;
  readonly rounds: readonly Turn[];
}

const PERCENTILE_KEYS = Object.keys(PERCENTILES) as (keyof typeof PERCENTILES)[];
const PERCENTILE_NAMES = ['p50', 'p90', 'p99', 'p99.9'];

/** Prints the tables, as Markdown. */
export async function benchTail(options: TailBenchOptions): Promise<void> {
  const certificates = mkdtempSync(join(tmpdir(), 'longhaul-tail-tls-'));
  try {
    const tls = options.hasTls ? makeCertificates(certificates) : undefined;
    await benchContenders(chooseContenders(options, tls), options);
  } finally {
    rmSync(certificates, { recursive: true, force: true });
  }
}

async function benchContenders(
  contenders: readonly Contender[],
  options: TailBenchOptions,
): Promise<void> {
  const quiet = new QuietRounds(options.rounds);
  const results: LoadResult[] = [];
  const latencies = PERCENTILE_NAMES.map((name) => `${name} µs`);
  const columns = ['client cores', 'server cores', 'issue delay p50 µs', 'p99 µs'];
  head(1, 'path', 'bytes', 'queries/s', 'queries', ...latencies, ...columns);
  for (const load of options.loads) {
    const turns = await runLoad(contenders, load, options, quiet);
    contenders.forEach(({ name: contender }, i) => {
      results.push({ ...load, contender, rounds: turns[i] as Turn[] });
      printResult(results.at(-1) as LoadResult);
    });
  }
  process.stdout.write('\n');
  printRatios(results);
  process.stdout.write(`\n${quiet.text}\n`);
  if (options.jsonFile === undefined) return;
  const all = { options, machine: quiet.summary, results };
  writeFileSync(options.jsonFile, `${JSON.stringify(all, null, 1)}\n`);
}

/** By the script that users have for it. */
function makeCertificates(folder: string): TlsFiles {
  const script = join(distFolder(), '..', 'deploy', 'certificates', 'make-certificates.sh');
  execFileSync('sh', [script, folder, '--sut', 'node=127.0.0.1'], { stdio: 'pipe' });
  const ofNode = (name: string): string => join(folder, 'node', name);
  return { ca: ofNode('ca.crt'), node: { cert: ofNode('tls.crt'), key: ofNode('tls.key') } };
}

function chooseContenders(
  { only, ...options }: TailBenchOptions,
  tls: TlsFiles | undefined,
): Contender[] {
  const isWanted = ({ name }: Contender): boolean =>
    only.length === 0 || only.some((word) => name.toLowerCase().startsWith(word.toLowerCase()));
  const node = { ...options, isGcTraced: false };
  const ours = [
    longhaulContender(node),
    ...(tls === undefined ? [] : [longhaulContender(node, tls)]),
    ...(options.hasCppEngine ? [cppEngineContender(node)] : []),
  ];
  const program = { path: '' };
  const cpp = [cppContender(program)].filter(isWanted);
  if (cpp.length > 0) {
    const built = buildOpenLoop();
    if (typeof built === 'string') {
      process.stdout.write(`no C++ pair, so no ratios to it: ${built}\n\n`);
      cpp.pop();
    } else {
      program.path = built.path;
    }
  }
  return [...ours.filter(isWanted), ...cpp, ...[tcpContender(node)].filter(isWanted)];
}

async function runLoad(
  contenders: readonly Contender[],
  load: OpenLoad,
  options: TailBenchOptions,
  quiet: QuietRounds,
): Promise<Turn[][]> {
  const results: Turn[][] = contenders.map(() => []);
  for (let round = 0; round < options.rounds; ) {
    const order = [...contenders.keys()];
    if (round % 2 === 1) order.reverse();
    const turns: Turn[] = [];
    await quiet.begin();
    for (const i of order) turns[i] = await runTurn(contenders[i] as Contender, load, options);
    if (!quiet.end()) continue;
    turns.forEach((turn, i) => {
      results[i]?.push(turn);
    });
    round += 1;
  }
  return results;
}

function printResult({ contender, sizeBytes, queriesPerSecond, rounds }: LoadResult): void {
  const of = (key: keyof Turn): number[] => rounds.map((turn) => turn[key]);
  const queries = of('queries').reduce((sum, count) => sum + count, 0);
  row(
    ...[contender, sizeBytes, queriesPerSecond, queries],
    ...PERCENTILE_KEYS.map((key) => withRange(of(key), 0)),
    ...[median(of('clientCores')).toFixed(2), median(of('serverCores')).toFixed(2)],
    ...[median(of('lagP50Us')).toFixed(1), median(of('lagP99Us')).toFixed(0)],
  );
}

/** Of latencies in the same round: longhaul to the others, and its own variants to longhaul. */
function printRatios(results: readonly LoadResult[]): void {
  const isOurs = ({ contender }: LoadResult): boolean => contender.startsWith(LONGHAUL);
  const pairs = results.flatMap((one) => {
    const beside = results.filter((other) => isSameLoad(one, other) && one !== other);
    if (one.contender === LONGHAUL)
      return beside.filter((other) => !isOurs(other)).map(pairOf(one));
    return isOurs(one)
      ? beside.filter(({ contender }) => contender === LONGHAUL).map(pairOf(one))
      : [];
  });
  if (pairs.length === 0) return;
  head(1, 'ratio of latencies', 'bytes', 'queries/s', ...PERCENTILE_NAMES);
  for (const { one, other } of pairs) {
    const ratios = PERCENTILE_KEYS.map((key) =>
      one.rounds.map((turn, i) => turn[key] / (other.rounds[i] as Turn)[key]),
    );
    const name = `${one.contender} / ${other.contender}`;
    row(name, one.sizeBytes, one.queriesPerSecond, ...ratios.map((all) => withRange(all, 2)));
  }
}

function pairOf(one: LoadResult) {
  return (other: LoadResult) => ({ one, other });
}

function isSameLoad(one: OpenLoad, other: OpenLoad): boolean {
  return one.sizeBytes === other.sizeBytes && one.queriesPerSecond === other.queriesPerSecond;
}

/** Median, and lowest to highest where there are several. */
function withRange(values: readonly number[], digits: number): string {
  const [low, middle, high] = [Math.min(...values), median(values), Math.max(...values)].map(
    (value) => value.toFixed(digits),
  );
  return values.length === 1 ? (middle as string) : `${middle} (${low}-${high})`;
}
