import { SERVICE_TIMES } from '../../../loadgen-node/loadgen/recorder/service-times.ts';
import {
  allocateRecords,
  type SampleRecords,
} from '../../../loadgen-node/observe/records/sample-records.ts';
import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';

/** A simulated run: one queue, first come, first served. */
export interface QueueOptions {
  readonly seed: number;
  readonly rowCount: number;
  /** Poisson arrivals per second; 0: all are due at the start (Offline). */
  readonly arrivalQps: number;
  /** Mean of the exponential service time, in ns. */
  readonly serviceNs: number;
  /** Servers that take turns; each is a SUT node. Default: 1. */
  readonly nodes?: number;
  /** Samples of a query that are served one after the other. Default: 1. */
  readonly samplesPerQuery?: number;
  /** Share of samples without a response. Default: 0. */
  readonly lostShare?: number;
}

/** Records of a simulated M/M/1 queue (or several, in turn): latencies are correlated, as those of a real run are. */
export function queueRecords(options: QueueOptions): SampleRecords {
  const {
    seed,
    rowCount,
    arrivalQps,
    serviceNs,
    nodes = 1,
    samplesPerQuery = 1,
    lostShare = 0,
  } = options;
  const source = new SeededRandom(seed, 7);
  const random = (): number => source.uniform(0, 1);
  const exponential = (mean: number): number => -Math.log(1 - random()) * mean;
  const records = allocateRecords(rowCount, { hasTokens: false, hasFirstTokens: false });
  records.decodeNs.fill(2000);
  const freeAtNs = new Float64Array(nodes);
  let dueNs = 0;
  for (let row = 0; row < rowCount; row += 1) {
    if (row % samplesPerQuery === 0 && arrivalQps > 0)
      dueNs += Math.round(exponential(1e9 / arrivalQps));
    const node = row % nodes;
    const lagNs = Math.round(exponential(8000));
    const beginNs = Math.max(dueNs + lagNs + 60_000, freeAtNs[node] as number);
    const computeNs = Math.round(exponential(serviceNs));
    freeAtNs[node] = beginNs + computeNs;
    const isLost = random() < lostShare;
    records.query[row] = Math.floor(row / samplesPerQuery);
    records.sampleIndex[row] = row % 1024;
    records.scheduledNs[row] = dueNs;
    records.issuedNs[row] = dueNs + lagNs;
    records.handedNs[row] = dueNs + lagNs + 20_000;
    records.completedNs[row] = isLost ? Number.NaN : beginNs + computeNs + 50_000;
    records.node[row] = isLost ? -1 : node;
    for (const column of SERVICE_TIMES) records.service[column][row] = isLost ? Number.NaN : 5000;
    records.service.computeNs[row] = isLost ? Number.NaN : computeNs;
  }
  return records;
}
