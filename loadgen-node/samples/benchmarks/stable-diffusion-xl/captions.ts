import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { withoutByteOrderMark } from '../../../../shared/base/text.ts';
import { readingFile } from '../../data-set/data-set.ts';

/** The list of prompts, in the folder of the data set. */
export const CAPTIONS_FILE = 'captions/captions.tsv';

/**
 * Captions: row i after the heading is sample i. Columns are separated by tabs; a field may be
 * quoted, with quotes doubled inside, as pandas writes it.
 * @throws MlperfError `ERR_DATA_SET` with file and line.
 */
export async function readCaptions(folder: string): Promise<string[]> {
  const path = join(folder, CAPTIONS_FILE);
  const text = withoutByteOrderMark(await readingFile(path, () => readFile(path, 'utf8')));
  const [heading = '', ...lines] = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const columns = heading.split('\t');
  const column = columns.indexOf('caption');
  if (column < 0) throw dataSetError(`${path}: the first line names no column "caption"`);
  if (lines.length === 0) throw dataSetError(`${path} has no caption`);
  return lines.map((line, i) => {
    const fields = line.split('\t');
    const field = fields[column] ?? '';
    const caption = /^".*"$/s.test(field) ? field.slice(1, -1).replaceAll('""', '"') : field;
    if (fields.length === columns.length && caption !== '') return caption;
    throw dataSetError(
      `${path}, line ${i + 2}: has ${fields.length} fields of ${columns.length}${caption === '' ? ', and no caption' : ''}`,
    );
  });
}
