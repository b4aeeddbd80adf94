import { type Command, Option } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { reportError } from '../../shared/base/process/report-error.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { SCENARIOS, type Scenario } from '../../shared/domain/scenario.ts';
import {
  DEFAULT_ROUND,
  mlperfConfOf,
  ROUNDS,
  type Round,
} from '../../shared/rules/rounds/rounds.ts';
import { parseConf } from '../loadgen/settings/conf-grammar.ts';
import type { ExactSettings } from '../loadgen/settings/exact-settings.ts';
import type { ConfResult } from '../loadgen/settings/from-config.ts';
import { loadgenOf } from '../loadgen/settings/loadgen-behaviour.ts';
import {
  fieldsOfRound,
  settingsJson,
  settingsTable,
} from '../loadgen/settings/print-exact-settings.ts';
import { applyAudit, readConfFiles } from '../loadgen/settings/read-conf-files.ts';
import { openAuditConfig, openConfFile } from '../run/plan/conf-files.ts';
import { explainCommand } from './settings-explain.ts';

const EXAMPLE = `
Examples:
  longhaul settings --model resnet50 --scenario Server
  longhaul settings --model resnet50 --scenario Server --user-conf user.conf --round v6.1 --json
  longhaul settings explain target_latency`;

interface SettingsOptions {
  readonly model?: string;
  readonly scenario?: Scenario;
  readonly round: Round;
  readonly mlperfConf?: string;
  readonly userConf?: string;
  readonly auditConf?: string;
  readonly json?: boolean;
}

/** `longhaul settings`: what LoadGen's configuration files make of a model and a scenario. */
export function settingsCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('settings', "show what LoadGen's configuration files set")
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
    .option('--json', 'all settings and the return code as JSON')
    .addHelpText('after', EXAMPLE);
  command.addCommand(explainCommand());
  return command.action(() => showSettings(command.opts<SettingsOptions>(), setExitCode));
}

function showSettings(options: SettingsOptions, setExitCode: (code: number) => void): void {
  const { model, scenario, round } = options;
  if (model === undefined || scenario === undefined) {
    const what = model === undefined ? '--model <name>' : '--scenario <scenario>';
    throw new MlperfError('ERR_CONFIG_INVALID', `${what} is needed (see --help)`);
  }
  const selection = {
    round,
    model,
    scenario,
    mlperfConf: openConfFile(options.mlperfConf),
    userConf: openConfFile(options.userConf),
  };
  const reading = readConfFiles(selection);
  const audit = openConfFile(options.auditConf);
  const audited = audit && applyAudit(reading.reader, reading.settings, audit);
  const settings = audited?.settings ?? reading.settings;
  const results = audited === undefined ? reading.results : [...reading.results, audited.result];
  const problems = results.flatMap((result) => result.problems);
  if (options.json === true) process.stdout.write(jsonText(selection, settings, results));
  else if (problems.length === 0) process.stdout.write(settingsTable(settings, allFields(round)));
  sayNotes(options, results);
  if (problems.length === 0) return;
  const error = new MlperfError('ERR_CONFIG_INVALID', problems.join('\n'));
  if (options.json !== true) throw error;
  // The document has the return code: stdout takes no second one.
  setExitCode(reportError(error));
}

function allFields(round: Round): ReturnType<typeof fieldsOfRound> {
  const loadgen = loadgenOf(round);
  return [...fieldsOfRound(loadgen, true), ...fieldsOfRound(loadgen, false)];
}

function jsonText(
  { round, model, scenario }: { round: Round; model: string; scenario: Scenario },
  settings: ExactSettings,
  results: readonly ConfResult[],
): string {
  const loadgen = loadgenOf(round);
  const rc = results.find((result) => result.rc !== 0)?.rc ?? 0;
  const files = results.map(({ name, rc: code, events }) =>
    JSON.stringify({ file: name, rc: code, log: events.map(({ key, text }) => ({ key, text })) }),
  );
  return `{
"round": ${JSON.stringify(round)},
"model": ${JSON.stringify(model)},
"scenario": ${JSON.stringify(scenario)},
"rc": ${rc},
"files": [${files.join(',\n')}],
"settings": ${settingsJson(settings, fieldsOfRound(loadgen, true))},
"not_in_files": ${settingsJson(settings, fieldsOfRound(loadgen, false))}
}
`;
}

/** What had no effect, on stderr: stdout stays the table or the JSON. */
function sayNotes(options: SettingsOptions, results: readonly ConfResult[]): void {
  const notes = results.flatMap((result) => result.notes);
  for (const { kind, text } of results.flatMap((result) => result.events)) {
    if (kind === 'warning' || text.startsWith('Multiple')) notes.push(`LoadGen logs: ${text}`);
  }
  const models = modelsOf(options.round);
  if (options.model !== undefined && !models.has(options.model)) {
    const known = [...models].filter((name) => name !== '*').join(', ');
    notes.push(
      `round ${options.round} has no lines for model "${options.model}", only those for every model; it names: ${known}`,
    );
  }
  if (options.auditConf === undefined && openAuditConfig(undefined) !== undefined) {
    notes.push('./audit.config is not in these; "longhaul run" uses it, --audit-conf shows it');
  }
  for (const note of notes) process.stderr.write(`longhaul: note: ${note}\n`);
}

function modelsOf(round: Round): Set<string> {
  const keys = [...parseConf(mlperfConfOf(round)).entries.keys()];
  return new Set([...keys.map((key) => key.split('.').slice(0, -2).join('.')), '*']);
}
