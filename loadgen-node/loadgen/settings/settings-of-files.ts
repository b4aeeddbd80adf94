import { mlperfConfOf, type Round } from '../../../shared/rules/rounds/rounds.ts';
import { parseConf } from './conf-grammar.ts';
import type { ExactSettings } from './exact-settings.ts';
import type { ConfFile, ConfResult } from './from-config.ts';
import { loadgenOf } from './loadgen-behaviour.ts';
import { fieldsOfRound, settingsJson, settingsTable } from './print-exact-settings.ts';
import { applyAudit, type ConfSelection, readConfFiles } from './read-conf-files.ts';

/** What LoadGen's configuration files make of a model and a scenario. */
export interface SettingsOfFiles {
  readonly selection: ConfSelection;
  readonly settings: ExactSettings;
  /** By file, in the order in which they are read. */
  readonly results: readonly ConfResult[];
  /** What is wrong in the files. */
  readonly problems: readonly string[];
}

/** @param audit audit.config, over the others. */
export function settingsOfFiles(
  selection: ConfSelection,
  audit: ConfFile | undefined,
): SettingsOfFiles {
  const reading = readConfFiles(selection);
  const audited = audit && applyAudit(reading.reader, reading.settings, audit);
  const settings = audited?.settings ?? reading.settings;
  const results = audited === undefined ? reading.results : [...reading.results, audited.result];
  return { selection, settings, results, problems: results.flatMap(({ problems }) => problems) };
}

/** The settings as a table, those that files set first. */
export function tableOfFiles({ selection, settings }: SettingsOfFiles): string {
  const loadgen = loadgenOf(selection.round);
  return settingsTable(settings, [
    ...fieldsOfRound(loadgen, true),
    ...fieldsOfRound(loadgen, false),
  ]);
}

/** The settings and the return codes of the files, as JSON with exact numbers. */
export function jsonOfFiles({ selection, settings, results }: SettingsOfFiles): string {
  const { round, model, scenario } = selection;
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

/** What had no effect, and what LoadGen logs of the files. */
export function notesOfFiles({ selection, results }: SettingsOfFiles): string[] {
  const { round, model } = selection;
  const notes = results.flatMap((result) => result.notes);
  for (const { kind, text } of results.flatMap((result) => result.events)) {
    if (kind === 'warning' || text.startsWith('Multiple')) notes.push(`LoadGen logs: ${text}`);
  }
  const models = modelsOf(round);
  if (!models.has(model)) {
    const known = [...models].filter((name) => name !== '*').join(', ');
    notes.push(
      `round ${round} has no lines for model "${model}", only those for every model; it names: ${known}`,
    );
  }
  return notes;
}

function modelsOf(round: Round): Set<string> {
  const keys = [...parseConf(mlperfConfOf(round)).entries.keys()];
  return new Set([...keys.map((key) => key.split('.').slice(0, -2).join('.')), '*']);
}
