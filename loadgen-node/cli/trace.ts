import type { Command } from 'commander';
import { z } from 'zod';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX } from '../../shared/base/files/read-file.ts';
import { addJson } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { exactJson } from '../loadgen/base/number-format.ts';
import { type LoadgenArgs, parseLoadgenArgs } from '../loadgen/conformance/loadgen-fields.ts';
import { argsSchema, librarySchema, readJsonFile } from '../loadgen/conformance/read-json-file.ts';
import { buildTrace } from '../loadgen/conformance/trace.ts';
import { readConfFiles } from '../loadgen/settings/read-conf-files.ts';
import { defaultTestSettings, type TestSettings } from '../loadgen/settings/test-settings.ts';
import { openConfFile } from '../run/plan/conf-files.ts';
import {
  addLoadgenOptions,
  type LoadgenOptions,
  loadgenOfOptions,
  numberOption,
  warnOfUnknown,
} from './conformance-options.ts';

const EXAMPLE = `
Examples:
  longhaul trace --args golden.json --round v6.1
  longhaul trace --scenario Server --qsl-total 50000 --qsl-performance 1024 \\
    --set server_target_qps=1000 --set qsl_rng_seed=3066443479025735752`;

interface TraceOptions extends LoadgenOptions {
  readonly args?: string;
  readonly scenario?: string;
  readonly mode?: string;
  readonly qslTotal?: number;
  readonly qslPerformance?: number;
  readonly set: Readonly<Record<string, string>>;
  readonly userConf?: string;
  readonly model?: string;
  readonly full?: true;
}

const traceFile: z.ZodType<{ args: LoadgenArgs; qsl: { total: number; performance: number } }> =
  z.object({ args: argsSchema, qsl: librarySchema }, 'must be an object with args and qsl');

/** `longhaul trace`: what LoadGen would load, issue and log, as JSON. Needs no SUT. */
export function traceCommand(): Command {
  const command = createCommand('trace', 'print what a test would issue, without a SUT, as JSON')
    .option('--args <file>', 'JSON file with args (LoadGen field names) and qsl')
    .option('--scenario <scenario>', 'field scenario')
    .option('--mode <mode>', "field mode: PerformanceOnly (LoadGen's default), AccuracyOnly, ...")
    .option('--qsl-total <n>', 'samples of the library', numberOption)
    .option('--qsl-performance <n>', 'samples of its performance set', numberOption)
    .option('--set <field=value>', 'any field of LoadGen; may be repeated', addField, {})
    .option(
      '--user-conf <file>',
      "LoadGen's user.conf over the round's mlperf.conf; fields win over it",
    )
    .option('--model <name>', 'model of the configuration files (default: any)')
    .option('--full', 'print whole sequences, not their beginnings');
  // What it prints is JSON with and without the flag.
  return addJson(addLoadgenOptions(command))
    .addHelpText('after', EXAMPLE)
    .action(() => {
      const options = command.opts<TraceOptions>();
      const { args, library } = inputOf(options);
      const { settings, unknownNames } = parseLoadgenArgs(args, baseOf(options, args));
      const loadgen = loadgenOfOptions(options);
      const trace = buildTrace({ settings, library, loadgen, isFull: options.full === true });
      warnOfUnknown(unknownNames);
      process.stdout.write(`${exactJson(trace)}\n`);
    });
}

function addField(text: string, fields: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) {
    throw new MlperfError('ERR_CONFIG_INVALID', `--set "${text}" must be field=value`);
  }
  return { ...fields, [text.slice(0, at).trim()]: text.slice(at + 1) };
}

/** Flags win over the file. */
function inputOf(options: TraceOptions): {
  args: LoadgenArgs;
  library: { totalSampleCount: number; performanceSampleCount: number };
} {
  const file =
    options.args === undefined
      ? undefined
      : readJsonFile(options.args, traceFile, FILE_BYTES_MAX.settings);
  const totalSampleCount = options.qslTotal ?? file?.qsl.total;
  const performanceSampleCount = options.qslPerformance ?? file?.qsl.performance;
  if (totalSampleCount === undefined || performanceSampleCount === undefined) {
    const text = '--args FILE, or --qsl-total and --qsl-performance, are needed';
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  return {
    args: {
      ...file?.args,
      ...(options.scenario === undefined ? {} : { scenario: options.scenario }),
      ...(options.mode === undefined ? {} : { mode: options.mode }),
      ...options.set,
    },
    library: { totalSampleCount, performanceSampleCount },
  };
}

/** LoadGen's defaults, or what the configuration files make of them. */
function baseOf({ userConf, model, round }: TraceOptions, args: LoadgenArgs): TestSettings {
  if (userConf === undefined && model === undefined) return defaultTestSettings();
  const { scenario } = parseLoadgenArgs(args).settings;
  const { settings, results } = readConfFiles({
    round,
    model: model ?? '*',
    scenario,
    userConf: openConfFile(userConf),
  });
  const problems = results.flatMap((result) => result.problems);
  if (problems.length > 0) throw new MlperfError('ERR_CONFIG_INVALID', problems.join('\n'));
  return settings.toTestSettings();
}
