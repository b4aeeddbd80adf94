import { InvalidArgumentError } from 'commander';
import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { printText } from '../../shared/base/process/terminal.ts';
import { choice } from '../../shared/config/setting.ts';
import { SCENARIOS } from '../../shared/domain/scenario.ts';
import { DEFAULT_ROUND, ONLY_JUDGED, ROUNDS } from '../../shared/rules/rounds/rounds.ts';
import { exactJson } from '../loadgen/base/number-format.ts';
import { buildTrace } from '../loadgen/conformance/trace.ts';
import { type TraceFlags, traceInput } from '../loadgen/conformance/trace-input.ts';
import { loadgenOf } from '../loadgen/settings/loadgen-behaviour.ts';
import { openConfFile } from '../run/plan/conf-files.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { verb } from './verb.ts';

interface TraceOptions extends Omit<TraceFlags, 'round' | 'scenario'> {
  readonly userConf?: string;
  readonly full?: true;
}

/**
 * `longhaul loadgen trace`: what LoadGen would load, issue and log, as JSON, with or without
 * `--json`.
 */
export const traceVerb = verb({
  settings: {
    scenario: choice(SCENARIOS, 'field scenario'),
    round: choice(ROUNDS, "round whose LoadGen's behaviour is followed", {
      fallback: DEFAULT_ROUND,
      hints: ONLY_JUDGED,
    }),
    rngLibrary: RUN_SETTINGS.rngLibrary,
  },
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
    const { scenario, round, rngLibrary } = values;
    const flags = { ...options, round, ...(scenario !== undefined && { scenario }) };
    const { unknownNames, ...input } = traceInput(flags, openConfFile(options.userConf));
    const loadgen = { ...loadgenOf(round), rngLibrary };
    const built = buildTrace({ ...input, loadgen, isFull: options.full === true });
    if (unknownNames.length > 0) {
      // Stdout must contain only JSON.
      const names = unknownNames.join(', ');
      printText(process.stderr, `longhaul: not LoadGen's and without effect: ${names}\n`);
    }
    printText(process.stdout, `${exactJson(built)}\n`);
    return {};
  },
});

/** Parses a numeric flag. @throws InvalidArgumentError */
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
