import { Option } from 'commander';
import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT, reportError } from '../../shared/base/process/exit-codes.ts';
import { SCENARIOS, type Scenario } from '../../shared/domain/scenario.ts';
import { DEFAULT_ROUND, ROUNDS, type Round } from '../../shared/rules/rounds/rounds.ts';
import { explainSetting } from '../loadgen/settings/explain-setting.ts';
import {
  jsonOfFiles,
  notesOfFiles,
  settingsOfFiles,
  tableOfFiles,
} from '../loadgen/settings/settings-of-files.ts';
import { openAuditConfig, openConfFile } from '../run/plan/conf-files.ts';
import { verb } from './verb.ts';

interface SettingsOptions {
  readonly model?: string;
  readonly scenario?: Scenario;
  readonly round: Round;
  readonly mlperfConf?: string;
  readonly userConf?: string;
  readonly auditConf?: string;
  readonly json?: boolean;
}

/** `longhaul settings explain`: what a setting is, in whatever name one knows it. */
const explain = verb({
  takes: { '<key>': "LoadGen's field or file key, or a flag of longhaul run" },
  flags: (command) => command.allowUnknownOption(), // A flag is a name here.
  example: `
Examples:
  longhaul settings explain server_target_latency_ns
  longhaul settings explain target_latency
  longhaul settings explain --min-duration`,
  action: (_, key: string) => explainSetting(key),
});

/** `longhaul settings`: what LoadGen's configuration files make of a model and a scenario. */
export const settingsVerb = verb({
  json: 'own',
  flags: (command) =>
    command
      .option('--model <name>', "model as the files name it, for example resnet50 ('*': any)")
      .addOption(new Option('--scenario <scenario>', 'how queries arrive').choices(SCENARIOS))
      .addOption(
        new Option('--round <round>', 'round whose LoadGen and mlperf.conf hold')
          .choices(ROUNDS)
          .default(DEFAULT_ROUND),
      )
      .option('--mlperf-conf <file>', "mlperf.conf in place of the round's own")
      .option('--user-conf <file>', "LoadGen's user.conf")
      .option('--audit-conf <file>', 'audit.config, over the others')
      .option('--json', 'all settings and the return code as JSON'),
  example: `
Examples:
  longhaul settings --model resnet50 --scenario Server
  longhaul settings --model resnet50 --scenario Server --user-conf user.conf --round v6.1 --json
  longhaul settings explain target_latency`,
  verbs: { explain: ['explain a setting, by any of its names', explain] },
  action: ({ command }) => ({ exitCode: showSettings(command.opts<SettingsOptions>()) }),
});

/** @returns The exit code. */
function showSettings(options: SettingsOptions): number {
  const { model, scenario, round } = options;
  if (model === undefined || scenario === undefined) {
    const what = model === undefined ? '--model <name>' : '--scenario <scenario>';
    throw configInvalid(`${what} is needed (see --help)`);
  }
  const mlperfConf = openConfFile(options.mlperfConf);
  const userConf = openConfFile(options.userConf);
  const selection = { round, model, scenario, mlperfConf, userConf };
  const found = settingsOfFiles(selection, openConfFile(options.auditConf));
  const { problems } = found;
  if (options.json === true) process.stdout.write(jsonOfFiles(found));
  else if (problems.length === 0) process.stdout.write(tableOfFiles(found));
  const notes = notesOfFiles(found);
  if (options.auditConf === undefined && openAuditConfig(undefined) !== undefined) {
    notes.push('./audit.config is not in these; "longhaul run" uses it, --audit-conf shows it');
  }
  // On stderr: stdout stays the table or the JSON.
  for (const note of notes) process.stderr.write(`longhaul: note: ${note}\n`);
  if (problems.length === 0) return EXIT.valid;
  const error = configInvalid(problems.join('\n'));
  if (options.json !== true) throw error;
  // The document has the return code: stdout takes no second one.
  return reportError(error);
}
