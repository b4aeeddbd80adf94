import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import type { DecoderLayout } from '../../model/model-facts.ts';
import type { CachedDecoder, Scores } from './cached-decoder.ts';

/**
 * Largest difference of scores that may be rounding, as a share of their standard deviation: a
 * model may add in another order for other numbers of rows and cached tokens. Decoders of 12 and 32
 * layers with random weights differed by about 1e-6, and by 0.3 to 0.9 if positions were wrongly
 * counted from the cache's length. The margin allows models that quantise by the contents of their
 * batch.
 */
const DIFFERENCE_MAX = 0.2;

/**
 * Checks that a model gives a sequence in padded slots the same scores as alone without padding.
 * Some graphs do not: they count positions from the cache's length, or expect padding on the right.
 * @param prompts Concurrent sequences of different lengths, so that shorter ones have much padding.
 * @param next Tokens that follow in each of them.
 * @throws MlperfError `ERR_MODEL`, or an Error of the model
 */
export async function checkFilling(
  model: CachedDecoder,
  { hasPositions }: DecoderLayout,
  prompts: readonly (readonly number[])[],
  next: readonly number[],
): Promise<void> {
  const alone: Scores[][] = [];
  for (const prompt of prompts) alone.push(await model.scoresAlone(prompt, next));
  for (const prompt of prompts) await model.enter(prompt);
  for (const [i, token] of next.entries()) {
    const found = await model.step(prompts.map(() => token));
    for (const [row, scores] of found.entries()) {
      const difference = differenceOf(scores, alone[row]?.[i + 1] as Scores); // As many.
      if (difference <= DIFFERENCE_MAX) continue;
      const share = Number.isFinite(difference)
        ? `by ${Math.round(100 * difference)} %`
        : 'beyond measure';
      throw modelError(
        `the model gives other scores if its cache has padding: after token ${(prompts[row]?.length ?? 0) + i + 1} of a sequence, the scores ` +
          `differ ${share} from those of the sequence alone (at most ${100 * DIFFERENCE_MAX} % is accepted). Shorter sequences are ` +
          'padded on the left; attention_mask hides the padding, and position_ids gives the positions. Export the model so that it uses these inputs, ' +
          "as Hugging Face's optimum does (text-generation-with-past): with the input position_ids" +
          `${hasPositions ? '' : ', which the model lacks'}, and without operators that take positions from the length of the cache or expect padding on the right, such as ` +
          'GroupQueryAttention',
      );
    }
  }
  model.keep([]);
}

/**
 * Root mean square of the differences, as a share of the standard deviation. Scores may be negative
 * infinity in both.
 */
function differenceOf(found: Scores, right: Scores): number {
  const numbers = right.filter(Number.isFinite);
  const mean = numbers.reduce((sum, score) => sum + score / numbers.length, 0);
  const spread = numbers.reduce((sum, score) => sum + (score - mean) ** 2, 0);
  let apart = 0;
  for (const [i, score] of right.entries()) {
    if (found[i] !== score) apart += ((found[i] as number) - score) ** 2;
  }
  return apart === 0 ? 0 : Math.sqrt(apart / spread);
}
