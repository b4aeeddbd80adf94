import { mkdirSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordedSet } from '../../../loadgen-node/loadgen/engine/test-context.ts';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { SampleRecorder } from '../../../loadgen-node/loadgen/recorder/sample-recorder.ts';
import { SERVICE_TIMES } from '../../../loadgen-node/loadgen/recorder/service-times.ts';
import type { QueryPlan } from '../../../loadgen-node/loadgen/schedule/query-plan.ts';
import type { RecordsAbout } from '../../../loadgen-node/observe/records/arrow-schema.ts';
import { RecordsWriter } from '../../../loadgen-node/observe/records/records-writer.ts';
import {
  allocateRecords,
  type SampleRecords,
} from '../../../loadgen-node/observe/records/sample-records.ts';
import {
  LATENCY_PARTS,
  type LatencyPart,
} from '../../../loadgen-node/observe/split/latency-parts.ts';
import {
  type RunSummary,
  writeSummary,
} from '../../../loadgen-node/observe/summary/run-summary.ts';
import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';

/**
 * Records of a simulated M/M/1 queue (or several, in turn): latencies are correlated, as those of a
 * real run are.
 */
export function queueRecords({
  /** The same seed makes the same table. */
  seed = 1,
  rowCount = 1000,
  /** Poisson arrivals per second; 0: all are due at the start (Offline). */
  arrivalQps = 100,
  /** Mean of the exponential service time, in ns. */
  serviceNs = 4e6,
  /** Servers that take turns; each is a SUT node. 0: one, that is no node and tells no times. */
  nodes = 1,
  /** False: nodes report no times. */
  tellsTimes = true,
  /** Samples of a query that are served one after the other. */
  samplesPerQuery = 1,
  /** Share of samples without a response, 0 to 1. */
  lostShare = 0,
  /** Tokens and first tokens. */
  hasTokens = false,
} = {}): SampleRecords {
  const source = new SeededRandom(seed, 7);
  const random = (): number => source.uniform(0, 1);
  const exponential = (mean: number): number => -Math.log(1 - random()) * mean;
  const records = allocateRecords(rowCount, { hasTokens, hasFirstTokens: hasTokens });
  const isTold = tellsTimes && nodes > 0;
  for (const column of Object.values(records.service)) column.fill(isTold ? 5000 : Number.NaN);
  records.decodeNs.fill(nodes > 0 ? 2000 : Number.NaN);
  const freeAtNs = new Float64Array(Math.max(1, nodes));
  let dueNs = 0;
  for (let row = 0; row < rowCount; row += 1) {
    if (row % samplesPerQuery === 0 && arrivalQps > 0)
      dueNs += Math.round(exponential(1e9 / arrivalQps));
    const server = row % freeAtNs.length;
    const issuedNs = dueNs + Math.round(exponential(8000));
    const beginNs = Math.max(issuedNs + 60_000, freeAtNs[server] as number);
    const computeNs = Math.round(exponential(serviceNs));
    freeAtNs[server] = beginNs + computeNs;
    records.query[row] = Math.floor(row / samplesPerQuery);
    records.sampleIndex[row] = row % 1024;
    records.scheduledNs[row] = dueNs;
    records.issuedNs[row] = issuedNs;
    records.handedNs[row] = issuedNs + 20_000;
    records.completedNs[row] = beginNs + computeNs + 50_000;
    records.node[row] = server < nodes ? server : -1;
    if (isTold) records.service.computeNs[row] = computeNs;
    records.tokenCount?.set([2 + (row % 30)], row);
    records.firstTokenNs?.set([beginNs + 50_000], row);
    if (random() < lostShare) lose(records, row);
  }
  return records;
}

function lose(records: SampleRecords, row: number): void {
  const { completedNs, node, service, decodeNs, tokenCount, firstTokenNs } = records;
  node[row] = -1;
  for (const column of [completedNs, decodeNs, ...Object.values(service)]) column[row] = Number.NaN;
  tokenCount?.set([0], row);
  firstTokenNs?.set([Number.NaN], row);
}

