import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { readJsonFile } from '../../shared/base/files/read-file.ts';
import { printText } from '../../shared/base/process/terminal.ts';
import { jsonText } from '../../shared/base/text.ts';
import { choice, type SettingValues, text } from '../../shared/config/setting.ts';
import { SCENARIOS } from '../../shared/domain/scenario.ts';
import { DEFAULT_ROUND, ONLY_JUDGED, ROUNDS } from '../../shared/rules/rounds/rounds.ts';
import { exactJson } from '../loadgen/base/number-format.ts';
import {
  type AskedEarlyStopping,
  answerOne,
  answerRows,
} from '../loadgen/conformance/early-stopping.ts';
import { buildResults, measuredSchema } from '../loadgen/conformance/results.ts';
import { buildTrace } from '../loadgen/conformance/trace.ts';
import {
  argsSchema,
  librarySchema,
  parseLoadgenArgs,
  type TraceFlags,
  traceInput,
} from '../loadgen/conformance/trace-input.ts';
import { type LoadgenBehaviour, loadgenOf } from '../loadgen/settings/loadgen-behaviour.ts';
import { openConfFile } from '../run/plan/conf-files.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { verb } from './verb.ts';

/** Which C++ LoadGen to compare with. */
const LOADGEN_SETTINGS = {
  round: choice(ROUNDS, "round whose LoadGen's behaviour is followed", {
    fallback: DEFAULT_ROUND,
    hints: ONLY_JUDGED,
  }),
  rngLibrary: RUN_SETTINGS.rngLibrary,
};

function loadgenOfOptions({
  round,
  rngLibrary,
}: SettingValues<typeof LOADGEN_SETTINGS>): LoadgenBehaviour {
  return { ...loadgenOf(round), rngLibrary };
}

interface TraceOptions extends Omit<TraceFlags, 'round' | 'scenario'> {
  readonly userConf?: string;
  readonly full?: true;
}

/** `longhaul loadgen trace`: what LoadGen would load, issue and log, as JSON, with and without `--json`. */
export const traceVerb = verb({
  settings: { scenario: choice(SCENARIOS, 'field scenario'), ...LOADGEN_SETTINGS },
  flags: (command) =>
    command
      .option('--args <file>', 'JSON file with args (LoadGen field names) and qsl')
      .option('--mode <mode>', "field mode: PerformanceOnly (LoadGen's default), AccuracyOnly, ...")
      .option('--qsl-total <n>', 'samples of the library', numberOption)
      .option('--qsl-performance <n>', 'samples of its performance set', numberOption)
      .option('--set <field=value>', 'any field of LoadGen; may be repeated', addField, {})
      .option(
        '--user-conf <file>',
        "LoadGen's user.conf over the round's mlperf.conf; fields win over it",
      )
      .option('--model <name>', 'model of the configuration files (default: any)')
      .option('--full', 'print whole sequences, not their beginnings'),
  example: `
Example:
  longhaul loadgen trace --scenario Server --qsl-total 50000 --qsl-performance 1024 \\
    --set server_target_qps=1000 --set qsl_rng_seed=3066443479025735752`,
  action: ({ values, command }) => {
    const options = command.opts<TraceOptions>();
    const { scenario, round } = values;
    const flags = { ...options, round, ...(scenario !== undefined && { scenario }) };
    const { unknownNames, ...input } = traceInput(flags, openConfFile(options.userConf));
    const loadgen = loadgenOfOptions(values);
    const built = buildTrace({ ...input, loadgen, isFull: options.full === true });
    warnOfUnknown(unknownNames);
    printText(process.stdout, `${exactJson(built)}\n`);
    return {};
  },
});

const resultsFile = z.object(
  { args: argsSchema, qsl: librarySchema, input: measuredSchema },
  'must be an object with args, qsl and input',
);

/** `longhaul loadgen results`: what LoadGen would make of measurements, as JSON, with and without `--json`. */
export const resultsVerb = verb({
  settings: {
    input: text('file', 'JSON file with args (LoadGen field names), qsl and input', {
      required: true,
    }),
    ...LOADGEN_SETTINGS,
  },
  example: `
Example:
  longhaul loadgen results --input golden.json --round v6.1`,
  action: ({ values }) => {
    const { args, qsl, input } = readJsonFile(values.input, resultsFile);
    const { settings, unknownNames } = parseLoadgenArgs(args);
    const built = buildResults({
      settings,
      library: { totalSampleCount: qsl.total, performanceSampleCount: qsl.performance },
      loadgen: loadgenOfOptions(values),
      measured: input,
    });
    warnOfUnknown(unknownNames);
    printText(process.stdout, `${jsonText(built)}\n`);
    return {};
  },
});

/** `longhaul loadgen early-stopping`: queries that early stopping needs, in words or as JSON. */
export const earlyStoppingVerb = verb({
  json: 'own',
  flags: (command) =>
    command
      .option(
        '--percentile <share>',
        'share that has to meet the bound, for example 0.99',
        numberOption,
      )
      .option('--over <n>', 'queries above the bound', numberOption, 0)
      .option('--queries <n>', 'queries of the run', numberOption)
      .option('--tolerance <share>', 'taken off the percentile', numberOption, 0)
      .option('--confidence <share>', 'confidence that is requested', numberOption, 0.99)
      .option('--input <file>', 'JSON file with rows of questions; answers come as JSON')
      .option('--json', 'print JSON'),
  example: `
Examples:
  longhaul loadgen early-stopping --percentile 0.99 --queries 20000 --over 150
  longhaul loadgen early-stopping --input rows.json --json

Each row of that file: [over, percentile, tolerance, confidence].`,
  action: ({ command }) => {
    const options = command.opts<AskedEarlyStopping & { readonly input?: string }>();
    const { input } = options;
    printText(process.stdout, input === undefined ? answerOne(options) : answerRows(input));
    return {};
  },
});

/** Parses a flag that is a number. @throws InvalidArgumentError */
function numberOption(text: string): number {
  if (text.trim() === '' || !Number.isFinite(Number(text))) {
    throw new InvalidArgumentError('It must be a number.');
  }
  return Number(text);
}

function addField(text: string, fields: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw configInvalid(`--set "${text}" must be field=value`);
  return { ...fields, [text.slice(0, at).trim()]: text.slice(at + 1) };
}

/** Says on stderr which settings had no effect: stdout stays JSON. */
function warnOfUnknown(names: readonly string[]): void {
  if (names.length === 0) return;
  printText(process.stderr, `longhaul: not LoadGen's and without effect: ${names.join(', ')}\n`);
}
