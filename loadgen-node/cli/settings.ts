import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT, reportError } from '../../shared/base/process/exit-codes.ts';
import { printText } from '../../shared/base/process/terminal.ts';
import { wantsJson } from '../../shared/config/command-line.ts';
import { choice, type SettingValues, text } from '../../shared/config/setting.ts';
import { SCENARIOS } from '../../shared/domain/scenario.ts';
import { DEFAULT_ROUND, ONLY_JUDGED, ROUNDS } from '../../shared/rules/rounds/rounds.ts';
import { explainSetting } from '../loadgen/settings/explain-setting.ts';
import {
  jsonOfFiles,
  notesOfFiles,
  settingsOfFiles,
  tableOfFiles,
} from '../loadgen/settings/settings-of-files.ts';
import { openAuditConfig, openConfFile } from '../run/plan/conf-files.ts';
import { verb } from './verb.ts';

const SETTINGS = {
  benchmark: text('name', "benchmark as the files name it, for example resnet50 ('*': any)", {
    required: true,
  }),
  scenario: choice(SCENARIOS, 'how queries arrive', { required: true }),
  round: choice(ROUNDS, 'round whose LoadGen and mlperf.conf hold', {
    fallback: DEFAULT_ROUND,
    hints: ONLY_JUDGED,
  }),
  mlperfConf: text('file', "mlperf.conf in place of the round's own"),
  userConf: text('file', "LoadGen's user.conf"),
  auditConf: text('file', 'audit.config, which overrides the others'),
};

/** `longhaul loadgen settings explain`: explains a setting by any of its names. */
const explain = verb({
  takes: { '<key>': "LoadGen's field or file key, or a flag of longhaul run" },
  flags: (command) => command.allowUnknownOption(), // A flag is a name here.
  example: `
Examples:
  longhaul loadgen settings explain server_target_latency_ns
  longhaul loadgen settings explain --min-duration`,
  action: (_, key: string) => explainSetting(key),
});

/**
 * `longhaul loadgen settings`: settings that LoadGen's configuration files give for a benchmark and
 * a scenario.
 */
export const settingsVerb = verb({
  settings: SETTINGS,
  example: `
Examples:
  longhaul loadgen settings --benchmark resnet50 --scenario Server --user-conf user.conf
  longhaul loadgen settings explain target_latency`,
  verbs: { explain: ['explain a setting, by any of its names', explain] },
  action: ({ values, command }) => ({ exitCode: showSettings(values, wantsJson(command)) }),
});

/** Prints the table, or all settings and the return code as JSON. @returns The exit code. */
function showSettings(options: SettingValues<typeof SETTINGS>, isJson: boolean): number {
  const { benchmark: model, scenario, round } = options;
  const mlperfConf = openConfFile(options.mlperfConf);
  const userConf = openConfFile(options.userConf);
  const selection = { round, model, scenario, mlperfConf, userConf };
  const found = settingsOfFiles(selection, openConfFile(options.auditConf));
  const { problems } = found;
  if (isJson) printText(process.stdout, jsonOfFiles(found));
  else if (problems.length === 0) printText(process.stdout, tableOfFiles(found));
  const notes = notesOfFiles(found);
  if (options.auditConf === undefined && openAuditConfig(undefined) !== undefined) {
    notes.push('./audit.config is not in these; "longhaul run" uses it, --audit-conf shows it');
  }
  // On stderr, so that stdout has only the table or the JSON.
  for (const note of notes) printText(process.stderr, `longhaul: note: ${note}\n`);
  if (problems.length === 0) return EXIT.valid;
  const error = configInvalid(problems.join('\n'));
  if (!isJson) throw error;
  // The document contains the return code: stdout must have only one document.
  return reportError(error);
}
