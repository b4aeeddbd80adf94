import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { RecordsAbout } from './arrow-schema.ts';
import type { RecordSet } from './record-set.ts';
import { type PartOfFile, RecordsReader } from './records-reader.ts';
import {
  type ColumnArray,
  copyRecords,
  presentColumns,
  type RecordColumn,
  type SampleRecords,
  tableFor,
} from './sample-records.ts';

/**
 * The records of a run, open for reading as if one host had written them: times since the earliest
 * start of a host, nodes numbered across all hosts.
 */
export class RecordSetReader {
  readonly set: RecordSet;
  /** By host. */
  readonly files: readonly RecordsReader[];
  /** Facts of the first host's records, with the nodes of all. */
  readonly about: RecordsAbout;
  readonly columns: readonly RecordColumn[];
  readonly parts: readonly PartOfFile[];
  /** Readable rows. */
  readonly rowCount: number;
  /** Text on the missing rows; null if all files are complete. */
  readonly cut: string | null;
  /** The nodes of all hosts, as returned by {@link keysOf}. */
  readonly #nodes: readonly string[];

  private constructor(set: RecordSet, files: readonly RecordsReader[]) {
    const first = files[0] as RecordsReader; // A set has one host at least.
    this.set = set;
    this.files = files;
    this.columns = first.columns;
    this.#nodes = [...new Set(files.flatMap(({ about }) => keysOf(about.nodes)))];
    const nodes = this.#nodes.map((key) => key.slice(key.indexOf(' ') + 1));
    this.about = { ...first.about, nodes };
    this.rowCount = sumOf(files, ({ rowCount }) => rowCount);
    if (files.length === 1) {
      this.parts = first.parts;
      this.cut = first.cut;
      return;
    }
    const rowsInAll = sumOf(files, ({ parts }) => parts[0]?.rowsInAll ?? 0);
    this.parts = [{ part: first.parts[0]?.part ?? 0, rowCount: this.rowCount, rowsInAll }];
    const cuts = files.flatMap(({ path, cut }) => (cut === null ? [] : [`${path}: ${cut}`]));
    this.cut = cuts.join('; ') || null;
  }

  /**
   * Opens the files of one or more hosts.
   * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`: as for a single file, and if
   *   files of several hosts do not belong together
   */
  static async open(set: RecordSet): Promise<RecordSetReader> {
    const files: RecordsReader[] = [];
    try {
      for (const { file } of set) files.push(await RecordsReader.open(file));
      checkTogether(files);
    } catch (error) {
      for (const file of files) await file.close();
      throw error;
    }
    return new RecordSetReader(set, files);
  }

  /**
   * Reads block by block, host by host; only one block is in memory.
   * @throws MlperfError `ERR_CONFIG_FILE`
   */
  async *blocks(): AsyncGenerator<SampleRecords> {
    for (const host of this.files.keys()) yield* this.#blocksOf(host);
  }

  /**
   * Reads all rows of these parts into one table, in plan order: at least 76 bytes per row.
   * @param parts Default: all.
   * @throws MlperfError `ERR_CONFIG_FILE`; `ERR_CONFIG_INVALID` if two hosts have the same query
   */
  async readAll(parts?: readonly number[]): Promise<SampleRecords> {
    const [first, ...others] = this.files;
    if (first !== undefined && others.length === 0) return await first.readAll(parts);
    const hostNames = this.set.map(({ host }) => host);
    const records = tableFor(this.rowCount, this.columns, hostNames);
    let at = 0;
    for (const host of this.files.keys()) {
      for await (const block of this.#blocksOf(host)) {
        copyRecords(records, at, block);
        records.hosts?.ofRow.fill(host, at, at + block.rowCount);
        at += block.rowCount;
      }
    }
    arrange(records, orderByQuery(records.query));
    this.#checkOnce(records);
    return records;
  }

  async close(): Promise<void> {
    for (const file of this.files) await file.close();
  }

  /** Blocks of one host, converted to the common clock and the common node numbers. */
  async *#blocksOf(host: number): AsyncGenerator<SampleRecords> {
    const file = this.files[host] as RecordsReader;
    const { startUnixNs } = this.set[host] as RecordSet[number];
    const earliest = this.set.reduce((a, b) => (b.startUnixNs < a.startUnixNs ? b : a));
    const offsetNs = Number(startUnixNs - earliest.startUnixNs);
    const nodes = keysOf(file.about.nodes).map((key) => this.#nodes.indexOf(key));
    for await (const block of file.blocks()) {
      for (const { type, of } of this.columns) {
        const values = of(block) as ColumnArray;
        // All Float64 columns are times since the start.
        if (type === 'int64') changeEach(values, (ns) => ns + offsetNs);
        else if (type === 'node') changeEach(values, (node) => nodes[node] ?? -1);
      }
      yield block;
    }
  }

  #checkOnce({ query, hosts }: SampleRecords): void {
    const ofRow = hosts?.ofRow ?? [];
    for (let row = 1; row < query.length; row += 1) {
      if (query[row] !== query[row - 1] || ofRow[row] === ofRow[row - 1]) continue;
      const [a, b] = [ofRow[row - 1], ofRow[row]].map((host) => this.files[host as number]?.path);
      throw configInvalid(`${a} and ${b} both have the query ${query[row]}`);
    }
  }
}

/** Unique keys for nodes with equal names; the first such node is `0 name`. */
function keysOf(nodes: readonly string[]): string[] {
  return nodes.map((name, i) => {
    return `${nodes.slice(0, i).filter((other) => other === name).length} ${name}`;
  });
}

function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}

/**
 * Refuses several hosts with several parts: later parts have their own time 0, which a set does not
 * record.
 */
function checkTogether([first, ...others]: readonly RecordsReader[]): void {
  if (first === undefined || others.length === 0) return;
  const formOf = ({ about, columns }: RecordsReader): string =>
    [about.scenario, about.benchmark, ...columns.map(({ name }) => name)].join(' ');
  for (const file of [first, ...others]) {
    if (file.parts.length > 1) {
      throw configInvalid(
        `${file.path} has ${file.parts.length} parts; one of several hosts has one`,
      );
    }
    if (formOf(file) === formOf(first)) continue;
    const text = `is of another scenario or benchmark, or has other columns, than ${first.path}`;
    throw configInvalid(`${file.path} ${text}`);
  }
}

function changeEach(values: ColumnArray, change: (value: number) => number): void {
  for (let row = 0; row < values.length; row += 1) values[row] = change(values[row] as number);
}

/** Row numbers in query order. */
function orderByQuery(query: Uint32Array): Uint32Array {
  return query.map((_, row) => row).sort((a, b) => (query[a] as number) - (query[b] as number));
}

/** Reorders the rows in place; one extra column is in memory. */
function arrange(records: SampleRecords, order: Uint32Array): void {
  const columns = presentColumns(records).map(({ of }) => of(records) as ColumnArray);
  for (const column of [...columns, records.hosts?.ofRow ?? new Uint16Array(0)]) {
    const before = column.slice();
    for (let row = 0; row < column.length; row += 1) {
      column[row] = before[order[row] as number] as number;
    }
  }
}
