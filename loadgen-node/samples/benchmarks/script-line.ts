import { formatFixed } from '../../loadgen/base/number-format.ts';

/** The line that accuracy-imagenet.py prints: checkers of submissions read it. */
export function formatScriptLine(correctCount: number, sampleCount: number): string {
  const percent = sampleCount === 0 ? 0 : (100 * correctCount) / sampleCount;
  return `accuracy=${formatFixed(percent, 3)}%, good=${correctCount}, total=${sampleCount}`;
}
