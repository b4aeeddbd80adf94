import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { type DelayTimes, parseServiceTime } from '../../settings/delay-settings.ts';
import { readNumberList } from './number-list.ts';

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
