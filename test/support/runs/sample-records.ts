import {
  allocateRecords,
  type SampleRecords,
} from '../../../loadgen-node/observe/records/sample-records.ts';

/** What {@link sampleRecords} makes; every field has a default. */
export interface SampleRecordsOptions {
  /** Default: 1. The same seed makes the same table. */
  readonly seed?: number;
  /** Default: 1000. */
  readonly rowCount?: number;
  /** Samples of one query. Default: 1. */
  readonly samplesPerQuery?: number;
  /** Rows are divided evenly among them; each begins at 0 ns and query 0. Default: 1. */
  readonly parts?: number;
  /** Default: 2. 0: nobody said which node answered, nor any time. */
  readonly nodes?: number;
  /** False: nodes told no times. Default: true. */
  readonly hasService?: boolean;
  /** Share of rows without a response, 0 to 1. Default: 0. */
  readonly lostShare?: number;
  /** Tokens and first tokens. Default: false. */
  readonly hasTokens?: boolean;
  /** Queries per second of the arrivals. Default: 1000. */
  readonly qps?: number;
  /** Typical compute time of a sample in ns. Default: 2 ms. The slowest hundredth takes ten times as long, in the queue. */
  readonly computeNs?: number;
}

/**
 * Records as a run of the Server scenario leaves them: Poisson arrivals, small lags, lengths of time that add up to less than
 * the latency, the rest being the network. Whole ns, seeded.
 */
export function sampleRecords(options: SampleRecordsOptions = {}): SampleRecords {
  const { rowCount = 1000, samplesPerQuery = 1, parts = 1, lostShare = 0 } = options;
  const { hasTokens = false, seed = 1, qps = 1000 } = options;
  const records = allocateRecords(rowCount, { hasTokens, hasFirstTokens: hasTokens });
  const random = mulberry32(seed);
  const rowsPerPart = Math.max(1, Math.ceil(rowCount / parts));
  let dueNs = 0;
  for (let row = 0; row < rowCount; row += 1) {
    const rowOfPart = row % rowsPerPart;
    const isFirstOfQuery = rowOfPart % samplesPerQuery === 0;
    if (rowOfPart === 0) dueNs = 0;
    else if (isFirstOfQuery) dueNs += Math.trunc((-Math.log(1 - random()) / qps) * 1e9);
    records.part[row] = Math.floor(row / rowsPerPart);
    records.query[row] = Math.floor(rowOfPart / samplesPerQuery);
    records.sampleIndex[row] = Math.floor(random() * 1024);
    records.scheduledNs[row] = dueNs;
    const lagNs = Math.trunc(random() * 5000);
    const waitNs = Math.trunc(random() * 20_000);
    records.issuedNs[row] = isFirstOfQuery ? dueNs + lagNs : (records.issuedNs[row - 1] as number);
    records.handedNs[row] = isFirstOfQuery
      ? dueNs + lagNs + waitNs
      : (records.handedNs[row - 1] as number);
    serve(records, row, options, random);
    if (random() < lostShare) lose(records, row);
  }
  return records;
}

function serve(
  records: SampleRecords,
  row: number,
  { nodes = 2, hasService = true, computeNs = 2e6 }: SampleRecordsOptions,
  random: () => number,
): void {
  const { service, decodeNs, tokenCount, firstTokenNs } = records;
  const isSlow = random() < 0.01;
  const times = {
    receiveNs: 10_000 * random(),
    queueNs: isSlow ? 9 * computeNs : 0.1 * computeNs * random(),
    batchWaitNs: 50_000 * random(),
    preprocessNs: 0.1 * computeNs,
    computeNs: computeNs * (0.9 + 0.2 * random()),
    postprocessNs: 5000 * random(),
    sendNs: 10_000 * random(),
  };
  const networkNs = 100_000 + 50_000 * random();
  let totalNs = networkNs + 2000;
  for (const [column, timeNs] of Object.entries(times)) {
    totalNs += timeNs;
    service[column as keyof typeof times][row] = hasService && nodes > 0 ? timeNs : Number.NaN;
  }
  records.node[row] = nodes > 0 ? row % nodes : -1;
  decodeNs[row] = nodes > 0 ? 2000 : Number.NaN;
  const handedNs = records.handedNs[row] as number;
  records.completedNs[row] = handedNs + Math.ceil(totalNs);
  if (tokenCount !== null) tokenCount[row] = 2 + Math.floor(random() * 30);
  if (firstTokenNs !== null) firstTokenNs[row] = handedNs + Math.ceil(totalNs / 2);
}

function lose(records: SampleRecords, row: number): void {
  const { completedNs, node, service, decodeNs, tokenCount, firstTokenNs } = records;
  completedNs[row] = Number.NaN;
  node[row] = -1;
  decodeNs[row] = Number.NaN;
  for (const column of Object.values(service)) column[row] = Number.NaN;
  if (tokenCount !== null) tokenCount[row] = 0;
  if (firstTokenNs !== null) firstTokenNs[row] = Number.NaN;
}

/** A small generator of doubles from 0 to below 1. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