/** A row by the lengths of its parts in ns (0 where none is given), and where it stands. */
export interface PartRow extends Partial<Record<LatencyPart, number>> {
  readonly query?: number;
  readonly node?: number;
  readonly scheduledNs?: number;
  readonly part?: number;
  /** Of a run that times first tokens: since the query was due. Then all rows have it. */
  readonly firstTokenNs?: number;
  readonly tokens?: number;
  /** `lost`: never completed. `untold`: the node reported no times. */
  readonly fate?: 'lost' | 'untold';
}

const PARTS_OF_NODE = [
  'receive',
  'queue',
  'batch',
  'preprocess',
  'compute',
  'postprocess',
  'reply',
] as const;

/** Records of samples whose parts are known: row i is query i unless it says otherwise. */
export function partRecords(rows: readonly PartRow[]): SampleRecords {
  const hasTokens = rows[0]?.firstTokenNs !== undefined;
  const records = allocateRecords(rows.length, { hasTokens, hasFirstTokens: hasTokens });
  for (const [i, row] of rows.entries()) {
    const { fate, query = i, node = 0, part = 0, scheduledNs = i * 1e6 } = row;
    const length = (name: LatencyPart): number => row[name] ?? 0;
    const handedNs = scheduledNs + length('dispatch') + length('send');
    const behind = LATENCY_PARTS.slice(LATENCY_PARTS.indexOf('network'));
    records.part[i] = part;
    records.query[i] = query;
    records.node[i] = node;
    records.scheduledNs[i] = scheduledNs;
    records.issuedNs[i] = scheduledNs + length('dispatch');
    records.handedNs[i] = handedNs;
    records.completedNs[i] =
      fate === 'lost' ? Number.NaN : behind.reduce((sum, name) => sum + length(name), handedNs);
    records.decodeNs[i] = length('decode');
    records.tokenCount?.set([row.tokens ?? 0], i);
    records.firstTokenNs?.set([scheduledNs + (row.firstTokenNs ?? Number.NaN)], i);
    for (const [at, column] of SERVICE_TIMES.entries()) {
      const name = PARTS_OF_NODE[at] as LatencyPart;
      records.service[column][i] = fate === 'untold' ? Number.NaN : length(name);
    }
  }
  return records;
}

/** Rows of a host of several: it issues each query whose number is its own, counted around. */
interface HostPlace {
  readonly host: number;
  readonly hostCount: number;
  /** Its start, after that of the records. */
  readonly startNs: number;
}

/**
 * Puts the rows of one part back into a recorder, as a run of the Server scenario would have done
 * it: what keeps records can be tried with any table.
 */
export function recordedSet(
  records: SampleRecords,
  { host, hostCount, startNs }: HostPlace = { host: 0, hostCount: 1, startNs: 0 },
): RecordedSet {
  const { rowCount, tokenCount, firstTokenNs } = records;
  const scheduledNs = records.scheduledNs.map((ns) => ns - startNs);
  const plan: QueryPlan = {
    ...{ queryCount: rowCount, samplesPerQuery: 1, sampleIndices: records.sampleIndex },
    ...{ scheduledDeltaNs: scheduledNs, periodNs: 0, generatedQueryCount: rowCount },
    generatedDurationNs: scheduledNs.at(-1) ?? 0,
  };
  const recorder = new SampleRecorder(plan, 'plan', {
    threadCount: hostCount,
    countsTokens: tokenCount !== null,
    timesFirstTokens: firstTokenNs !== null,
    keepsService: true,
  });
  recorder.begin(startNs);
  for (let row = host; row < rowCount; row += hostCount) {
    recorder.issue(records.issuedNs[row] as number, row);
    recorder.handOver(row, records.handedNs[row] as number);
    complete(recorder, records, row);
  }
  const end = {
    ...{ cause: 'all-issued' as const, startNs: 0, endNs: recorder.lastCompletionNs },
    ...{
      abandonedSamples: 0,
      silentSinceNs: null,
      outstandingAtStop: 0,
      fault: null,
      threadEnds: [],
    },
  };
  return { plan, recorder, end, health: null, part: records.part[0] ?? 0, firstQueryId: 0 };
}

