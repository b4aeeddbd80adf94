import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { pythonFloat } from '../../../../../../loadgen-node/loadgen/base/number-format.ts';
import {
  rateStatistic,
  verifyTest04,
  verifyTest05,
} from '../../../../../../loadgen-node/submission/compliance/verify/verify-speed-tests.ts';
import type { TestVerdict } from '../../../../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { suiteFolder } from '../../../../../scenes/host/folders.ts';
import { ComplianceScene } from '../../../../../scenes/submission-tree/compliance-scene.ts';

const folder = suiteFolder();
const server = new ComplianceScene(join(folder, 'server'), 'v4.1', 'Server');
const offline = new ComplianceScene(join(folder, 'offline'), 'v5.0', 'Offline');
const stream = new ComplianceScene(join(folder, 'stream'), 'v4.1', 'SingleStream');

/** A SUT that keeps the response to a sample: the first time it works, then it is quick. */
function caching(hitNs = 100_000, missNs = 5_000_000): (sampleIndex: number) => number {
  const known = new Set<number>();
  return (sampleIndex) => {
    if (known.has(sampleIndex)) return hitNs;
    known.add(sampleIndex);
    return missNs;
  };
}

/** The C++ LoadGen's log has no such records. */
function forgetFirstQueries(run: string): void {
  const path = join(run, 'mlperf_log_detail.txt');
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, lines.filter((line) => !line.includes('longhaul_first_query')).join('\n'));
}

/** Writes another rate into a run's summary. */
function setRate(run: string, rate: string): void {
  const path = join(run, 'mlperf_log_summary.txt');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(/^(Completed samples per second *: ).*$/m, `$1${rate}`));
}

function unmet({ checks }: TestVerdict): string[] {
  return checks.filter(({ isMet }) => !isMet).map(({ name }) => name);
}

beforeAll(async () => {
  for (const scene of [server, offline, stream]) await scene.submit();
});

// Goal: a system that caches fails, one that does not passes, in every scenario. Method: simulated
// runs.
describe('TEST04', () => {
  it.each([
    ['Server', server],
    ['Offline', offline],
    ['SingleStream', stream],
  ] as const)('passes an honest system in %s', async (_, scene) => {
    const verdict = await verifyTest04({ ...scene, test: await scene.test('TEST04') });
    expect(unmet(verdict)).toEqual([]);
    expect(verdict.texts.get('verify_performance.txt')).toMatch(/\nTEST PASS\n$/);
    expect([...verdict.copies.keys()]).toEqual([
      'performance/run_1/mlperf_log_summary.txt',
      'performance/run_1/mlperf_log_detail.txt',
    ]);
  });

  it('fails a caching system in Offline by its rate', async () => {
    const test = await offline.test('TEST04', {
      serviceNs: caching(),
      flags: { minDuration: '1s' },
    });
    const verdict = await verifyTest04({ ...offline, test });
    expect(verdict.isOfficialPass).toBe(false);
    expect(unmet(verdict)).toEqual(['performance']);
    expect(verdict.texts.get('verify_performance.txt')).toContain('TEST FAIL: Test score invalid');
    expect(verdict.notes.join()).toContain('faster than chance explains');
  });

  it('fails a caching system in Server by its latencies, where the rate shows nothing', async () => {
    const verdict = await verifyTest04({
      ...server,
      test: await server.test('TEST04', { serviceNs: caching() }),
    });
    expect(verdict.isOfficialPass).toBe(true);
    expect(unmet(verdict)).toEqual(['latencies']);
  });

  it.each([
    ['Server', server, 100_000, 5_000_000],
    ['SingleStream', stream, 5_300_000, 12_000_000],
  ] as const)(
    'finds a cache that fills up in the submission run in %s, where nothing else shows it',
    async (_, scene, hitNs, missNs) => {
      const flags = { minDuration: '200s' };
      const performance = await scene.submitAgain({ serviceNs: caching(hitNs, missNs), flags });
      const test = await scene.test('TEST04', { serviceNs: caching(hitNs, missNs) });
      const verdict = await verifyTest04({ ...scene, performance, test });
      expect(verdict.isOfficialPass).toBe(true);
      expect(unmet(verdict)).toEqual(['first queries']);
    },
  );

  it('does not take a submission run for a cache that was disturbed for a while', async () => {
    // The first 4 of 60 s, in which most queries are the first for their sample, and 4 s later on.
    const disturbed = (_: number, sample: number): number =>
      sample < 200 || (sample > 1000 && sample < 1200) ? 6_000_000 : 1_000_000;
    const performance = await server.submitAgain({ serviceNs: disturbed });
    const test = await server.test('TEST04', { serviceNs: () => 1_000_000 });
    const verdict = await verifyTest04({ ...server, performance, test });
    expect(unmet(verdict)).toEqual([]);
    expect(verdict.notes.join()).not.toContain('slowest');
  });

  it('of a run of another LoadGen says what its tail may mean, and fails nothing', async () => {
    const performance = await server.submitAgain({ serviceNs: caching() });
    forgetFirstQueries(performance);
    const test = await server.test('TEST04', { serviceNs: caching() });
    const verdict = await verifyTest04({ ...server, performance, test });
    expect(unmet(verdict)).toEqual([]);
    // 60 s at 50 queries/s over 1024 samples: about 1024 * (1 - e^-2.93) / 3000 = 32.3 % are first
    // ones.
    expect(verdict.notes.join()).toMatch(
      /the slowest 10 % of the submission run took [\d.]+ ms or more.*\(it would leave 32\.\d % slow\)/,
    );
  });

  it('does not judge latencies at a lowered target rate, and says so', async () => {
    const test = await server.test('TEST04', { flags: { targetQps: '40' } });
    const verdict = await verifyTest04({ ...server, test });
    expect(unmet(verdict)).toEqual([]);
    expect(verdict.checks.find(({ name }) => name === 'latencies')?.text).toContain('not judged');
  });

  it('turns the latency of a stream into a rate', async () => {
    const test = await stream.test('TEST04', { serviceNs: () => 4_000_000 });
    const verdict = await verifyTest04({ ...stream, test });
    expect(verdict.texts.get('verify_performance.txt')).toBe(
      'Verifying performance.\nreference score = 200.0\ntest score = 250.0\nTEST FAIL: Test score invalid\n',
    );
  });

  it('does not take a run of another test', async () => {
    const verdict = await verifyTest04({ ...server, test: await server.test('TEST01') });
    expect(unmet(verdict)).toEqual(['audit settings']);
  });
});

