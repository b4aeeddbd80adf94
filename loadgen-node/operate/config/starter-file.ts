import { existsSync } from 'node:fs';
import { stringify } from 'yaml';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { writeText } from '../../../shared/base/files/read-file.ts';
import { tableLines } from '../../../shared/base/text.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import type { Setting, SettingTable } from '../../../shared/config/setting.ts';
import {
  benchmarkOfRun,
  benchmarkRules,
  confNameOf,
  RUN_BENCHMARKS,
} from '../../../shared/rules/benchmark-rules.ts';
import { ROUNDS } from '../../../shared/rules/rounds/rounds.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import { ownCommand } from '../../run/host/own-command.ts';
import { modelsOfBenchmark } from '../../submission/rules/models-of-rounds.ts';

const WIDTH = 98;
const STDOUT = '-';
const LISTEN = '127.0.0.1:50051';

/** Settings in the file, by section, in this order; those without a value become comments. */
const KEYS: Readonly<Record<'sut' | 'run', readonly string[]>> = {
  sut: [
    ...['benchmark', 'listen', 'node', 'model', 'workers', 'threadsPerWorker'],
    ...['delayModel', 'batchPreset', 'batchSizeMax', 'batchDelayUsMax', 'tlsCert', 'tlsKey'],
  ],
  run: [
    ...['sut', 'benchmark', 'scenario', 'mode', 'targetQps', 'targetLatency', 'minDuration'],
    ...['minQueryCount', 'dataDir', 'encoding', 'round', 'thresholds', 'output', 'tlsCa'],
  ],
};

type Values = Readonly<Record<'sut' | 'run', Readonly<Record<string, unknown>>>>;

/** Values required for a run of the benchmark. */
function valuesFor({ key, isOfficial }: BenchmarkRules): Values {
  const isOwn = key === 'custom';
  // Stand-ins, for machines without the weights and the images.
  const model = isOfficial ? 'standin' : isOwn ? 'model.onnx' : undefined;
  const dataDir = isOfficial ? 'standin' : isOwn ? 'payloads' : undefined;
  return {
    sut: {
      benchmark: key,
      listen: LISTEN,
      ...(model !== undefined && { model }),
      ...(key === 'delay' && { delayModel: 'fixed:10ms' }),
    },
    run: {
      sut: [LISTEN],
      benchmark: key,
      scenario: 'Server',
      targetQps: isOfficial ? 5 : 100,
      ...(dataDir !== undefined && { dataDir }),
    },
  };
}

/**
 * A configuration file ready for `longhaul sut` and `longhaul run`.
 * @param tables Settings of both verbs.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN`
 */
function starterFile(
  benchmark: string,
  tables: Readonly<Record<'sut' | 'run', SettingTable>>,
  file: string,
): string {
  const rules = benchmarkRules(benchmark);
  const values = valuesFor(rules);
  const head = [
    ...comment(`longhaul, benchmark ${rules.key}: ${rules.title}`, ''),
    `#   longhaul sut --config ${file}    on the SUT node`,
    `#   longhaul run --config ${file}    on the LoadGen node`,
    ...comment(
      'Flags win over this file. A key behind a # shows its default, or <what> it takes.',
      '',
    ),
    ...(rules.isOfficial
      ? comment('standin: made by longhaul. Put your model and your data set in its place.', '')
      : []),
  ];
  const body = (['sut', 'run'] as const).flatMap((section) => [
    '',
    `${section}:`,
    ...KEYS[section].flatMap((key) => keyLines(key, tables[section][key], values[section][key])),
  ]);
  return `${[...head, ...body].join('\n')}\n`;
}

function keyLines(key: string, setting: Setting<unknown> | undefined, value: unknown): string[] {
  if (setting === undefined || (key === 'delayModel' && value === undefined)) return [];
  const { help, fallback, placeholder } = setting;
  const said = value ?? fallback;
  const text =
    said === undefined ? `<${placeholder}>` : stringify(said, { collectionStyle: 'flow' }).trim();
  return [...comment(help, '  '), `  ${value === undefined ? '# ' : ''}${key}: ${text}`];
}

/** Text as comment lines of readable width. */
function comment(text: string, indent: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const longer = `${last} ${word}`;
    if (last === undefined || longer.length > WIDTH) lines.push(`${indent}# ${word}`);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Flags of `longhaul config init`. */
interface StarterRequest {
  readonly benchmark: string;
  readonly output: string;
  readonly force: boolean;
}

/**
 * Writes the file, and prints how to use it.
 * @throws MlperfError `ERR_OUTPUT` if it exists; `ERR_BENCHMARK_UNKNOWN`
 */
export function writeStarterFile(
  { benchmark, output, force }: StarterRequest,
  tables: Readonly<Record<'sut' | 'run', SettingTable>>,
): VerbResult {
  if (output === STDOUT) {
    const text = starterFile(benchmark, tables, 'longhaul.yaml');
    return { text, json: { benchmark, text } };
  }
  if (!force && existsSync(output)) {
    throw new MlperfError('ERR_OUTPUT', `${output} is there: --force replaces it`);
  }
  writeText(output, starterFile(benchmark, tables, output));
  const own = ownCommand();
  const text =
    `Wrote ${output} for the benchmark ${benchmark}. Next:\n` +
    `  ${own} sut --config ${output}\n  ${own} run --config ${output}\n`;
  return { text, json: { benchmark, file: output } };
}

/** The benchmarks, one per line. */
export function listBenchmarks(): VerbResult {
  const all = RUN_BENCHMARKS.map(benchmarkOfRun);
  const rows = all.map((rules) => [
    confNameOf(rules),
    rules.confName === undefined
      ? rules.title
      : `${rules.title}: "longhaul run" of nodes that serve ${rules.key}`,
  ]);
  const benchmarks = all.map((rules) => ({
    name: confNameOf(rules),
    title: rules.title,
    isOfficial: rules.isOfficial,
    servedAs: rules.key,
    encodings: Object.keys(rules.encodings),
    submissions: ROUNDS.flatMap((round) =>
      modelsOfBenchmark(round, rules.key).flatMap(({ folder: model, scenarios: { datacenter } }) =>
        datacenter === undefined ? [] : [{ round, model, ...datacenter }],
      ),
    ),
  }));
  const lines = tableLines(rows, '   ', () => false);
  return { text: `${lines.join('\n')}\n`, json: { benchmarks } };
}
