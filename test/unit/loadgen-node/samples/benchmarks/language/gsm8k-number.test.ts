import { expect, it } from 'vitest';
import { isRightNumber } from '../../../../../../loadgen-node/samples/benchmarks/language/gsm8k-number.ts';

// Goal: the answer is found as the official script finds it. Method: its rules, one by one.

it.each([
  ['The answer is 5', '5', true],
  ['The answer is 5. The answer is 7%', '7', true],
  ['The answer is 5. The answer is 7%', '5', false],
  ['1 and 2 are 3', '3', true],
  ['So 4. The answer is unknown', '4', true],
  ['It costs $1,234.50', '1234.5', true],
  ['-,5', '-5', true],
  ['5.0', '5', true],
  ['3\nQ: and then? The answer is 9', '3', true],
  ['no number', '0', false],
  ['', '', false],
  ['1,000', '1,000', false],
  ['.5', '0.5', true],
  ['12.', '12', true],
])('%j against %s is %s', (answer, target, isRight) => {
  expect(isRightNumber(answer, target)).toBe(isRight);
});
