import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { addJson } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { exactJson } from '../loadgen/base/number-format.ts';
import { buildTrace } from '../loadgen/conformance/trace.ts';
import { type TraceFlags, traceInput } from '../loadgen/conformance/trace-input.ts';
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

interface TraceOptions extends LoadgenOptions, TraceFlags {
  readonly userConf?: string;
  readonly full?: true;
}

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
      const { unknownNames, ...input } = traceInput(options, openConfFile(options.userConf));
      const loadgen = loadgenOfOptions(options);
      const trace = buildTrace({ ...input, loadgen, isFull: options.full === true });
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
