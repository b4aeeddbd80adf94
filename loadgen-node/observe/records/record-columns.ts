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

function number(name: string, type: 'uint16' | 'uint32', about: string, of: Of): RecordColumn {
  return { name, type, isNullable: false, about, of };
}

function instant(name: string, isNullable: boolean, about: string, of: Of): RecordColumn {
  return { name, type: 'int64', isNullable, about, of };
}

function length(name: string, about: string, of: Of): RecordColumn {
  return { name, type: 'float32', isNullable: true, about, of };
}

/** All columns, in the order of the file. Those of tokens are absent where the run has none. */
export const RECORD_COLUMNS: readonly RecordColumn[] = [
  number('part', 'uint16', 'set within the performance phase, from 0', (r) => r.part),
  number('query', 'uint32', 'number of the query in its part, from 0', (r) => r.query),
  number('sample_index', 'uint32', 'index into the sample library', (r) => r.sampleIndex),
  instant(
    'scheduled_ns',
    false,
    'when the query was due, in ns since the start of the part; latency counts from here',
    (r) => r.scheduledNs,
  ),
  instant(
    'issued_ns',
    false,
    'when LoadGen issued the query, in ns since the start of the part',
    (r) => r.issuedNs,
  ),
  instant(
    'handed_ns',
    true,
    'when the transport had taken the sample, in ns since the start of the part',
    (r) => r.handedNs,
  ),
  instant(
    'completed_ns',
    true,
    'when the response was there, in ns since the start of the part; null: the sample was lost',
    (r) => r.completedNs,
  ),
  {
    name: 'node',
    type: 'node',
    isNullable: true,
    about: 'SUT node that answered',
    of: (r) => r.node,
  },
  length(
    'receive_ns',
    'SUT node: from the last byte of the sample to its place in the queue, in ns',
    (r) => r.service.receiveNs,
  ),
  length('queue_ns', 'SUT node: waiting until a batch took it, in ns', (r) => r.service.queueNs),
  length(
    'batch_wait_ns',
    'SUT node: from there until a worker began with the batch, in ns',
    (r) => r.service.batchWaitNs,
  ),
  length(
    'preprocess_ns',
    'SUT node: pre-processing of the batch, in ns',
    (r) => r.service.preprocessNs,
  ),
  length('compute_ns', 'SUT node: the model, of the batch, in ns', (r) => r.service.computeNs),
  length(
    'postprocess_ns',
    'SUT node: post-processing of the batch, in ns',
    (r) => r.service.postprocessNs,
  ),
  length(
    'send_ns',
    'SUT node: from there until the response was handed to the stream, in ns',
    (r) => r.service.sendNs,
  ),
  length(
    'decode_ns',
    'LoadGen node: reading the response, in ns; null where nobody said',
    (r) => r.decodeNs,
  ),
  number('token_count', 'uint32', 'output tokens of the response', (r) => r.tokenCount),
  instant(
    'first_token_ns',
    true,
    'when the first token was there, in ns since the start of the part',
    (r) => r.firstTokenNs,
  ),
];

/** Columns that a table has. */
export function presentColumns(records: SampleRecords): readonly RecordColumn[] {
  return RECORD_COLUMNS.filter(({ of }) => of(records) !== null);
}
