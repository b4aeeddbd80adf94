import { describe, expect, it } from 'vitest';
import {
  causesOfLateness,
  type GeneratorHealth,
  starvation,
} from '../../../../../loadgen-node/loadgen/results/generator-health.ts';
import { generatorHealth } from '../../../../scenes/simulated-run/summary.ts';

// Goal: LoadGen is called starved where its process says so and the SUT cannot be the cause, never
// else; and the cause is named. Method: what a monitor would tell, by hand.

const LATE = { p50Ns: 8e6, p99Ns: 20e6, maxNs: 30e6 };
const NO_CORE = {
  ...{ cpuShare: 0.5, cpuWaitShare: 0.49 },
  eventLoopDelay: { p50Ns: 1e6, p99Ns: 4e6, maxNs: 9e6 },
};
const TYPICAL_NS = 20e6;

function judge(
  other: Partial<GeneratorHealth>,
  scenario: Parameters<typeof starvation>[1],
): string | null {
  return starvation(generatorHealth(other), scenario, TYPICAL_NS, 0.1)?.text ?? null;
}

describe('starvation', () => {
  it.each<[string, Partial<GeneratorHealth>, Parameters<typeof starvation>[1], RegExp]>([
    [
      'SingleStream without a core half of the time',
      NO_CORE,
      'SingleStream',
      /for only 51 % of the time/,
    ],
    ['MultiStream without a core half of the time', NO_CORE, 'MultiStream', /51 %/],
    ['Offline that never was idle', NO_CORE, 'Offline', /51 %/],
    [
      'a loop as late as 40 % of a latency',
      { eventLoopDelay: LATE },
      'SingleStream',
      /8 ms late in the median, 40 %/,
    ],
  ])('is %s', (_case, other, scenario, reason) => {
    expect(judge(other, scenario)).toMatch(reason);
  });

  it.each<[string, Partial<GeneratorHealth>, Parameters<typeof starvation>[1]]>([
    ['an idle LoadGen before a slow SUT', {}, 'SingleStream'],
    [
      'LoadGen that had no core at times in Offline, and was idle at others',
      { cpuShare: 0.1, cpuWaitShare: 0.5 },
      'Offline',
    ],
    [
      'a late loop in Offline, whose latencies are the length of the run',
      { eventLoopDelay: LATE },
      'Offline',
    ],
    [
      'a tail of delay',
      { eventLoopDelay: { p50Ns: 1e6, p99Ns: 50e6, maxNs: 90e6 } },
      'SingleStream',
    ],
    [
      'a timer that is late as idle ones are',
      { eventLoopDelay: { p50Ns: 1.9e6, p99Ns: 2e6, maxNs: 2e6 } },
      'MultiStream',
    ],
    ['a watch too short to tell', { ...NO_CORE, seconds: [] }, 'SingleStream'],
    ['a system that does not tell', { cpuWaitShare: null, cpuShare: 1 }, 'Offline'],
  ])('is not %s', (_case, other, scenario) => {
    expect(judge(other, scenario)).toBeNull();
  });

  it.each([
    ['delay', { eventLoopDelay: LATE }],
    // The monitor's own timers wait as well, all the time that a slow SUT works.
    ['waiting for a core, each time for a little,', NO_CORE],
  ])('by %s is not where the SUT takes long enough', (_what, other) => {
    expect(starvation(generatorHealth(other), 'SingleStream', 500e6, 0.1)).toBeNull();
  });
});

describe('causesOfLateness', () => {
  it.each<[string, Partial<GeneratorHealth>, readonly RegExp[]]>([
    ['nothing of a process that fares well', {}, []],
    [
      'other work on its core',
      { ...NO_CORE, eventLoopDelay: LATE },
      [/ready and waited 49 % of the time/],
    ],
    ['the hypervisor', { stealShare: 0.3 }, [/took 30 % of the machine's CPU time \(steal\)/]],
    [
      'garbage collection',
      { gc: { count: 9, totalNs: 2e9, maxNs: 400e6 } },
      [/: pauses of about 2 s in all, the longest seen 400 ms/],
    ],
    [
      'a process that blocks itself',
      { eventLoopDelay: LATE },
      [/held up the event loop: p99 20 ms, 30 ms at most/],
    ],
    [
      'other work that makes the event loop late, seldom as it is',
      { cpuWaitShare: 0.05, eventLoopDelay: { ...LATE, p50Ns: 1e6 } },
      [/^other work held its core: .* 5 % of the time/],
    ],
    [
      'a process that blocks itself, though other work takes a little of its core',
      { cpuWaitShare: 0.05, eventLoopDelay: LATE },
      [/^something in its process held up/],
    ],
    [
      'what holds up a process on a system that does not tell who waits',
      { cpuWaitShare: null, eventLoopDelay: LATE },
      [/^something, in its process or on its core, held up/],
    ],
    ['the limit of one thread', { cpuShare: 0.99 }, [/^no other work held its core.*99 % of it/]],
    [
      'a full core of a process whose waits nobody tells',
      { cpuShare: 1.4, cpuWaitShare: null },
      [/^its process used 140 % of a core$/],
    ],
    ['several causes', { ...NO_CORE, stealShare: 0.1 }, [/ready and waited/, /steal/]],
  ])('names %s', (_case, other, patterns) => {
    const causes = causesOfLateness(generatorHealth(other));
    expect(causes).toHaveLength(patterns.length);
    causes.forEach((cause, i) => {
      expect(cause).toMatch(patterns[i] as RegExp);
    });
  });

  it('does not name a full core where LoadGen spins before its schedule', () => {
    expect(causesOfLateness(generatorHealth({ cpuShare: 0.99 }), true)).toEqual([]);
  });
});
