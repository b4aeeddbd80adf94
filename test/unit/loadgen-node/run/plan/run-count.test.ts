import { expect, it } from 'vitest';
import { planRun } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { onlyTarget } from '../../../../../loadgen-node/run/plan/target.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';

// Goal: Server of round v0.5 has five performance runs, whatever they are made with; nothing else
// has. Method: flags as texts.

it.each([
  ['v0.5', 'server', 'performance', 5],
  ['v0.5', 'server', 'submission', 5],
  ['v0.5', 'server', 'accuracy', 1],
  ['v0.5', 'multi-stream', 'submission', 1],
  ['v0.5', 'single-stream', 'performance', 1],
  ['v0.5', 'offline', 'submission', 1],
  ['v4.1', 'server', 'submission', 1],
] as const)('%s %s in mode %s: %i', (round, scenario, mode, count) => {
  const flags = { sut: 'a:1', benchmark: 'resnet50', targetQps: '10', round, scenario, mode };
  const { values, settings } = resolve(flags);
  expect(planRun(values, { asked: settings }).runCount).toBe(count);
});

it('holds every scenario of v0.5 to the rules over the network, as it has no suites', () => {
  const of = (round: string) => {
    const flags = { sut: 'a:1', benchmark: 'resnet50', round, scenario: 'single-stream' };
    const { values, settings } = resolve(flags);
    return onlyTarget(planRun(values, { asked: settings })).dispatch.division;
  };
  expect([of('v0.5'), of('v4.1')]).toEqual(['network', 'open']);
});

function resolve(flags: Record<string, string>) {
  return resolveSettings(RUN_SETTINGS, { section: 'run', file: undefined, flags });
}
