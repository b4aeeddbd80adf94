import type { ExactSettings, ExactValue } from './exact-settings.ts';
import type { LoadgenBehaviour } from './loadgen-behaviour.ts';
import { SETTINGS_FIELDS, type SettingsField } from './test-settings.ts';

/** Fields that the LoadGen of a round has and that files can set, or those that they cannot. */
export function fieldsOfRound(loadgen: LoadgenBehaviour, isInFiles: boolean): SettingsField[] {
  return SETTINGS_FIELDS.filter(
    ({ field, isNotInFiles = false }) =>
      isNotInFiles !== isInFiles &&
      (field !== 'accuracySampleCountOverride' || loadgen.knowsAccuracySampleCount),
  );
}

/**
 * Settings as a JSON object under LoadGen's names: seeds as text, flags as 0 and 1, counts with every
 * digit (which JSON.stringify has no way to write), infinite and not-a-number as text.
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

/** As C prints them. */
function cText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value < 0 ? '-inf' : 'inf';
}

/** Settings as a table for people: name, value, unit, and where the value comes from. */
export function settingsTable(settings: ExactSettings, fields: readonly SettingsField[]): string {
  const rows = fields.map(({ field, name, unit }) => {
    const { value, source } = settings.get(field);
    return [name, String(value), unit, source];
  });
  const all = [['setting', 'value', 'unit', 'from'], ...rows];
  const widths = [0, 1, 2].map((column) =>
    Math.max(...all.map((row) => (row[column] as string).length)),
  );
  const lines = all.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
