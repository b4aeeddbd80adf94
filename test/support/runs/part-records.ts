import type { SampleRecords } from '../../../loadgen-node/observe/records/sample-records.ts';
import type { LatencyPart } from '../../../loadgen-node/observe/split/latency-parts.ts';

/** A sample by the lengths of its parts in ns; those that are not given are 0. */
export type PartLengths = Partial<Record<LatencyPart, number>>;

/** A row: its parts, and where it stands. */
export interface PartRow extends PartLengths {
  readonly query?: number;
  readonly node?: number;
  readonly scheduledNs?: number;
  readonly part?: number;
  /** `lost`: never completed. `untold`: the node told no times. */
  readonly fate?: 'lost' | 'untold';
}

/** Records of samples whose parts are known: row i is query i unless it says otherwise. */
export function partRecords(rows: readonly PartRow[]): SampleRecords {
  const told = (pick: (row: PartRow) => number | undefined): Float32Array =>
    Float32Array.from(rows, (row) => (row.fate === 'untold' ? Number.NaN : (pick(row) ?? 0)));
  const scheduled = Float64Array.from(rows, (row, i) => row.scheduledNs ?? i * 1e6);
  const plus = (start: Float64Array, pick: (row: PartRow) => number) =>
    start.map((ns, i) => ns + pick(rows[i] as PartRow));
  const issued = plus(scheduled, (row) => row.dispatch ?? 0);
  const handed = plus(issued, (row) => row.send ?? 0);
  return {
    rowCount: rows.length,
    part: Uint16Array.from(rows, (row) => row.part ?? 0),
    query: Uint32Array.from(rows, (row, i) => row.query ?? i),
    sampleIndex: new Uint32Array(rows.length),
    scheduledNs: scheduled,
    issuedNs: issued,
    handedNs: handed,
    completedNs: plus(handed, (row) => (row.fate === 'lost' ? Number.NaN : behindSend(row))),
    node: Int16Array.from(rows, (row) => row.node ?? 0),
    service: {
      receiveNs: told((row) => row.receive),
      queueNs: told((row) => row.queue),
      batchWaitNs: told((row) => row.batch),
      preprocessNs: told((row) => row.preprocess),
      computeNs: told((row) => row.compute),
      postprocessNs: told((row) => row.postprocess),
      sendNs: told((row) => row.reply),
    },
    decodeNs: Float32Array.from(rows, (row) => row.decode ?? 0),
    tokenCount: null,
    firstTokenNs: null,
  };
}

function behindSend(row: PartRow): number {
  const { network = 0, receive = 0, queue = 0, batch = 0, preprocess = 0 } = row;
  const { compute = 0, postprocess = 0, reply = 0, decode = 0 } = row;
  return network + receive + queue + batch + preprocess + compute + postprocess + reply + decode;
}
