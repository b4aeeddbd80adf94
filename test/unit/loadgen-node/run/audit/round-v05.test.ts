import { describe, expect, it } from 'vitest';
import type { AuditFacts } from '../../../../../loadgen-node/observe/network-audit.ts';
import {
  brokenFindings,
  composeAudit,
} from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import { explainAudit } from '../../../../../loadgen-node/run/audit/explain-audit.ts';
import { brokenRules } from '../../../../../loadgen-node/run/judge/judge-run.ts';
import { divisionMarks } from '../../../../../loadgen-node/run/judge/run-notes.ts';
import { divisionInWords } from '../../../../../shared/rules/rounds/rounds.ts';
import { auditFacts } from '../../../../scenes/simulated-run/audit-facts.ts';

// Goal: the audit of a run of round v0.5, which has no Network division, says whose rules it is
// held to, and quotes v0.5 where that has a rule. Method: the facts of a run in which everything
// holds, in both rounds.

function factsOf(round: string, scenario = 'Server'): AuditFacts {
  const facts = auditFacts();
  return { ...facts, run: { ...facts.run, round, scenario } };
}

describe('the audit of a run of round v0.5', () => {
  const audit = composeAudit(factsOf('v0.5'));
  const sourceOf = (id: string) => audit.rules.find((rule) => rule.id === id)?.source;

  it('says of every rule of the Network division that v0.5 has none such', () => {
    const later = audit.rules.filter(({ source }) => source.includes('inference_rules v4.1'));
    expect(later.length).toBeGreaterThan(10);
    for (const { source } of later) expect(source).toContain('round v0.5 has no such rule');
    const v41 = composeAudit(factsOf('v4.1'));
    expect(JSON.stringify(v41.rules)).not.toContain('v0.5');
  });

  it('quotes v0.5 where it has a rule', () => {
    expect(sourceOf('no-caching-at-sut')).toMatch(
      /^inference_rules v0\.5.*"Caching of any queries/,
    );
    expect(sourceOf('all-queries-cross')).toContain('"Caching of any queries');
    expect(sourceOf('compression-allowed')).toContain('"All imaging benchmarks take uncropped');
    expect(sourceOf('network-division')).toBe('paper of round v0.5, section 5.1.1');
  });

  it('has a head that says so, within the width of the screen', () => {
    const text = explainAudit(audit);
    expect(text).toMatch(/^Round +v0\.5, which has no Network division/m);
    expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect(explainAudit(composeAudit(factsOf('v4.1')))).not.toContain('v0.5');
  });

  it.each(['SingleStream', 'MultiStream', 'Server', 'Offline'])('knows %s', (scenario) => {
    expect(brokenFindings(composeAudit(factsOf('v0.5', scenario)))).toEqual([]);
  });

  it('names the round whose rule a run breaks', () => {
    const rules = audit.rules.map((one) => ({ ...one, verdict: 'broken' as const }));
    const [problem] = brokenRules({ run: audit.run, rules }, 'results/first');
    expect(problem?.text).toContain('of v4.1, which a run of v0.5 is held to');
  });
});

it('a run of v0.5 is called a run of no division, also in its notes', () => {
  expect(divisionInWords('v4.1', 'network')).toBe('network division');
  expect(divisionInWords('v0.5', 'network')).toBe('over a network, which v0.5 has no division for');
  expect(divisionInWords('v0.5', 'open')).toBe('open division');
  expect(divisionMarks({ division: 'network', round: 'v0.5' })[0]).toContain('has no Network');
  expect(divisionMarks({ division: 'network', round: 'v4.1' })).toEqual([]);
});
