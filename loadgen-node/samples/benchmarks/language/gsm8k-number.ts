/** A number in a text: perhaps a sign, commas between digits, a point. */
import { at } from '../../../../shared/base/at.ts';

const NUMBERS = /-?[\d,]*\.?\d+/g;

/** Words in front of the answer. */
const ANSWER_WORDS = 'The answer is';

/** A number of its own as Python's `float` reads it; no other form is in the data. */
const FLOAT = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/**
 * True where an answer of GSM8K has the right number: the first one behind the last "The answer is", else the last one of
 * the text. What begins with the next question does not count.
 * Source: mlcommons/inference, language/mixtral-8x7b/evaluate-accuracy.py.
 */
export function isRightNumber(answer: string, target: string): boolean {
  if (!FLOAT.test(target)) return false;
  const text = at(answer.split('\nQ:', 1), 0);
  const behind = text.includes(ANSWER_WORDS) ? text.split(ANSWER_WORDS).at(-1) : '';
  const found = behind?.match(NUMBERS)?.[0] ?? text.match(NUMBERS)?.at(-1);
  return found !== undefined && Number(found.replaceAll(',', '')) === Number(target);
}
