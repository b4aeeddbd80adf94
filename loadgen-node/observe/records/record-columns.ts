import type { SampleRecords } from './sample-records.ts';

/** Version of the form of `longhaul_records.arrow`; a reader of it refuses others. */
export const RECORDS_VERSION = 1;

/** Type of a column in the file. `node`: dictionary of 16-bit numbers and the nodes' names. */
export type ColumnType = 'uint16' | 'uint32' | 'int64' | 'float32' | 'node';

/** A column of the records in a file, in Arrow as in CSV. */
export interface RecordColumn {
  /** Ends with its unit. */
  readonly name: string;
  readonly type: ColumnType;
  /** True: a row may have none. In {@link SampleRecords} that is NaN, or -1 for a node. */
  readonly isNullable: boolean;
  readonly about: string;
  /** The column of a table; null where the table has none. */
  readonly of: (records: SampleRecords) => ColumnArray | null;
}

/** A column of {@link SampleRecords}. */
export type ColumnArray = Uint16Array | Uint32Array | Float64Array | Float32Array | Int16Array;

type Of = RecordColumn['of'];
type Row = readonly [name: string, type: ColumnType, isNullable: boolean, about: string, of: Of];

/** Columns of the lengths of time that a SUT node told. */
const SERVICE_ROWS = (
  [
    ['receive_ns', 'from the last byte of the sample to its place in the queue', 'receiveNs'],
    ['queue_ns', 'waiting until a batch took it', 'queueNs'],
    ['batch_wait_ns', 'from there until a worker began with the batch', 'batchWaitNs'],
    ['preprocess_ns', 'pre-processing of the batch', 'preprocessNs'],
    ['compute_ns', 'the model, of the batch', 'computeNs'],
    ['postprocess_ns', 'post-processing of the batch', 'postprocessNs'],
    ['send_ns', 'from there until the response was handed to the stream', 'sendNs'],
  ] as const
).map(([name, about, column]): Row => {
  return [name, 'float32', true, `SUT node: ${about}, in ns`, ({ service }) => service[column]];
});

const SINCE = 'in ns since the start of the part';

const ROWS: readonly Row[] = [
  ['part', 'uint16', false, 'set within the performance phase, from 0', (r) => r.part],
  ['query', 'uint32', false, 'number of the query in its part, from 0', (r) => r.query],
  ['sample_index', 'uint32', false, 'index into the sample library', (r) => r.sampleIndex],
  [
    'scheduled_ns',
    'int64',
    false,
    `when the query was due, ${SINCE}; latency counts from here`,
    (r) => r.scheduledNs,
  ],
  ['issued_ns', 'int64', false, `when LoadGen issued the query, ${SINCE}`, (r) => r.issuedNs],
  [
    'handed_ns',
    'int64',
    true,
    `when the transport had taken the sample, ${SINCE}`,
    (r) => r.handedNs,
  ],
  [
    'completed_ns',
    'int64',
    true,
    `when the response was there, ${SINCE}; null: the sample was lost`,
    (r) => r.completedNs,
  ],
  ['node', 'node', true, 'SUT node that answered', (r) => r.node],
  ...SERVICE_ROWS,
  [
    'decode_ns',
    'float32',
    true,
    'LoadGen node: reading the response, in ns; null where nobody said',
    (r) => r.decodeNs,
  ],
  ['token_count', 'uint32', false, 'output tokens of the response', (r) => r.tokenCount],
  [
    'first_token_ns',
    'int64',
    true,
    `when the first token was there, ${SINCE}`,
    (r) => r.firstTokenNs,
  ],
];

/** All columns, in the order of the file. Those of tokens are absent where the run has none. */
export const RECORD_COLUMNS: readonly RecordColumn[] = ROWS.map(
  ([name, type, isNullable, about, of]) => ({ name, type, isNullable, about, of }),
);

/** Columns that a table has. */
export function presentColumns(records: SampleRecords): readonly RecordColumn[] {
  return RECORD_COLUMNS.filter(({ of }) => of(records) !== null);
}
