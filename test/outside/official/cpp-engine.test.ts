import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findLoadgen } from '../../../loadgen-node/official/checkout.ts';
import { compareEngines } from '../../../loadgen-node/official/compare-engines.ts';
import { doubtsAbout } from '../../../loadgen-node/official/doubts.ts';
import { linkedLoadgen, linkLoadgen } from '../../../loadgen-node/official/link.ts';
import { describeOfficial, linkOfficial } from './official-tools.ts';

// Goal: MLPerf's C++ LoadGen, built here from its own sources, and the engine that follows it plan,
// count, log and judge the same for any settings; a SUT that fails ends a run without a VALID log,
// and without a crash. Method: LoadGens of three versions, built by their own CMake files; a
// process for each test, random settings, a SUT in process. LONGHAUL_DIFFERENTIAL: number of random
// settings per version (default 20).

const RUNS = Number(process.env['LONGHAUL_DIFFERENTIAL'] ?? 20);
const VERSIONS = ['v4.1', 'v5.1.1', 'HEAD'] as const;
type Version = (typeof VERSIONS)[number];

const SCRIPT = join(import.meta.dirname, 'run-by-both.mjs');

/** What a test came to, as run-by-both.mjs prints it. */
interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  readonly driver: {
    readonly otherSamples: number;
    readonly differences: readonly string[];
    readonly errors: readonly string[];
  } | null;
  readonly endCause: string;
  readonly counts: { readonly issuedSamples: number; readonly lostSamples: number };
  readonly verdict: { readonly isValid: boolean; readonly reasons: readonly { rule: string }[] };
}

interface Asked {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly conduct?: string;
  readonly totalSamples?: number;
  readonly performanceSamples?: number;
  readonly tokens?: number | undefined;
  readonly responseBytes?: number;
}

