import { expect, it } from 'vitest';
import { composeAudit } from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import { brokenRules } from '../../../../../loadgen-node/run/judge/judge-run.ts';
import { auditFacts } from '../../../../scenes/simulated-run/audit-facts.ts';

// Goal: a rule of the Network division that is broken makes the run INVALID, by name. Method: an
// audit with one finding changed.

const audit = composeAudit(auditFacts());
const rule = audit.rules.find(({ kind }) => kind === 'rule');

it.each([
  { division: 'network', verdict: 'broken', count: 1 },
  { division: 'network', verdict: 'holds', count: 0 },
  { division: 'open', verdict: 'broken', count: 0 },
] as const)('a rule that is $verdict in division $division', ({ division, verdict, count }) => {
  const rules = audit.rules.map((one) => (one.id === rule?.id ? { ...one, verdict } : one));
  const run = { ...audit.run, division };
  const problems = brokenRules({ run, rules }, 'results/first');
  expect(problems).toHaveLength(count);
  if (count > 0) expect(problems[0]).toMatchObject({ rule: 'network-rules', seen: rule?.id });
});
