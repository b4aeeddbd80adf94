import { rounded } from '../../../shared/base/figures/figure-text.ts';
import type { RecordColumn } from './record-columns.ts';
import type { RecordsReader } from './records-reader.ts';
import type { SampleRecords } from './sample-records.ts';

/**
 * All records as CSV (RFC 4180), block by block: a header with the names of the columns, which end with their units, then a line
 * per sample. An empty field: the sample has none.
 */
export async function* csvOf(reader: RecordsReader): AsyncGenerator<string> {
  const { columns, about } = reader;
  yield `${columns.map(({ name }) => name).join(',')}\r\n`;
  const names = about.nodes.map(quoted);
  for await (const block of reader.blocks()) yield linesOf(block, columns, names);
}

function linesOf(
  block: SampleRecords,
  columns: readonly RecordColumn[],
  nodes: readonly string[],
): string {
  const fields = columns.map((column) => fieldsOf(column, block, nodes));
  const lines: string[] = [];
  for (let row = 0; row < block.rowCount; row += 1) {
    let line = '';
    for (const [i, field] of fields.entries()) line += i === 0 ? field(row) : `,${field(row)}`;
    lines.push(line);
  }
  return `${lines.join('\r\n')}\r\n`;
}

function fieldsOf(
  { type, of }: RecordColumn,
  block: SampleRecords,
  nodes: readonly string[],
): (row: number) => string {
  const values = of(block);
  if (values === null) return () => '';
  if (type === 'node') return (row) => nodes[values[row] as number] ?? '';
  return (row) => {
    const value = values[row] as number;
    if (Number.isNaN(value)) return '';
    // 9 digits tell every 32-bit number from its neighbours.
    return type === 'float32' && !Number.isInteger(value) ? rounded(value, 9) : String(value);
  };
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
