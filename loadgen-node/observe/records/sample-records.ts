import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import type { LogHistogram } from '../../loadgen/recorder/log-histogram.ts';
import type { RecordedColumns } from '../../loadgen/recorder/recording.ts';
import { SERVICE_TIMES } from '../../loadgen/recorder/service-times.ts';
import { gapHistogram } from '../../loadgen/recorder/token-gaps.ts';

/** A duration that the SUT reports for a sample, as a column. */
export type ServiceColumn = keyof ServiceTimes;

/** Optional token columns of a table. */
interface TokenColumns {
  readonly hasTokens: boolean;
  readonly hasFirstTokens: boolean;
  /** Default: false. */
  readonly hasGaps?: boolean;
  /** Default: false. */
  readonly hasPrompts?: boolean;
}

/** Prompt tokens of a sample by its index; undefined if samples are not tokens. */
export type PromptTokensOf = ((sampleIndex: number) => number) | undefined;

/**
 * Allocates a table of zeros: 76 bytes per row, plus 4 with tokens, 8 with first tokens, 4 with
 * gaps, 4 with prompts, 2 with hosts.
 * @param hostNames Names for a run of several LoadGen hosts. Default: one unnamed host.
 */
export function allocateRecords(
  rowCount: number,
  { hasTokens, hasFirstTokens, hasGaps = false, hasPrompts = false }: TokenColumns,
  hostNames: readonly string[] = [],
): SampleRecords {
  const service = SERVICE_TIMES.map((column) => [column, new Float32Array(rowCount)]);
  return {
    rowCount,
    part: new Uint16Array(rowCount),
    query: new Uint32Array(rowCount),
    sampleIndex: new Uint32Array(rowCount),
    scheduledNs: new Float64Array(rowCount),
    issuedNs: new Float64Array(rowCount),
    handedNs: new Float64Array(rowCount),
    completedNs: new Float64Array(rowCount),
    node: new Int16Array(rowCount),
    service: Object.fromEntries(service) as SampleRecords['service'],
    decodeNs: new Float32Array(rowCount),
    tokenCount: hasTokens ? new Uint32Array(rowCount) : null,
    firstTokenNs: hasFirstTokens ? new Float64Array(rowCount) : null,
    longestGapNs: hasGaps ? new Float32Array(rowCount) : null,
    tokenGaps: hasGaps ? gapHistogram() : null,
    promptTokens: hasPrompts ? new Uint32Array(rowCount) : null,
    hosts: hostNames.length === 0 ? null : { names: hostNames, ofRow: new Uint16Array(rowCount) },
  };
}

/**
 * The records of a performance run in columns, one row per issued sample. All latencies, rates and
 * splits follow from them. A Server or SingleStream query is one row. Rows are in plan order: part,
 * query, sample of the query.
 *
 * Times are whole ns since the start of the part, below 2^53.
 */
export interface SampleRecords {
  readonly rowCount: number;
  /**
   * Number of the set within the performance phase, from 0. Extended runs and LoadGen's search
   * have several.
   */
  readonly part: Uint16Array;
  /** Number of the query in its part, from 0. */
  readonly query: Uint32Array;
  /** Index into the sample library. */
  readonly sampleIndex: Uint32Array;
  /** Due time of the query; latency counts from here. */
  readonly scheduledNs: Float64Array;
  readonly issuedNs: Float64Array;
  /**
   * Time at which the transport took the sample; NaN if it was never sent, or if the SUT has no
   * transport.
   */
  readonly handedNs: Float64Array;
  /** NaN if the sample was lost. */
  readonly completedNs: Float64Array;
  /** Number of the SUT node that answered, from 0; -1 if unknown. */
  readonly node: Int16Array;
  /** In ns; NaN if the node reported none. */
  readonly service: Readonly<Record<ServiceColumn, Float32Array>>;
  /** Decompression of the response in LoadGen, in ns; NaN if unknown. */
  readonly decodeNs: Float32Array;
  /** Output tokens; null if the run does not count them. */
  readonly tokenCount: Uint32Array | null;
  /** Time of the first token; NaN if none came. Null if not timed. */
  readonly firstTokenNs: Float64Array | null;
  /** Longest time between two tokens, in ns; NaN below two tokens. Null if not measured. */
  readonly longestGapNs: Float32Array | null;
  /**
   * All times between tokens of the rows' parts: not a column, since there are more of them than
   * rows. Null if not measured.
   */
  readonly tokenGaps: LogHistogram | null;
  /** Prompt tokens of the sample; null if samples are not tokens. */
  readonly promptTokens: Uint32Array | null;
  /**
   * LoadGen host that issued the sample, as an index into the names; not a file column. Null with
   * one host.
   */
  readonly hosts: { readonly names: readonly string[]; readonly ofRow: Uint16Array } | null;
}

/** Copies all rows of `source` into `target`, from row `at` on. Both must have the same columns. */
export function copyRecords(target: SampleRecords, at: number, source: SampleRecords): void {
  for (const { of } of presentColumns(source)) of(target)?.set(of(source) as ColumnArray, at);
  if (source.tokenGaps !== null) target.tokenGaps?.addAll(source.tokenGaps);
}

