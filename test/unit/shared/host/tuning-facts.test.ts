import { describe, expect, it } from 'vitest';
import type { TuningFacts__Output } from '../../../../proto/gen/mlperf/network/v1/TuningFacts.ts';
import { fromWire, toWire } from '../../../../shared/host/fact-kinds.ts';
import {
  readTuningFacts,
  type TuningFacts,
  tuningFactsSchema,
} from '../../../../shared/host/tuning-facts.ts';
import { SUT_SERVICE } from '../../../../shared/wire/sut-contract.ts';
import { plantMachine, withFile } from '../../../scenes/host/machines.ts';

// Goal: what there is to read of a machine's settings is read, and what is not there is unknown,
// not wrong. Method: made-up trees of files, and the bytes of the real message.

const POLICY = 'sys/devices/system/cpu/cpufreq';

const FILES = {
  [`${POLICY}/policy0/scaling_governor`]: 'powersave\n',
  [`${POLICY}/policy0/scaling_max_freq`]: '2000000\n',
  [`${POLICY}/policy0/cpuinfo_max_freq`]: '4000000\n',
  [`${POLICY}/policy4/scaling_governor`]: 'performance\n',
  [`${POLICY}/policy4/scaling_max_freq`]: '1500000\n',
  [`${POLICY}/policy4/cpuinfo_max_freq`]: '1500000\n',
  [`${POLICY}/boost`]: '1\n',
  'sys/devices/system/clocksource/clocksource0/current_clocksource': 'hpet\n',
  'proc/self/status': 'Name:\tnode\nVmSwap:\t     12 kB\nCpus_allowed_list:\t0-3,8\n',
  'proc/self/limits':
    'Limit  Soft  Hard  Units\nMax open files            1024                 4096    files\nMax locked memory  unlimited  unlimited  bytes\n',
  'proc/meminfo':
    'MemTotal: 8000 kB\nMemAvailable:    4000 kB\nSwapTotal: 100 kB\nSwapFree: 60 kB\n',
  'proc/self/cgroup': '0::/system.slice/longhaul.service\n',
  'sys/fs/cgroup/system.slice/longhaul.service/cpu.max': 'max 100000\n',
  'sys/fs/cgroup/system.slice/cpu.max': '150000 100000\n',
  'sys/fs/cgroup/system.slice/cpu.stat': 'usage_usec 1\nnr_periods 200\nnr_throttled 0\n',
  'sys/fs/cgroup/system.slice/longhaul.service/cpu.weight': '100\n',
  'sys/fs/cgroup/system.slice/cpu.weight': '39\n',
  [`${POLICY}/policy0/energy_performance_preference`]: 'balance_performance\n',
  'sys/devices/system/cpu/isolated': '3-4\n',
  ...Object.fromEntries(
    ['0,8', '1,9', '2', '3', '4', '5', '6', '7', '0,8'].map((siblings, cpu) => [
      `sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`,
      `${siblings}\n`,
    ]),
  ),
  'sys/devices/system/node/node0/cpulist': '0-7\n',
  'sys/devices/system/node/node1/cpulist': '8-15\n',
  'sys/devices/system/node/node2/cpulist': '\n',
  'sys/devices/system/cpu/cpu0/cpuidle/state0/latency': '0\n',
  'sys/devices/system/cpu/cpu0/cpuidle/state1/latency': '2\n',
  'sys/devices/system/cpu/cpu0/cpuidle/state1/disable': '0\n',
  'sys/devices/system/cpu/cpu0/cpuidle/state2/latency': '133\n',
  'sys/devices/system/cpu/cpu0/cpuidle/state2/disable': '1\n',
  'sys/devices/pci0000:00/0000:00:03.0/msi_irqs/40': '',
  'sys/devices/pci0000:00/0000:00:03.0/msi_irqs/41': '',
  'sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/mtu': '1500\n',
  'sys/devices/pci0000:00/0000:00:05.0/msi_irqs/50': '',
  'proc/irq/40/effective_affinity_list': '2\n',
  'proc/irq/40/smp_affinity_list': '0-7\n',
  'proc/irq/41/smp_affinity_list': '5\n',
  'proc/irq/50/effective_affinity_list': '8\n',
  'run/irqbalance/irqbalance.1.sock': '',
  'sys/kernel/mm/transparent_hugepage/enabled': 'always [madvise] never\n',
  'proc/sys/net/ipv4/tcp_rmem': '4096\t131072\t6291456\n',
  'proc/sys/net/ipv4/tcp_wmem': '4096\t16384\t4194304\n',
};

