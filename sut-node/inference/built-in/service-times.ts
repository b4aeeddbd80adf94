import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../shared/base/files/read-file.ts';
import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { type DelayTimes, parseServiceTime } from '../../settings/delay-settings.ts';

/** Which of the sequences of one seed; token counts have another. */
const STREAM = 1;

/**
 * Service times one after the other, in whole ns, 0 or more. The same in every node with the same settings.
 * @throws MlperfError `ERR_MODEL` for a list that cannot be read
 */
export async function serviceTimes(times: DelayTimes, seed: number): Promise<() => number> {
  switch (times.kind) {
    case 'fixed':
      return () => times.ns;
    case 'exponential': {
      const random = new SeededRandom(seed, STREAM);
      // By inversion; 1 - u is never 0. 32 bits of u end the tail at 22 times the mean.
      return () => Math.round(-times.meanNs * Math.log(1 - random.uniform(0, 1)));
    }
    case 'list':
      return inTurn(await readNumberList(times.file, parseServiceTime, 'a time such as 10ms'));
  }
}

/** The numbers in their order, and again from the start. */
export function inTurn(numbers: Float64Array): () => number {
  let next = 0;
  return () => {
    const number = numbers[next] as number; // In range: below the length, which is 1 or more.
    next = (next + 1) % numbers.length;
    return number;
  };
}

/**
 * Reads a file with one number per line; empty lines are passed over.
 * @param parse Undefined for a line that is no such number.
 * @param like What a line should be, for the message: "a time such as 10ms".
 * @returns 1 or more numbers, in the file's order.
 * @throws MlperfError `ERR_MODEL` when the file cannot be read, has nothing in it, or a wrong line.
 */
export async function readNumberList(
  file: string,
  parse: (line: string) => number | undefined,
  like: string,
): Promise<Float64Array> {
  let content: string;
  try {
    content = readBoundedText(file, FILE_BYTES_MAX.list);
  } catch (error) {
    const what = `list ${file} cannot be read: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_MODEL', what, { cause: error });
  }
  const numbers: number[] = [];
  for (const [i, text] of content.split('\n').entries()) {
    const line = text.trim();
    if (line === '') continue;
    const number = parse(line);
    if (number === undefined) {
      const seen = JSON.stringify(line.slice(0, 40));
      throw new MlperfError('ERR_MODEL', `list ${file}, line ${i + 1}: ${seen} should be ${like}`);
    }
    numbers.push(number);
  }
  if (numbers.length === 0) {
    throw new MlperfError('ERR_MODEL', `list ${file} is empty; it needs a line with ${like}`);
  }
  return Float64Array.from(numbers);
}
