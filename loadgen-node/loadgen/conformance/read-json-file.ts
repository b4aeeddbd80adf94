import { z } from 'zod';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readNamedText } from '../../../shared/base/files/read-file.ts';

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
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `${path}${wrong}:${where} ${issue?.message ?? 'is wrong'}`,
  );
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new MlperfError('ERR_CONFIG_FILE', `${path} is not JSON: ${why}`, { cause: error });
  }
}

const COUNT_MESSAGE = 'must be a whole number of 1 or more';
const count: z.ZodType<number> = z.int(COUNT_MESSAGE).min(1, COUNT_MESSAGE);

/** Counts of the sample library. */
export const librarySchema: z.ZodType<{ total: number; performance: number }> = z.object(
  { total: count, performance: count },
  'must be an object with total and performance',
);

/** Settings by LoadGen's names. Texts: a JSON number of 64 bits would lose digits on the way. */
export const argsSchema: z.ZodType<Record<string, string>> = z.record(
  z.string(),
  z.string('must be a text in quotes: JSON numbers lose digits of 64-bit values'),
  'must be an object with the settings as texts',
);