describe('TEST05', () => {
  it('passes a system that is as fast with other seeds', async () => {
    const verdict = await verifyTest05({ ...server, test: await server.test('TEST05') });
    expect(unmet(verdict)).toEqual([]);
    expect(verdict.notes.join()).toContain('16799458546791641818');
  });

  it('fails a system that is slower with them', async () => {
    const test = await server.test('TEST05', { serviceNs: () => 25_000_000 });
    const verdict = await verifyTest05({ ...server, test });
    expect(unmet(verdict)).toContain('performance');
    expect(verdict.isOfficialPass).toBe(false);
  });

  it('says that the seeds drew the difference in a run of few queries, and not the system', async () => {
    const flags = { minDuration: '1s', minQueryCount: '150', targetLatencyPercentile: '90' };
    const performance = await server.submitAgain({ flags });
    const test = await server.test('TEST05', { flags });
    const verdict = await verifyTest05({ ...server, performance, test });
    const [speed] = verdict.checks.filter(({ isMet }) => !isMet);
    // The seeds' own draws: 0.9969 and 0.9081 of the target rate of 50/s.
    expect(speed?.advice).toMatch(
      /^The other seeds drew another schedule, of 45\.\d+ queries\/s; that of the submission run had 49\.\d+\. .*longer/,
    );
    expect(verdict.isOfficialPass).toBe(false);
  });

  it.each([
    ['1172.83', '-5.0002 %'],
    ['1172.82', '-5.001 %'],
    ['1160.49', '-6.00 %'],
  ])('tells %s of 1234.56 samples/s apart from the limit', async (rate, percent) => {
    const performance = await server.submitAgain({});
    const test = await server.test('TEST05');
    setRate(performance, '1234.56');
    setRate(test, rate);
    const { checks } = await verifyTest05({ ...server, performance, test });
    const text = checks.find(({ isMet }) => !isMet)?.text;
    expect(text).toContain(`(${percent}); needed: under 5 % less, or any more`);
  });

  it('looks at a stream by its latency', async () => {
    const slower = await stream.test('TEST05', { serviceNs: () => 5_300_000 });
    expect(unmet(await verifyTest05({ ...stream, test: slower }))).toEqual(['performance']);
    const faster = await stream.test('TEST05', { serviceNs: () => 3_000_000 });
    expect(unmet(await verifyTest05({ ...stream, test: faster }))).toEqual([]);
  });

  it('fails a run with the official seeds', async () => {
    const test = await server.test('TEST05', { auditConfig: '# none\n' });
    expect(unmet(await verifyTest05({ ...server, test }))).toEqual(['audit settings']);
  });
});

describe('an INVALID run', () => {
  it('fails the test, whichever of the two it is', async () => {
    const invalid = await server.test('TEST04', { serviceNs: () => 30_000_000 });
    const asTest = await verifyTest04({ ...server, test: invalid });
    expect(unmet(asTest)).toEqual(expect.arrayContaining(['performance', 'valid run']));
    expect(asTest.texts.get('verify_performance.txt')).toBe(
      'Verifying performance.\nTEST FAIL: Test results are invalid\n',
    );
  });
});

describe('rateStatistic', () => {
  it('gives the interval of two Poisson counts', () => {
    const same = { rate: 100, samples: 10_000 };
    const statistic = rateStatistic(same, { rate: 110, samples: 10_000 });
    // 1.959964 * √(2 / 10000) = 0.027718.
    expect(statistic?.ratio).toBeCloseTo(1.1, 12);
    expect(statistic?.low).toBeCloseTo(1.1 * Math.exp(-0.027718), 5);
    expect(statistic?.high).toBeCloseTo(1.1 * Math.exp(0.027718), 5);
    expect(rateStatistic(same, { rate: 1, samples: 0 })).toBeUndefined();
  });
});

describe('pythonFloat', () => {
  it.each([
    [200, '200.0'],
    [0.1, '0.1'],
    [1e16, '1e+16'],
    [123456789012345.6, '123456789012345.6'],
    [1e-5, '1e-05'],
    [0.00012, '0.00012'],
    [-0.5, '-0.5'],
    [-0, '-0.0'],
    [2.5e-7, '2.5e-07'],
    [Number.POSITIVE_INFINITY, 'inf'],
  ])('%s is %s', (value, text) => {
    expect(pythonFloat(value)).toBe(text);
  });
});
