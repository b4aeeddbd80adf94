import { compareEngines, comparisonText } from '../official/compare-engines.ts';
import { verb } from './verb.ts';

/** `longhaul loadgen compare`: the logs of both engines on one run. */
export const compareEnginesVerb = verb({
  takes: { '<folder>': 'folder of a run by --engine cpp' },
  example: `
Example:
  longhaul loadgen compare results/server

Exit codes: 0 both planned, counted and judged the same, 3 they did not.`,
  action: async (_call, folder: string) => {
    const comparison = await compareEngines(folder);
    const { differing, hasSameAccuracyLog } = comparison;
    return {
      text: comparisonText(comparison),
      json: comparison,
      isGood: differing.length === 0 && hasSameAccuracyLog,
    };
  },
});
