import type { z } from 'zod';
import { configFileError, configInvalid, messageOf } from '../errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readNamedText } from './read-file.ts';

/**
 * Reads a JSON file and checks its form.
 * @param bytesMax One of `FILE_BYTES_MAX`.
 * @param wrong Follows the path where the form is wrong: what the file is not.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, is not JSON), `ERR_CONFIG_INVALID` (its form)
 */
export function readJsonFile<T>(
  path: string,
  schema: z.ZodType<T>,
  bytesMax: number = FILE_BYTES_MAX.document,
  wrong = '',
): T {
  const checked = schema.safeParse(parseJson(path, readNamedText(path, bytesMax)));
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? '' : ` ${issue.path.join('.')}:`;
  throw configInvalid(`${path}${wrong}:${where} ${issue?.message ?? 'is wrong'}`);
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = messageOf(error);
    throw configFileError(`${path} is not JSON: ${why}`, error);
  }
}