describeOfficial('the C++ LoadGen as engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-test-'));
  const caches = new Map<Version, string>();
  let number = 0;

  beforeAll(() => {
    for (const version of VERSIONS) {
      const cacheFolder = linkOfficial(version, join(folder, version));
      caches.set(version, cacheFolder);
    }
  }, 600_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(
    version: Version,
    { conduct = 'answer', totalSamples = 64, performanceSamples = 64, ...asked }: Asked,
  ) {
    number += 1;
    const outdir = join(folder, `run-${number}`);
    const job = {
      cacheFolder: caches.get(version),
      outdir,
      conduct,
      totalSamples,
      performanceSamples,
      ...asked,
    };
    const file = `${outdir}.json`;
    const toText = (_key: string, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value;
    writeFileSync(file, JSON.stringify(job, toText));
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, file], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    const last = stdout.trim().split('\n').at(-1) ?? '';
    const ended = last.startsWith('{') ? (JSON.parse(last) as object) : {};
    return { outdir, ended: { code: status, signal, stderr, ...ended } as Ended };
  }

  it.each(VERSIONS)('%s is what its checkout says', (version) => {
    const linked = linkedLoadgen(caches.get(version) as string);
    expect(linked.manifest.tag).toBe(version === 'HEAD' ? null : version);
    const doubts = doubtsAbout(linked);
    expect(doubts).toHaveLength(version === 'HEAD' ? 1 : 0);
  });

  it.each(VERSIONS)(
    '%s and its follower agree for any settings',
    async (version) => {
      const scenarios = fc.constantFrom('SingleStream', 'MultiStream', 'Server', 'Offline');
      const inputs = fc.record({
        scenario: scenarios,
        mode: fc.constantFrom(
          'PerformanceOnly',
          'PerformanceOnly',
          'AccuracyOnly',
          'SubmissionRun',
        ),
        qps: fc.integer({ min: 500, max: 50_000 }),
        samplesPerQuery: fc.integer({ min: 1, max: 9 }),
        minDurationMs: fc.integer({ min: 1, max: 60 }),
        minQueryCount: fc.integer({ min: 1, max: 300 }),
        maxQueryCount: fc.constantFrom(0, 0, 0, 50),
        totalSamples: fc.integer({ min: 1, max: 200 }),
        share: fc.double({ min: 0.01, max: 1, noNaN: true }),
        threads: fc.constantFrom(0, 0, 2, 3),
        coalesces: fc.boolean(),
        concatenates: fc.boolean(),
        target: fc.constantFrom(0, 0, 5, 1000),
        accuracySeed: fc.bigInt({ min: 0n, max: 2n ** 63n }),
      });
      const property = fc.asyncProperty(inputs, async (one) => {
        const { scenario, mode, qps, totalSamples } = one;
        const performanceSamples = Math.max(1, Math.round(one.share * totalSamples));
        // LoadGen cannot run a query that is larger than its set, and goes on for ever in an
        // accuracy run with several threads.
        const samplesPerQuery = Math.min(one.samplesPerQuery, performanceSamples);
        const settings = {
          ...{ scenario, mode, serverTargetQps: qps, offlineExpectedQps: qps },
          ...{ singleStreamExpectedLatencyNs: 1e9 / qps, multiStreamExpectedLatencyNs: 1e9 / qps },
          ...{ multiStreamSamplesPerQuery: samplesPerQuery, serverTargetLatencyNs: 1e10 },
          ...{ minDurationMs: one.minDurationMs, minQueryCount: one.minQueryCount },
          ...{ maxQueryCount: one.maxQueryCount, sampleConcatenatePermutation: one.concatenates },
          ...{ serverCoalesceQueries: one.coalesces, accuracyLogSamplingTarget: one.target },
          ...{ accuracyLogRngSeed: one.accuracySeed },
          serverNumIssueQueryThreads:
            scenario === 'Server' && mode === 'PerformanceOnly' ? one.threads : 0,
        };
        const { outdir, ended } = run(version, { settings, totalSamples, performanceSamples });
        expect(ended, ended.stderr).toMatchObject({ code: 0, signal: null });
        expect(ended.driver, JSON.stringify(ended)).toMatchObject({
          otherSamples: 0,
          differences: [],
          otherSettings: null,
        });
        const { differing, hasSameAccuracyLog, comparedCount } = await compareEngines(outdir);
        expect(differing).toEqual([]);
        expect(comparedCount).toBeGreaterThan(40);
        // Several threads complete in any order.
        if (settings.serverNumIssueQueryThreads === 0) expect(hasSameAccuracyLog).toBe(true);
      });
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    },
    3_600_000,
  );

  it('is refused where library and headers are of two versions, or the library is not whole', () => {
    const libraryOf = (version: Version) =>
      join(folder, version, 'loadgen', 'build', 'libmlperf_loadgen.a');
    const link = (version: Version, library: string) => () =>
      linkLoadgen(findLoadgen(join(folder, version), library), {
        ...{ compiler: 'g++', cacheFolder: join(folder, 'refused') },
      });
    expect(link('v5.1.1', libraryOf('HEAD'))).toThrow(
      /was built with other headers than those in .*: \/test_settings\.h/,
    );
    expect(link('v4.1', libraryOf('v5.1.1'))).toThrow(/is not the whole LoadGen.*undefined symbol/);
    const cut = join(folder, 'cut.a');
    copyFileSync(libraryOf('v5.1.1'), cut);
    execFileSync('ar', ['d', cut, 'loadgen.cc.o']);
    expect(link('v5.1.1', cut)).toThrow(/is not the whole LoadGen.*undefined symbol.*StartTest/);
    // A header that was changed, and a library whose list has it all the same.
    const changed = join(folder, 'changed');
    cpSync(join(folder, 'v5.1.1'), changed, { recursive: true });
    const header = join(changed, 'loadgen', 'test_settings.h');
    const text = readFileSync(header, 'utf8');
    const other = text.replace(
      '  bool use_token_latencies',
      '  uint64_t other;\n  bool use_token_latencies',
    );
    writeFileSync(header, other);
    const library = join(changed, 'loadgen', 'build', 'libmlperf_loadgen.a');
    const sha1 = (content: string) => createHash('sha1').update(content).digest('hex');
    const bytes = readFileSync(library, 'latin1').replace(sha1(text), sha1(other));
    writeFileSync(library, bytes, 'latin1');
    expect(() =>
      linkLoadgen(findLoadgen(changed), { compiler: 'g++', cacheFolder: join(folder, 'refused') }),
    ).toThrow('has its settings in other places than');
  });

  it.each(VERSIONS)('%s and its follower log the same end', (version) => {
    const settings = { scenario: 'SingleStream', singleStreamExpectedLatencyNs: 1e3 };
    const natural = { ...settings, minDurationMs: 20, minQueryCount: 5 };
    const early = { ...natural, minQueryCount: 900, maxQueryCount: 7 };
    for (const [asked, text, errors] of [
      [natural, 'Ending naturally: Minimum query count and test duration met.', 0],
      [early, 'Ending early: Max query count reached. query_count 7', 1],
    ] as const) {
      const { outdir, ended } = run(version, { settings: asked });
      for (const log of ['mlperf_log_detail.txt', 'longhaul_log_detail.txt']) {
        expect(readFileSync(join(outdir, log), 'utf8'), log).toContain(text);
      }
      expect(ended.driver?.errors).toHaveLength(errors);
    }
  });

  it.each(VERSIONS)('%s measures tokens', (version) => {
    const limits = { minDurationMs: 500, singleStreamExpectedLatencyNs: 1e3, serverTargetQps: 500 };
    for (const [scenario, endCause] of [
      ['Server', 'all-issued'],
      ['SingleStream', 'natural'],
    ]) {
      const settings = { scenario, ...limits, useTokenLatencies: true };
      const { outdir, ended } = run(version, { settings, tokens: 5 });
      expect(tokenLabels(join(outdir, 'longhaul_log_summary.txt'))).toEqual(
        tokenLabels(join(outdir, 'mlperf_log_summary.txt')),
      );
      expect(ended.endCause, ended.stderr).toBe(endCause);
      expect(readFileSync(join(outdir, 'mlperf_log_detail.txt'), 'utf8')).toContain(
        'result_first_token',
      );
    }
  });

  // LoadGen has a thread in Server, and the process's own in SingleStream.
  it.each(['Server', 'SingleStream'])(
    '%s: no failing SUT leaves a VALID log, hangs or crashes',
    (scenario) => {
      const settings = {
        ...{ scenario, serverTargetQps: 500, minDurationMs: 500 },
        singleStreamExpectedLatencyNs: 1e5,
      };
      const rules = { lose: 'stall', 'answer-twice': 'contract-errors', throw: 'fault' };
      for (const version of VERSIONS) {
        for (const [conduct, rule] of Object.entries(rules)) {
          const { outdir, ended } = run(version, { settings, conduct });
          expect(ended, ended.stderr).toMatchObject({ code: 0, signal: null });
          expect(ended.verdict.isValid).toBe(false);
          expect(ended.verdict.reasons.map((reason) => reason.rule)).toContain(rule);
          const detail = join(outdir, 'mlperf_log_detail.txt');
          const text = existsSync(detail) ? readFileSync(detail, 'utf8') : '';
          // A second answer never reaches LoadGen, whose own log may then be VALID.
          if (conduct !== 'answer-twice') expect(text).not.toContain('"result_validity"');
        }
      }
    },
  );

  // More than the bridge has places for: LoadGen waits inside IssueQuery until some are read.
  it('issues a query of a stream that is larger than the ring of samples', () => {
    const samples = 2 ** 20 + 1000;
    const settings = {
      ...{ scenario: 'MultiStream', multiStreamSamplesPerQuery: samples, minDurationMs: 0 },
      ...{ multiStreamExpectedLatencyNs: 1e9, minQueryCount: 1 },
    };
    const sizes = { totalSamples: samples, performanceSamples: samples };
    const { ended } = run('v5.1.1', { settings, ...sizes });
    expect(ended, ended.stderr).toMatchObject({ code: 0, endCause: 'natural' });
    expect(ended.counts).toMatchObject({ issuedSamples: samples, lostSamples: 0 });
    expect(ended.driver).toMatchObject({ otherSamples: 0, differences: [] });
  });

  it('hands over responses that are larger than the memory for all of a turn', () => {
    const settings = {
      ...{ scenario: 'SingleStream', minDurationMs: 1, minQueryCount: 100 },
      singleStreamExpectedLatencyNs: 1e5,
    };
    const { ended } = run('v5.1.1', { settings, responseBytes: 2 ** 20 + 4 });
    expect(ended, ended.stderr).toMatchObject({ code: 0, endCause: 'natural' });
    expect(ended.verdict.reasons).toEqual([]);
  });
});

function tokenLabels(summary: string): string[] {
  return readFileSync(summary, 'utf8').match(/^.*Output Token.*(?=: )/gm) ?? [];
}
