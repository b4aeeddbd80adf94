import { at } from '../../../shared/base/at.ts';
import type { ExactSettings, ExactValue } from './exact-settings.ts';
import { type ConfFile, confModels } from './from-config.ts';
import { type LoadgenBehaviour, loadgenOf } from './loadgen-behaviour.ts';
import { applyAudit, type ConfSelection, readConfFiles } from './read-conf-files.ts';
import { SETTINGS_FIELDS, type SettingsField } from './test-settings.ts';

/**
 * Reads LoadGen's configuration files for a model and a scenario.
 * @param audit audit.config, applied after the others.
 */
export function settingsOfFiles(selection: ConfSelection, audit: ConfFile | undefined) {
  const reading = readConfFiles(selection);
  const audited = audit && applyAudit(reading.reader, reading.settings, audit);
  const settings = audited?.settings ?? reading.settings;
  const results = audited === undefined ? reading.results : [...reading.results, audited.result];
  return { selection, settings, results, problems: results.flatMap(({ problems }) => problems) };
}

type SettingsOfFiles = ReturnType<typeof settingsOfFiles>;

/** The settings as a table; those set by files come first. */
export function tableOfFiles({ selection, settings }: SettingsOfFiles): string {
  const loadgen = loadgenOf(selection.round);
  return settingsTable(settings, [
    ...fieldsOfRound(loadgen, true),
    ...fieldsOfRound(loadgen, false),
  ]);
}

/** The settings and the files' return codes, as JSON with exact numbers. */
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

/** Lines without effect, and LoadGen's messages about the files. */
export function notesOfFiles({ selection, results }: SettingsOfFiles): string[] {
  const { round, model } = selection;
  const notes = results.flatMap((result) => result.notes);
  for (const { kind, text } of results.flatMap((result) => result.events)) {
    if (kind === 'warning' || text.startsWith('Multiple')) notes.push(`LoadGen logs: ${text}`);
  }
  const models = confModels(round);
  if (!models.has(model)) {
    const known = [...models].filter((name) => name !== '*').join(', ');
    notes.push(
      `round ${round} has no lines for model "${model}", only those for every model; it names: ${known}`,
    );
  }
  return notes;
}

/** Fields of a round's LoadGen that files can, or cannot, set. */
export function fieldsOfRound(loadgen: LoadgenBehaviour, isInFiles: boolean): SettingsField[] {
  return SETTINGS_FIELDS.filter(
    ({ key, needsAccuracyCount = false }) =>
      (key !== null) === isInFiles && (!needsAccuracyCount || loadgen.knowsAccuracySampleCount),
  );
}

/**
 * Settings as a JSON object by LoadGen's names: seeds as text, flags as 0 and 1, counts with all
 * digits (which JSON.stringify cannot write), infinite and NaN as text.
 */
export function settingsJson(settings: ExactSettings, fields: readonly SettingsField[]): string {
  const members = fields.map(
    ({ field, name, type }) => `"${name}": ${jsonOf(settings.get(field).value, type)}`,
  );
  return `{${members.join(', ')}}`;
}

function jsonOf(value: ExactValue, type: SettingsField['type']): string {
  if (typeof value === 'bigint') return type === 'seed' ? `"${value}"` : String(value);
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number' && !Number.isFinite(value)) return `"${cText(value)}"`;
  return JSON.stringify(value);
}

/** A number as C prints it. */
function cText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value < 0 ? '-inf' : 'inf';
}

/** Settings as a table for people: name, value, unit and source. */
function settingsTable(settings: ExactSettings, fields: readonly SettingsField[]): string {
  const rows = fields.map(({ field, name, unit }) => {
    const { value, source } = settings.get(field);
    return [name, String(value), unit, source];
  });
  const all = [['setting', 'value', 'unit', 'from'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => at(row, column).length)));
  const lines = all.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
