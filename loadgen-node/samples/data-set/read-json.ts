import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { dataSetError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { checkedForm } from '../../../shared/base/files/json-form.ts';
import { withoutByteOrderMark } from '../../../shared/base/text.ts';
import { readingFile } from './data-set.ts';

/** Reads a JSON file of a data set. @throws MlperfError `ERR_DATA_SET` naming the file */
export async function readJson(path: string): Promise<unknown> {
  const text = withoutByteOrderMark(await readingFile(path, () => readFile(path, 'utf8')));
  if (text === '') throw dataSetError(`${path} is empty`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw dataSetError(`${path} is not JSON: ${messageOf(error)}`, error);
  }
}

/**
 * {@link readJson}, then checks the form. @throws MlperfError `ERR_DATA_SET` with the file and the
 * wrong entry
 */
export async function readJsonForm<T>(path: string, form: z.ZodType<T>): Promise<T> {
  const checked = checkedForm(form, await readJson(path));
  if ('data' in checked) return checked.data;
  throw dataSetError(`${path}: ${checked.wrong}`);
}
