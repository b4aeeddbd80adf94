import { describe, expect, it } from 'vitest';
import { SCENARIOS } from '../../../shared/domain/scenario.ts';
import { runJob } from '../../bench/engine-job.ts';
import { IS_THOROUGH } from '../../scenes/host/thorough.ts';

// Goal: the benchmark cannot rot. Method: each kind of job, as small as it can be; no figure is
// judged.
describe('the engine benchmark', () => {
  it.each(SCENARIOS)('runs %s flat out', async (scenario) => {
    const result = await runJob({ kind: 'flat-out', scenario, count: 1000 });
    expect(result.issuedSamples).toBe(scenario === 'MultiStream' ? 8000 : 1000);
    expect(result.issueS).toBeGreaterThan(0);
    expect(result.summaryS).toBeGreaterThan(0);
  });

  it('measures the issue delay', async () => {
    const { delayUs } = await runJob({ kind: 'delay', qps: 1000, seconds: 0.05 });
    expect(delayUs).toHaveLength(4);
    expect(delayUs.every((us, i) => us >= (delayUs[i - 1] ?? 0))).toBe(true);
  });

  it.runIf(IS_THOROUGH)('runs ten minutes of virtual time to a limit', async () => {
    const result = await runJob({
      kind: 'simulated',
      scenario: 'SingleStream',
      rule: 'max-query-count',
    });
    expect(result).toMatchObject({ endCause: 'max-query-count', issuedQueries: 600_000 });
  });
});