/** A card of a hypervisor, whose interrupts belong to the device above it, and one of hardware. */
const LINKS = {
  'sys/class/net/eth0': '../../devices/pci0000:00/0000:00:03.0/virtio2/net/eth0',
  'sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/device': '../..',
  'sys/devices/pci0000:00/0000:00:05.0/net/eth1/device': '../..',
  'sys/class/net/eth1': '../../devices/pci0000:00/0000:00:05.0/net/eth1',
};

const READ: TuningFacts = {
  governors: ['performance', 'powersave'],
  limitMhz: 2000,
  hardwareMhz: 4000,
  clockSource: 'hpet',
  stealShare: null,
  busyShare: null,
  usableCpus: 5,
  quotaCpus: 1.5,
  quotaPeriods: 200,
  throttledPeriods: 0,
  cpuWeight: 0.39,
  usableCores: 4,
  usableNumaNodes: 2,
  isolatedCpus: 2,
  usableIsolatedCpus: 1,
  interruptCpus: 3,
  usableInterruptCpus: 2,
  hasIrqBalancer: true,
  wakeUpUsMax: 2,
  energyPreferences: ['balance_performance'],
  hugePageMode: 'madvise',
  swapUsedBytes: 40 * 1024,
  swappedBytes: 12 * 1024,
  lockedBytesMax: Number.MAX_SAFE_INTEGER,
  openFilesMax: 1024,
  availableBytes: 4000 * 1024,
  tcpReceiveBytesMax: 6_291_456,
  tcpSendBytesMax: 4_194_304,
  runtimeFlags: ['--single-threaded-gc'],
};

const tuningFromWire = (message: TuningFacts__Output): TuningFacts =>
  fromWire(tuningFactsSchema, message);

function sent(facts: TuningFacts): TuningFacts__Output {
  const { responseSerialize, responseDeserialize } = SUT_SERVICE['DescribeSystem'] as {
    responseSerialize(value: object): Buffer;
    responseDeserialize(bytes: Buffer): { tuning: TuningFacts__Output };
  };
  return responseDeserialize(responseSerialize({ tuning: toWire(facts) })).tuning;
}

describe('the settings of a machine', () => {
  it('are read from its files, and arrive over the wire as they were', async () => {
    const facts = await readTuningFacts(plantMachine({ files: FILES, links: LINKS }), [
      '--single-threaded-gc',
    ]);
    expect(facts).toEqual(READ);
    expect(tuningFromWire(sent(facts))).toEqual(facts);
    const shares = { ...facts, stealShare: 0, busyShare: 0.25 };
    expect(tuningFromWire(sent(shares))).toEqual(shares);
  });

  it('are unknown where there is nothing to read', async () => {
    const facts = await readTuningFacts(plantMachine({ files: {} }), []);
    const { governors, runtimeFlags, energyPreferences, ...others } = facts;
    expect([governors, runtimeFlags, energyPreferences]).toEqual([[], [], []]);
    expect(Object.values(others).every((value) => value === null)).toBe(true);
    expect(tuningFromWire(sent(facts))).toEqual(facts);
  });

  it('have quotas of cgroup 1, too', async () => {
    const group = 'sys/fs/cgroup/cpu,cpuacct/docker/abc';
    const files = {
      'proc/self/cgroup': '3:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n',
      [`${group}/cpu.cfs_quota_us`]: '200000\n',
      [`${group}/cpu.cfs_period_us`]: '100000\n',
      [`${group}/cpu.stat`]: 'nr_periods 10\nnr_throttled 4\n',
    };
    const facts = await readTuningFacts(plantMachine({ files }), []);
    expect(facts).toMatchObject({ quotaCpus: 2, quotaPeriods: 10, throttledPeriods: 4 });
  });

  it('have shares of the processors between two looks', async () => {
    const source = plantMachine({ files: {} });
    const looks = ['cpu  100 0 100 800 0 0 0 0 0 0\n', 'cpu  150 0 110 830 0 0 0 10 0 0\n'];
    const text = (path: string): Promise<string | null> =>
      path === '/proc/stat' ? Promise.resolve(looks.shift() ?? null) : source.text(path);
    expect(await readTuningFacts({ ...source, text }, [])).toMatchObject({
      stealShare: 0.1,
      busyShare: 0.6,
    });
    const broken = withFile(source, '/proc/stat', 'cpu  1 2 three\n');
    expect(await readTuningFacts(broken, [])).toMatchObject({ stealShare: null, busyShare: null });
  });

  it.each([
    ['a share of 2', { stealShare: 2 }],
    ['control characters', { clockSource: 'tsc\u001b[2J' }],
    ['a negative size', { tcpSendBytesMax: -1 }],
  ])('are refused with %s from another machine', (_case, wrong) => {
    expect(() => tuningFromWire({ ...sent(READ), ...wrong })).toThrow();
  });
});
