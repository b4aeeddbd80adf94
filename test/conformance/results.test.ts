import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatFixed, formatGeneral } from '../../loadgen-node/loadgen/base/number-format.ts';
import { DetailLog } from '../../loadgen-node/loadgen/logs/write/detail-log.ts';
import { LogFile } from '../../loadgen-node/loadgen/logs/write/log-file.ts';
import { writeResults } from '../../loadgen-node/loadgen/logs/write/result-lines.ts';
import {
  countsText,
  performanceSummaryText,
} from '../../loadgen-node/loadgen/logs/write/summary-log.ts';
import type { RecordedTokens } from '../../loadgen-node/loadgen/recorder/recording.ts';
import { summarize } from '../../loadgen-node/loadgen/results/summarize.ts';
import { deriveEffectiveSettings } from '../../loadgen-node/loadgen/settings/effective-settings.ts';
import { LOADGEN_V41, LOADGEN_V61 } from '../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import {
  doubleOfBits,
  goldenNames,
  readGolden,
  settingsOfArgs,
} from '../scenes/simulated-run/golden.ts';

interface GoldenResults {
  readonly args: Readonly<Record<string, string>>;
  readonly qsl: { readonly total: number; readonly performance: number };
  readonly input: {
    readonly queries_issued: number;
    readonly max_latency_s: number;
    readonly final_query_scheduled_time_s: number;
    readonly final_query_issued_time_s: number;
    readonly final_query_all_samples_done_time_s: number;
    readonly sample_latencies: readonly number[];
    readonly query_latencies: readonly number[];
    readonly first_token_latencies?: readonly number[];
    readonly time_per_output_token?: readonly number[];
    readonly tokens_per_sample?: readonly number[];
  };
  readonly summary: string;
  readonly detail: readonly string[];
}

// Goal: numbers, verdicts and texts of a performance run equal LoadGen's byte for byte.
// Method: feed the golden latencies in; compare the whole summary and all result lines.
describe.each([
  ['loadgen-v4.1', LOADGEN_V41],
  ['loadgen-v6.1', LOADGEN_V61],
])('results of %s', (folder, loadgen) => {
  it.each(goldenNames(`${folder}/results`))('equal LoadGen in %s', (name) => {
    const golden = readGolden<GoldenResults>(`${folder}/results/${name}.json`);
    const library = {
      totalSampleCount: golden.qsl.total,
      performanceSampleCount: golden.qsl.performance,
    };
    const settings = deriveEffectiveSettings(
      settingsOfArgs(golden.args),
      library,
      loadgen,
    ).effective;
    const { input } = golden;
    const summary = summarize(
      {
        queryCount: input.queries_issued,
        sampleLatenciesNs: Float64Array.from(input.sample_latencies),
        queryLatenciesNs: Float64Array.from(input.query_latencies),
        maxLatencyS: input.max_latency_s,
        finalQuery: {
          scheduledS: input.final_query_scheduled_time_s,
          issuedS: input.final_query_issued_time_s,
          allDoneS: input.final_query_all_samples_done_time_s,
        },
        lastDoneS: 0,
        tokens: settings.useTokenLatencies ? tokensOf(input) : null,
      },
      settings,
      loadgen.percentileLabelDecimals,
    );
    const sutName = 'Network_SUT_harness';
    const { isValid } = summary;
    expect(
      performanceSummaryText({ sutName, settings, summary, isValid, loadgen }) + countsText(0, 0),
    ).toBe(golden.summary);
    const expected = golden.detail
      .filter((line) => !line.includes('"num_errors"'))
      // The one place where LoadGen's line is no JSON and ours is.
      .map((line) => line.replace('"value": -nan', '"value": null'));
    expect(detailLines((log) => writeResults(log, summary, isValid))).toEqual(expected);
  });
});

function tokensOf(input: GoldenResults['input']): RecordedTokens {
  return {
    tokenCount: (input.tokens_per_sample ?? []).reduce((sum, count) => sum + count, 0),
    firstTokenNs: Float64Array.from(input.first_token_latencies ?? []),
    perOutputTokenNs: Float64Array.from(input.time_per_output_token ?? []),
    counts: Uint32Array.from(input.tokens_per_sample ?? []),
    gaps: null,
  };
}

function detailLines(write: (log: DetailLog) => void): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'results-'));
  try {
    const file = new LogFile(join(folder, 'detail.txt'));
    write(new DetailLog(file, () => 0));
    file.close();
    const lines = readFileSync(file.path, 'utf8').trimEnd().split('\n');
    return lines.map((line) => line.replace(/^:::MLLOG \{(.*), "time_ms": .*$/, '$1'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Goal: numbers print as the C++ library prints them. Method: golden bits and texts.
it('prints doubles as the C++ library does', () => {
  const { rows } = readGolden<{
    rows: readonly Record<
      'bits' | 'default' | 'fixed2' | 'fixed1' | 'to_string' | 'trace',
      string
    >[];
  }>('random/format.json');
  // JavaScript has one NaN; a run makes the other.
  for (const row of rows.filter(({ default: text }) => text !== 'nan')) {
    const value = doubleOfBits(row.bits);
    const printed = {
      ...{ bits: row.bits, default: formatGeneral(value), fixed2: formatFixed(value, 2) },
      ...{
        fixed1: formatFixed(value, 1),
        to_string: formatFixed(value, 6),
        trace: formatFixed(value, 3),
      },
    };
    expect(printed).toEqual(row);
  }
});
