import { readAudit } from '../observe/network-audit.ts';
import { brokenFindings } from '../run/audit/compose-audit.ts';
import { explainAudit } from '../run/audit/explain-audit.ts';
import { verb } from './verb.ts';

/** `longhaul audit`: which of the Network division's rules a run keeps, breaks, or cannot prove. */
export const auditVerb = verb({
  takes: { '<run-dir>': 'output folder of a run' },
  json: 'first',
  example: `
Example:
  longhaul audit results/first

Exit codes: 0 no rule is broken, 3 a rule is broken (also when LoadGen and SUT are on one machine)
or the run was interrupted, 2 the file is missing, damaged, or of another version.`,
  action: (_, folder: string) => {
    const found = readAudit(folder);
    const brokenRules = brokenFindings(found).map(({ id }) => id);
    const isClean = brokenRules.length === 0 && !found.run.wasInterrupted;
    const json = { isClean, brokenRules, audit: found };
    return { text: explainAudit(found), json, isGood: isClean };
  },
});
