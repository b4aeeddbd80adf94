import { describe, expect, it } from 'vitest';
import { machineFindings } from '../../../../../loadgen-node/operate/doctor/machine-findings.ts';
import type { NicFacts } from '../../../../../shared/host/network-facts.ts';
import { gatherSystemFacts } from '../../../../../shared/host/system-facts.ts';
import {
  readTuningFacts,
  type TuningFacts,
  UNLIMITED_BYTES,
} from '../../../../../shared/host/tuning-facts.ts';
import { containerTree, plantMachine } from '../../../../scenes/host/machines.ts';

// Goal: what would spoil a run is told with what to do, and what nobody can look at is said to be
// that. Method: one good machine, of which one thing is changed at a time; and machines of which
// nothing can be read.

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
  cpuWeight: 1,
  usableCores: 8,
  usableNumaNodes: 1,
  isolatedCpus: 0,
  usableIsolatedCpus: 0,
  interruptCpus: 2,
  usableInterruptCpus: 0,
  hasIrqBalancer: null,
  wakeUpUsMax: 10,
  energyPreferences: ['performance'],
  hugePageMode: 'madvise',
  swapUsedBytes: 0,
  swappedBytes: 0,
  lockedBytesMax: 2 ** 23,
  openFilesMax: 20_000,
  availableBytes: 8 * 1024 ** 3,
  tcpReceiveBytesMax: 6e6,
  tcpSendBytesMax: 4e6,
  runtimeFlags: ['--min-semi-space-size', '--single-threaded-gc'],
};

const RDMA_CARD: NicFacts = {
  name: 'ib0',
  fabric: 'InfiniBand',
  backing: 'hardware',
  madeOf: [],
  driver: 'mlx5_core',
  model: null,
  pciId: null,
  speedMbps: 100_000,
  duplex: 'full',
  mtu: 4092,
  linkState: 'up',
  addresses: [],
  hasRdma: true,
};

const unknown = await gatherSystemFacts(plantMachine({ files: {} }, '/nonexistent-machine'), []);
const facts = { ...unknown, processor: { ...unknown.processor, threads: 8 } };

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
      'uses both threads of its cores',
      'cores',
      'ok',
      { usableCores: 4 },
      /one thread of each core/,
    ],
    ['lies on two NUMA nodes', 'numa', 'ok', { usableNumaNodes: 2 }, /--membind/],
    [
      'spreads itself over isolated CPUs',
      'isolated-cpus',
      'warning',
      { isolatedCpus: 4, usableIsolatedCpus: 4 },
      /AllowedCPUs=/,
    ],
    ['leaves isolated CPUs alone', 'isolated-cpus', 'ok', { isolatedCpus: 4 }, /taskset/],
    [
      'takes interrupts on all its CPUs',
      'nic-interrupts',
      'ok',
      { usableInterruptCpus: 2 },
      /smp_affinity_list/,
    ],
    [
      'has a balancer of interrupts',
      'nic-interrupts',
      'ok',
      { usableInterruptCpus: 2, hasIrqBalancer: true },
      /IRQBALANCE_BANNED_CPULIST/,
    ],
    ['sleeps deeply', 'sleep-states', 'warning', { wakeUpUsMax: 890 }, /idle-set/],
    [
      'prefers to save energy',
      'energy-preference',
      'warning',
      { energyPreferences: ['balance_power'] },
      /tee .*energy_performance_preference/,
    ],
    ['has little weight', 'cpu-weight', 'warning', { cpuWeight: 0.002 }, /requests.cpu/],
    ['makes huge pages by itself', 'huge-pages', 'ok', { hugePageMode: 'always' }, /madvise/],
    ['has us in swap', 'swap', 'warning', { swappedBytes: 2 ** 20 }, /swapoff/],
    ['has others in swap', 'swap', 'ok', { swapUsedBytes: 2 ** 30 }, /swappiness/],
    [
      'collects garbage on several threads',
      'node-flags',
      'ok',
      { runtimeFlags: ['--min-semi-space-size'] },
      /--single-threaded-gc/,
    ],
    [
      'starts with a small young generation',
      'node-flags',
      'warning',
      { runtimeFlags: ['--single-threaded-gc'] },
      /start it by the program longhaul/,
    ],
  ])('that %s is told so', (_case, id, state, change, advice) => {
    const finding = findingsOf(change).find((one) => one.id === id);
    expect(finding?.state).toBe(state);
    expect(finding?.advice ?? '').toMatch(advice);
  });

  it('that gave the process CPUs of its own, and interrupts of cards to them, is told so', () => {
    const seen = (usableCpus: number, usableInterruptCpus: number) =>
      machineFindings({
        facts,
        tuning: { ...GOOD, usableCpus, usableCores: usableCpus, usableInterruptCpus },
        isLoadgen: false,
      }).find(({ id }) => id === 'nic-interrupts');
    expect(seen(4, 1)).toMatchObject({
      state: 'warning',
      seen: 'on 1 of the 4 CPUs of this process',
    });
    expect(seen(4, 0)).toMatchObject({ state: 'ok', advice: null });
    expect(seen(8, 2)?.state).toBe('ok');
  });

  it('with a card that reaches memory by itself is told what may be locked', async () => {
    const card = { ...facts, network: { ...facts.network, interfaces: [RDMA_CARD] } };
    const seen = (lockedBytesMax: number) =>
      machineFindings({ facts: card, tuning: { ...GOOD, lockedBytesMax }, isLoadgen: false }).find(
        ({ id }) => id === 'locked-memory',
      );
    expect(seen(2 ** 16)).toMatchObject({
      seen: '64 KiB',
      advice: expect.stringMatching(/infinity/),
    });
    expect(seen(UNLIMITED_BYTES)).toMatchObject({ seen: 'none', advice: null });
  });

  it('of which nothing can be read is not checkable, and no crash', async () => {
    const source = plantMachine({ files: {} });
    const findings = machineFindings({
      facts: await gatherSystemFacts(source, []),
      tuning: await readTuningFacts(source, ['--min-semi-space-size']),
      isLoadgen: false,
    });
    const states = findings.map(({ id, state }) => [id, state]);
    expect(states.filter(([, state]) => state === 'ok').map(([id]) => id)).toEqual([
      'machine',
      'cpu-quota',
      'node-flags',
    ]);
    expect(states.filter(([, state]) => state === 'warning' || state === 'error')).toEqual([]);
  });

  it('is named with what it runs in, and its settings not checkable where a node reports none', async () => {
    const inside = await gatherSystemFacts(plantMachine(containerTree()), []);
    const findings = machineFindings({ facts: inside, tuning: null, isLoadgen: false });
    expect(findings[0]?.seen).toMatch(/container \(/);
    expect(findings[1]).toMatchObject({ id: 'tuning', state: 'not checkable' });
  });
});
