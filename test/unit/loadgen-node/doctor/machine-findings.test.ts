import { describe, expect, it } from 'vitest';
import { machineFindings } from '../../../../loadgen-node/doctor/machine-findings.ts';
import { gatherSystemFacts } from '../../../../shared/host/gather-system-facts.ts';
import { readTuningFacts, type TuningFacts } from '../../../../shared/host/tuning-facts.ts';
import { containerTree, plantMachine } from '../../../support/machine-trees.ts';

// Goal: what would spoil a run is told with what to do, and what nobody can look at is said to be that.
// Method: one good machine, of which one thing is changed at a time; and machines of which nothing can be read.

const GOOD: TuningFacts = {
  governors: ['performance'],
  limitMhz: 3000,
  hardwareMhz: 3000,
  clockSource: 'tsc',
  stealShare: 0,
  busyShare: 0.02,
  usableCpus: 8,
  quotaCpus: null,
  quotaPeriods: null,
  throttledPeriods: null,
  openFilesMax: 20_000,
  availableBytes: 8 * 1024 ** 3,
  tcpReceiveBytesMax: 6e6,
  tcpSendBytesMax: 4e6,
  runtimeFlags: ['--single-threaded-gc'],
};

const facts = await gatherSystemFacts(plantMachine({ files: {} }, '/nonexistent-machine'), []);

function findingsOf(change: Partial<TuningFacts>) {
  return machineFindings({ facts, tuning: { ...GOOD, ...change }, isLoadgen: true });
}

describe('a machine', () => {
  it('without anything wrong has no advice', () => {
    for (const finding of findingsOf({})) {
      expect(finding).toMatchObject({ state: 'ok', advice: null });
    }
  });

  it.each<[string, string, string, Partial<TuningFacts>, RegExp]>([
    [
      'saves power',
      'cpu-governor',
      'warning',
      { governors: ['performance', 'powersave'] },
      /cpupower.*-g performance/,
    ],
    ['shows no governor', 'cpu-governor', 'not checkable', { governors: [] }, /^$/],
    ['has a bound frequency', 'cpu-frequency-limit', 'warning', { limitMhz: 2000 }, /-u 3000MHz/],
    ['has one CPU', 'cpus', 'warning', { usableCpus: 1 }, /two or more/],
    [
      'is throttled',
      'cpu-quota',
      'warning',
      { quotaCpus: 2, quotaPeriods: 10, throttledPeriods: 3 },
      /--cpus/,
    ],
    [
      'has a quota',
      'cpu-quota',
      'warning',
      { quotaCpus: 2, quotaPeriods: 10, throttledPeriods: 0 },
      /--cpus/,
    ],
    ['is busy', 'other-load', 'warning', { busyShare: 0.5 }, /top/],
    [
      'has a hypervisor that takes some',
      'steal',
      'warning',
      { stealShare: 0.03 },
      /dedicated CPUs/,
    ],
    ['has a hypervisor that takes much', 'steal', 'error', { stealShare: 0.2 }, /dedicated CPUs/],
    ['reads a slow clock', 'clock-source', 'warning', { clockSource: 'hpet' }, /tsc/],
    ['has little memory', 'memory', 'warning', { availableBytes: 5e8 }, /swapping/],
    ['may open few files', 'open-files', 'warning', { openFilesMax: 256 }, /ulimit -n 1024/],
    [
      'collects garbage on several threads',
      'node-flags',
      'ok',
      { runtimeFlags: [] },
      /--single-threaded-gc/,
    ],
  ])('that %s is told so', (_case, id, state, change, advice) => {
    const finding = findingsOf(change).find((one) => one.id === id);
    expect(finding?.state).toBe(state);
    expect(finding?.advice ?? '').toMatch(advice);
  });

  it('of which nothing can be read is not checkable, and no crash', async () => {
    const source = plantMachine({ files: {} });
    const findings = machineFindings({
      facts: await gatherSystemFacts(source, []),
      tuning: await readTuningFacts(source, []),
      isLoadgen: false,
    });
    const states = findings.map(({ id, state }) => [id, state]);
    expect(states.filter(([, state]) => state === 'ok').map(([id]) => id)).toEqual([
      'machine',
      'cpu-quota',
    ]);
    expect(states.filter(([, state]) => state === 'warning' || state === 'error')).toEqual([]);
  });

  it('is named with what it runs in, and its settings not checkable where a node tells none', async () => {
    const inside = await gatherSystemFacts(plantMachine(containerTree()), []);
    const findings = machineFindings({ facts: inside, tuning: null, isLoadgen: false });
    expect(findings[0]?.seen).toMatch(/container \(/);
    expect(findings[1]).toMatchObject({ id: 'tuning', state: 'not checkable' });
  });
});