function complete(recorder: SampleRecorder, records: SampleRecords, row: number): void {
  const completedNs = records.completedNs[row] as number;
  if (Number.isNaN(completedNs)) {
    recorder.lose(row);
    return;
  }
  const node = records.node[row] as number;
  const times = SERVICE_TIMES.map((column) => [column, records.service[column][row]]);
  const isTold = !Number.isNaN(records.service.computeNs[row]);
  if (node >= 0) {
    const told = isTold ? (Object.fromEntries(times) as ServiceTimes) : undefined;
    recorder.service?.note(row, node, told, records.decodeNs[row] as number);
  }
  if (records.firstTokenNs !== null) recorder.firstToken(row, records.firstTokenNs[row] as number);
  recorder.complete(row, completedNs, records.tokenCount?.[row] ?? 0);
}

/** Facts of a run, for records made by hand. */
export const ABOUT_RECORDS: RecordsAbout = {
  longhaul: '0.0.0',
  runId: 'run-of-the-test',
  startedAt: '2026-11-21T00:00:00.000Z',
  benchmark: 'null',
  scenario: 'Server',
  nodes: ['sut-a', 'süt-b'],
};

/** Writes a file with the records of these parts. */
export async function writeRecords(
  path: string,
  parts: readonly SampleRecords[],
  about: RecordsAbout = ABOUT_RECORDS,
): Promise<void> {
  const file = await open(path, 'w');
  const writer = new RecordsWriter(file, about);
  for (const part of parts) await writer.writeSet(recordedSet(part));
  await writer.end();
  await file.close();
}

/**
 * Writes the records of a part as those of several LoadGen hosts, each with a clock, a start and an
 * order of the nodes of its own, and the list of the files.
 */
export async function writeRecordSet(
  folder: string,
  records: SampleRecords,
  about: RecordsAbout,
  hostCount = 2,
): Promise<void> {
  const hosts = [];
  for (let host = 0; host < hostCount; host += 1) {
    // The last one starts first.
    const startNs = (hostCount - 1 - host) * 777_777_777;
    const nodes = about.nodes.map((_, i) => about.nodes.at(i - host) as string);
    const node = records.node.map((one) => (one < 0 ? -1 : (one + host) % nodes.length));
    const place = { host, hostCount, startNs };
    const name = `host-${host}.arrow`;
    const file = await open(join(folder, name), 'w');
    const writer = new RecordsWriter(file, { ...about, nodes });
    await writer.writeSet(recordedSet({ ...records, node }, place));
    await writer.end();
    await file.close();
    const startUnixNs = String(1_764_000_000_123_456_789n + BigInt(startNs));
    hosts.push({ host: `loadgen-${host}`, file: name, startUnixNs, clockErrorNs: 1000 });
  }
  writeFileSync(join(folder, RUN_FILES.recordSet), JSON.stringify({ schemaVersion: 1, hosts }));
}

/** Writes what longhaul leaves of a run beside LoadGen's logs: its records and its summary. */
export async function writeMeasuredRun(
  folder: string,
  summary: RunSummary,
  records: SampleRecords,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeSummary(folder, summary);
  const { longhaul, runId, startedAt, benchmark, scenario } = summary;
  const nodes = summary.nodes.map(({ name }) => name);
  const about = { longhaul, runId, startedAt, benchmark, scenario, nodes };
  await writeRecords(join(folder, RUN_FILES.records), [records], about);
}
