/** A number in a text: optional sign, commas between digits, decimal point. */
import { at } from '../../../../shared/base/at.ts';

const NUMBERS = /-?[\d,]*\.?\d+/g;

/** Words before the answer. */
const ANSWER_WORDS = 'The answer is';

/** A number in the form of Python's `float`; other forms do not occur. */
const FLOAT = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/**
 * True if an answer to GSM8K has the correct number: the first after the last "The answer is",
 * otherwise the last in the text. Text from the next question on is ignored. Source:
 * mlcommons/inference, language/mixtral-8x7b/evaluate-accuracy.py.
 */
export function isRightNumber(answer: string, target: string): boolean {
  if (!FLOAT.test(target)) return false;
  const text = at(answer.split('\nQ:', 1), 0);
  const behind = text.includes(ANSWER_WORDS) ? text.split(ANSWER_WORDS).at(-1) : '';
  const found = behind?.match(NUMBERS)?.[0] ?? text.match(NUMBERS)?.at(-1);
  return found !== undefined && Number(found.replaceAll(',', '')) === Number(target);
}