/** Several parts as one table, in the given order. All must have the columns of the first. */
export function joinRecords(parts: readonly SampleRecords[]): SampleRecords {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
  const joined = tableFor(rowCount, first === undefined ? [] : presentColumns(first));
  let at = 0;
  for (const part of parts) {
    copyRecords(joined, at, part);
    at += part.rowCount;
  }
  return joined;
}

/**
 * Calls back with each run of neighbouring rows with the same value, as [begin, end): the rows of a
 * part, or of a query.
 */
export function forEachStretch(
  values: ColumnArray,
  { begin, end }: { readonly begin: number; readonly end: number },
  visit: (begin: number, end: number) => void,
): void {
  for (let first = begin; first < end; ) {
    let next = first + 1;
    while (next < end && values[next] === values[first]) next += 1;
    visit(first, next);
    first = next;
  }
}

/** Format version of `longhaul_records.arrow`; readers refuse others. */
export const RECORDS_VERSION = 1;

/** Type of a column in the file. `node`: dictionary of 16-bit numbers and node names. */
export type ColumnType = 'uint16' | 'uint32' | 'int64' | 'float32' | 'node';

/** A column of the records file, in Arrow and in CSV. */
export interface RecordColumn {
  /** Column name; ends with its unit. */
  readonly name: string;
  readonly type: ColumnType;
  /** True if a row may have no value: NaN in {@link SampleRecords}, or -1 for a node. */
  readonly isNullable: boolean;
  readonly about: string;
  /** The table's column; null if the table lacks it. */
  readonly of: (records: SampleRecords) => ColumnArray | null;
}

/** A column of {@link SampleRecords}. */
export type ColumnArray = Uint16Array | Uint32Array | Float64Array | Float32Array | Int16Array;

type TableField = Exclude<keyof SampleRecords, 'rowCount' | 'service' | 'tokenGaps' | 'hosts'>;

const SINCE = 'in ns since the start of the part';

/**
 * Columns in file order; `?` marks columns that may have no value. The table's field has the same
 * name in camel case.
 */
const ROWS: readonly (readonly [
  name: string,
  type: ColumnType | `${ColumnType}?`,
  about: string,
])[] = [
  ['part', 'uint16', 'set within the performance phase, from 0'],
  ['query', 'uint32', 'number of the query in its part, from 0'],
  ['sample_index', 'uint32', 'index into the sample library'],
  ['scheduled_ns', 'int64', `when the query was due, ${SINCE}; latency counts from here`],
  ['issued_ns', 'int64', `when LoadGen issued the query, ${SINCE}`],
  ['handed_ns', 'int64?', `when the transport had taken the sample, ${SINCE}`],
  ['completed_ns', 'int64?', `when the response was there, ${SINCE}; null: the sample was lost`],
  ['node', 'node?', 'SUT node that answered'],
  ['receive_ns', 'float32?', ofNode('from the last byte of the sample to its place in the queue')],
  ['queue_ns', 'float32?', ofNode('waiting until a batch took it')],
  ['batch_wait_ns', 'float32?', ofNode('from there until a worker began with the batch')],
  ['preprocess_ns', 'float32?', ofNode('pre-processing of the batch')],
  ['compute_ns', 'float32?', ofNode('the model, of the batch')],
  ['postprocess_ns', 'float32?', ofNode('post-processing of the batch')],
  ['send_ns', 'float32?', ofNode('from there until the response was handed to the stream')],
  ['decode_ns', 'float32?', 'LoadGen node: reading the response, in ns; null if unknown'],
  ['token_count', 'uint32', 'output tokens of the response'],
  ['first_token_ns', 'int64?', `when the first token was there, ${SINCE}`],
  ['longest_gap_ns', 'float32?', 'longest time between two tokens, in ns'],
  ['prompt_tokens', 'uint32', 'tokens of the sample'],
];

function ofNode(about: string): string {
  return `SUT node: ${about}, in ns`;
}

/** All columns, in file order. Token columns are absent if the run has no tokens. */
export const RECORD_COLUMNS = ROWS.map(([name, type, about]): RecordColumn => {
  const field = name.replace(/_./g, (letter) => letter.charAt(1).toUpperCase());
  const ofService = SERVICE_TIMES.find((one) => one === field);
  return {
    name,
    about,
    type: type.replace('?', '') as ColumnType,
    isNullable: type.endsWith('?'),
    of: (records) =>
      ofService === undefined ? records[field as TableField] : records.service[ofService],
  };
});

/** Columns that a table has. */
export function presentColumns(records: SampleRecords): readonly RecordColumn[] {
  return RECORD_COLUMNS.filter(({ of }) => of(records) !== null);
}

