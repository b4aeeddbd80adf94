import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempFolder } from '../../scenes/host/folders.ts';
import { type Ended, longhaul } from '../../scenes/host/processes.ts';
import { type ServicerFacts, type ServicerOptions, ServicerProcess } from './servicer-process.ts';

/** A run of longhaul against servicers. */
export interface OipRun extends Ended {
  /** Counts of each server; undefined for one that the test ended itself. */
  readonly seen: readonly ServicerFacts[];
  /** Lines of LoadGen's detail log by key, the last of each. */
  readonly log: ReadonlyMap<string, unknown>;
}

/** Starts a servicer that is ended with the running test. */
export async function startServicer(
  stubs: string,
  options: ServicerOptions = {},
): Promise<ServicerProcess> {
  const servicer = await ServicerProcess.start(stubs, options);
  onTestFinished(() => servicer.kill());
  return servicer;
}

/** Queries of a run where its test says nothing: enough for LoadGen's verdict on SingleStream. */
export const QUERIES = 100;

/** Default data of a run: generated samples. */
const MADE_UP = ['--data', 'random', '--data-count', '32'];
const SHORT = [
  ...['--scenario', 'SingleStream'],
  ...['--min-duration', '0s', '--min-query-count', `${QUERIES}`],
];

/** Many queries at once, as many as LoadGen's verdict on Server needs. */
export const SERVER_QUERIES = 500;
export const SERVER: readonly string[] = [
  ...['--scenario', 'Server', '--target-qps', '500', '--target-latency', '20s'],
  ...['--min-query-count', `${SERVER_QUERIES}`],
];

/**
 * Runs longhaul against servers, and asks them afterwards what they saw. @param args After the
 * defaults; later ones win.
 */
export async function runAgainst(
  servers: readonly ServicerProcess[],
  model: string,
  args: readonly string[] = [],
): Promise<OipRun> {
  const output = join(tempFolder(), 'run');
  const sut = ['--sut', servers.map(({ address }) => `oip://${address}`).join(',')];
  const data = args.includes('--data') ? [] : MADE_UP;
  const what = ['--model', model, ...data, ...SHORT, ...args, '--output', output];
  const ended = await longhaul(['run', ...sut, ...what]);
  const seen = await Promise.all(servers.map((server) => server.stop()));
  return { ...ended, seen, log: detailLog(output) };
}

function detailLog(folder: string): ReadonlyMap<string, unknown> {
  const file = join(folder, 'mlperf_log_detail.txt');
  if (!existsSync(file)) return new Map();
  const lines = readFileSync(file, 'utf8').split('\n');
  const entries = lines
    .filter((line) => line.startsWith(':::MLLOG '))
    .map((line) => JSON.parse(line.slice(9)) as { key: string; value: unknown });
  return new Map(entries.map(({ key, value }) => [key, value]));
}
