import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planRun, type RunPlan } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

function plan(flags: Record<string, string>): RunPlan {
  const all = { sut: 'a:1', benchmark: 'digits', ...flags };
  const { values } = resolveSettings(RUN_SETTINGS, { section: 'run', file: undefined, flags: all });
  return planRun(values, { said: new Set(Object.keys(all)) });
}

const OPEN = { division: 'open' };

// Goal: arrivals decide what they say.
// Method: flags as texts, up to the plan.
describe('arrivals of a run', () => {
  it('changes nothing of a plan where LoadGen has its own arrivals', () => {
    const { output: _a, ...plain } = plan({ targetQps: '10' });
    const { output: _b, ...said } = plan({ targetQps: '10', arrivals: 'poisson' });
    expect(said).toEqual(plain);
    expect(plain.arrivals).toBeUndefined();
  });

  it('takes mean rate and end of steps from them, whatever a round says', () => {
    const flags = { ...OPEN, arrivals: 'step:10@30s,40@10s', round: 'v6.1' };
    const { settings, arrivals } = plan(flags);
    expect(settings).toMatchObject({ serverTargetQps: 17.5, minDurationMs: 0, minQueryCount: 1 });
    expect(arrivals).toMatchObject({ kind: 'step', text: 'step:10@30s,40@10s' });
  });

  it('takes them from a trace', () => {
    const file = join(tempFolder(), 'trace.txt');
    writeFileSync(file, '3\n4\n5\n');
    const { settings, arrivals } = plan({ ...OPEN, arrivals: `trace:${file}@2` });
    expect(settings).toMatchObject({ serverTargetQps: 2, minDurationMs: 0, minQueryCount: 1 });
    expect(arrivals).toMatchObject({ dueNs: Float64Array.of(0, 0.5e9, 1e9) });
  });

  it("leaves duration and count to LoadGen's rules in constant arrivals and bursts", () => {
    const settings = { serverTargetQps: 20, minDurationMs: 5000, minQueryCount: 7 };
    const flags = { ...OPEN, minDuration: '5s', minQueryCount: '7' };
    expect(plan({ ...flags, arrivals: 'constant', targetQps: '20' }).settings).toMatchObject(
      settings,
    );
    expect(plan({ ...flags, arrivals: 'burst:10@500ms' }).settings).toMatchObject(settings);
  });

  it('plans a closed loop', () => {
    const closed = plan({ ...OPEN, concurrency: '16' });
    expect(closed.arrivals).toMatchObject({ kind: 'closed-loop', concurrency: 16 });
    expect(closed.settings).toMatchObject({ serverTargetQps: 1e5, minDurationMs: 10_000 });
    const hours = plan({ ...OPEN, concurrency: '16', minDuration: '2h' });
    expect(hours.settings.serverTargetQps).toBeCloseTo(2 ** 24 / 7200);
  });

  it.each([
    ['a rate', { targetQps: '5' }, 'ERR_CONFIG_INVALID', 'the rate is a result'],
    ['arrivals', { arrivals: 'constant' }, 'ERR_CONFIG_INVALID', 'has no arrivals'],
    ['no query', { concurrency: '0' }, 'ERR_CONFIG_INVALID', 'must be 1 or more'],
  ])('refuses a closed loop with %s', (_case, flags, code, message) => {
    expect(() => plan({ ...OPEN, concurrency: '16', ...flags } as Record<string, string>)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  it.each([
    [
      'no rate',
      { ...OPEN, targetQps: undefined },
      'ERR_CONFIG_INVALID',
      '--target-qps <n> is needed',
    ],
    [
      'a rate twice',
      { ...OPEN, arrivals: 'burst:5@1s' },
      'ERR_CONFIG_INVALID',
      '--target-qps and --arrivals burst:5@1s: the rate is decided by the arrivals alone',
    ],
    [
      'a duration beside steps',
      { ...OPEN, targetQps: undefined, arrivals: 'step:5@1s', minDuration: '9s' },
      'ERR_CONFIG_INVALID',
      '--min-duration and --arrivals step:5@1s: the end of the run is decided by the arrivals alone',
    ],
    [
      'a count beside steps',
      { ...OPEN, targetQps: undefined, arrivals: 'step:5@1s', minQueryCount: '9' },
      'ERR_CONFIG_INVALID',
      '--min-query-count and --arrivals step:5@1s',
    ],
    [
      'a trace that is not there',
      { ...OPEN, targetQps: undefined, arrivals: 'trace:/nowhere/trace.txt' },
      'ERR_CONFIG_FILE',
      'cannot read the trace /nowhere/trace.txt: there is no such file',
    ],
    ['a text that is none', { ...OPEN, arrivals: 'wave' }, 'ERR_CONFIG_INVALID', 'must be one of'],
  ])('refuses %s', (_case, flags, code, message) => {
    const all = { arrivals: 'constant', targetQps: '5', ...flags };
    const said = Object.entries(all).filter(([, value]) => value !== undefined);
    const run = (): RunPlan => plan(Object.fromEntries(said) as Record<string, string>);
    expect(run).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });
});