/** An empty table with these columns. @param hostNames As in {@link allocateRecords}. */
export function tableFor(
  rowCount: number,
  columns: readonly RecordColumn[],
  hostNames: readonly string[] = [],
): SampleRecords {
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  const tokens = {
    hasTokens: has('token_count'),
    hasFirstTokens: has('first_token_ns'),
    hasGaps: has('longest_gap_ns'),
    hasPrompts: has('prompt_tokens'),
  };
  return allocateRecords(rowCount, tokens, hostNames);
}

/** The rows of one set, block by block, so that no second full copy is in memory. */
export class SetRows {
  /** Issued samples. */
  readonly rowCount: number;
  readonly tokens: TokenColumns;
  readonly #part: number;
  readonly #sampleIndices: Uint32Array;
  readonly #columns: RecordedColumns;
  readonly #promptTokensOf: PromptTokensOf;
  #query = 0;
  #sampleOfQuery = 0;

  constructor({ plan, recorder, part }: RecordedSet, promptTokensOf?: PromptTokensOf) {
    this.#part = part;
    this.#promptTokensOf = promptTokensOf;
    this.#sampleIndices = plan.sampleIndices;
    this.#columns = recorder.columns();
    this.rowCount = recorder.issuedSamples;
    this.tokens = {
      hasTokens: this.#columns.tokenCounts !== null,
      hasFirstTokens: this.#columns.firstTokenNs !== null,
      hasGaps: this.#columns.gaps !== null,
      hasPrompts: promptTokensOf !== undefined,
    };
  }

  /** All times between tokens of the set; null if not measured. */
  get gaps(): LogHistogram | null {
    return this.#columns.gaps?.histogram ?? null;
  }

  /**
   * Overwrites a block with the next rows.
   * @param block Must have the columns given by {@link tokens}.
   * @returns Number of its rows; 0 after the last.
   */
  fill(block: SampleRecords): number {
    const { samplesPerQuery, queryEnd, isIssued } = this.#columns;
    let row = 0;
    while (row < block.rowCount && this.#query < queryEnd) {
      if (isIssued(this.#query)) {
        const end = Math.min(samplesPerQuery, this.#sampleOfQuery + block.rowCount - row);
        for (; this.#sampleOfQuery < end; this.#sampleOfQuery += 1) {
          this.#writeRow(block, row, this.#sampleOfQuery);
          row += 1;
        }
        if (this.#sampleOfQuery < samplesPerQuery) break;
      }
      this.#sampleOfQuery = 0;
      this.#query += 1;
    }
    return row;
  }

  #writeRow(block: SampleRecords, row: number, sampleOfQuery: number): void {
    const columns = this.#columns;
    const query = this.#query;
    const sample = query * columns.samplesPerQuery + sampleOfQuery;
    const scheduledNs = columns.scheduledNs[query] as number; // In range: the query was issued.
    const handedNs = columns.sampleHandedNs[sample] as number;
    block.part[row] = this.#part;
    block.query[row] = query;
    const sampleIndex = this.#sampleIndices[sample] as number;
    block.sampleIndex[row] = sampleIndex;
    if (block.promptTokens !== null) {
      block.promptTokens[row] = this.#promptTokensOf?.(sampleIndex) ?? 0;
    }
    block.scheduledNs[row] = scheduledNs;
    block.issuedNs[row] = columns.issuedNs[query] as number;
    block.handedNs[row] = handedNs === 0 ? Number.NaN : handedNs;
    block.completedNs[row] = columns.isCompleted(sample)
      ? scheduledNs + (columns.latencyNs[sample] as number)
      : Number.NaN;
    this.#writeService(block, row, sample);
    if (block.tokenCount !== null) block.tokenCount[row] = columns.tokenCounts?.[sample] ?? 0;
    if (block.firstTokenNs !== null) {
      block.firstTokenNs[row] = scheduledNs + (columns.firstTokenNs?.[sample] ?? Number.NaN);
    }
    if (block.longestGapNs !== null) {
      block.longestGapNs[row] = columns.isCompleted(sample)
        ? (columns.gaps?.longestNs(sample) ?? Number.NaN)
        : Number.NaN;
    }
  }

  #writeService({ node, service, decodeNs }: SampleRecords, row: number, sample: number): void {
    const seen = this.#columns.service;
    node[row] = seen?.nodeOf(sample) ?? -1;
    decodeNs[row] = seen?.decodeOf(sample) ?? Number.NaN;
    for (let i = 0; i < SERVICE_TIMES.length; i += 1) {
      const column = SERVICE_TIMES[i] as (typeof SERVICE_TIMES)[number];
      service[column][row] = seen?.timeOf(sample, i) ?? Number.NaN;
    }
  }
}

/** The records of a finished set as a table: a second copy, at least 76 bytes per sample. */
export function recordsOfSet(set: RecordedSet, promptTokensOf?: PromptTokensOf): SampleRecords {
  const rows = new SetRows(set, promptTokensOf);
  const records = allocateRecords(rows.rowCount, rows.tokens);
  rows.fill(records);
  if (rows.gaps !== null) records.tokenGaps?.addAll(rows.gaps);
  return records;
}
