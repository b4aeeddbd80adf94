import { dataSetError, type MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { readJson } from '../../data-set/read-json.ts';

/** A sample, and the expected answer. */
export interface TextRow {
  /** Text to be tokenized, or token ids. */
  readonly input: string | Int32Array;
  readonly target: string;
  /** Kind of the scorer that scores the answer. */
  readonly kind: string;
  /**
   * True if a program in a made-up language is correct; absent for real programs, which longhaul
   * does not execute.
   */
  readonly passes?: (program: string) => boolean;
}

/** Reads a file's row by column; a value of the wrong type is an error naming file and row. */
export interface RowReader {
  /** @throws MlperfError `ERR_DATA_SET` */
  text(column: string): string;
  /** A text or a number, as text. @throws MlperfError `ERR_DATA_SET` */
  textOrNumber(column: string): string;
  /** 1 to `max` token ids. @throws MlperfError `ERR_DATA_SET` */
  tokens(column: string, max: number): Int32Array;
  /** Makes an error for the row. */
  wrong(what: string): MlperfError;
}

/**
 * Reads a JSON file that is a list of rows.
 * @throws MlperfError `ERR_DATA_SET` with the file and the row, counted from 0 like samples.
 */
export async function readTextRows(
  path: string,
  read: (row: RowReader) => TextRow,
): Promise<TextRow[]> {
  const json = await readJson(path);
  if (!Array.isArray(json) || json.length === 0) {
    throw dataSetError(`${path} is not a list of rows, [{...}, {...}]`);
  }
  return json.map((row: unknown, index) => read(readerOf(row, path, index)));
}

function readerOf(row: unknown, path: string, index: number): RowReader {
  const wrong = (what: string): MlperfError => dataSetError(`${path}, row ${index}: ${what}`);
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    throw wrong('it is not an object with a value for each column');
  }
  const values = row as Readonly<Record<string, unknown>>;
  const text = (column: string): string => {
    const value = values[column];
    if (typeof value === 'string') return value;
    throw wrong(`"${column}" must be a text; ${seen(value)}`);
  };
  return {
    wrong,
    text,
    textOrNumber: (column) =>
      typeof values[column] === 'number' ? String(values[column]) : text(column),
    tokens: (column, max) => {
      const ids = values[column];
      if (!Array.isArray(ids) || ids.length === 0 || ids.length > max) {
        const count = Array.isArray(ids) ? `it has ${ids.length}` : seen(ids);
        throw wrong(`"${column}" must be a list of 1 to ${max} token ids; ${count}`);
      }
      const odd = ids.findIndex((id) => typeof id !== 'number' || id !== (id | 0) || id < 0);
      if (odd === -1) return Int32Array.from(ids as number[]);
      throw wrong(`"${column}"[${odd}] must be a token id; ${seen(ids[odd])}`);
    },
  };
}

/** Most characters of a value in a message. */
const SHOWN_CHARACTERS = 40;

function seen(value: unknown): string {
  if (value === undefined) return 'there is none';
  return `it is ${JSON.stringify(value).slice(0, SHOWN_CHARACTERS)}`;
}
