import type { Suite } from '../../../../shared/rules/rows/model-row.ts';
import { isTruthy } from '../../../loadgen/logs/read/detail-log.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import {
  isTodo,
  NETWORK_FIELDS,
  SYSTEM_FIELDS,
  SYSTEM_TYPES,
  type SystemField,
  systemKeysOf,
} from '../../tree/system-fields.ts';
import type { Facts, JsonObject, SystemSite } from './sites.ts';

/** True for a text that the official tools accept as yes; the JSON value true crashes them. */
export function isTrue(value: unknown): boolean {
  return typeof value === 'string' && value.toLowerCase() === 'true';
}

/** True for an empty or blank text. */
export function isBlank(value: unknown): value is string {
  return typeof value === 'string' && value.trim() === '';
}

/** Text of a value that may be of any type. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A text of a description; undefined if it is empty or a TODO, which other rules report. */
export function stated(description: JsonObject, key: string): string | undefined {
  const value = description[key];
  return typeof value === 'string' && value !== '' && !isTodo(value) ? value : undefined;
}

/** v0.5's check accepts null for a missing value. */
export function isMissing(value: unknown, round: SubmissionRound): boolean {
  return value === undefined || (value === null && round === 'v0.5');
}

/** A name that must match a folder; v0.5 compares any value. */
export function nameIn(description: JsonObject, key: string, round: SubmissionRound): unknown {
  return round === 'v0.5' ? description[key] : stated(description, key);
}

/** A count in a description; undefined if it is not a number. */
export function countOf(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : textOf(value).trim();
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** A text cut to `max` characters after a whole word, with `...` if something was omitted. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 3);
  const end = cut.search(/\s\S*$/);
  return `${end > 0 ? cut.slice(0, end) : cut}...`;
}

/** Suites of a system; default: datacenter. */
export function suitesOf(description: JsonObject | undefined): readonly Suite[] {
  return SYSTEM_TYPES.get(textOf(description?.['system_type'])) ?? ['datacenter'];
}

/** Keys that power measurements add. */
const POWER_FIELDS = [
  'power_management filesystem boot_firmware_version management_firmware_version other_hardware',
  'number_of_type_nics_installed nics_enabled_firmware nics_enabled_os nics_enabled_connected',
  'network_speed_mbit power_supply_quantity_and_rating_watts power_supply_details disk_drives',
  'disk_controllers system_power_capacity',
].flatMap((keys) => keys.split(' '));

/** Keys known to at least one official tool. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...POWER_FIELDS,
  ...[...SYSTEM_FIELDS, ...NETWORK_FIELDS].map(({ key }) => key),
]);

/** Text on keys unknown to a round's official tools. */
export function unknownKeys(
  object: JsonObject,
  known: Iterable<string>,
  round: SubmissionRound,
): string[] {
  const all = new Set(known);
  const others = Object.keys(object).filter((key) => !all.has(key));
  return others.map((key) => `No official tool of ${round} knows ${key}.`);
}

/** Problems of an existing value; only the first is reported. */
type FieldFault = 'empty' | 'blank' | 'not-text' | 'not-plain' | 'not-number';

function faultOf(field: SystemField, description: JsonObject): FieldFault | undefined {
  const { key, isMeaningful, isNumber } = field;
  const value = description[key];
  if (value === undefined) return undefined;
  if (isMeaningful && !isTruthy(value)) return 'empty';
  if (isMeaningful && isBlank(value)) return 'blank';
  if (isTextNeeded(field, description) && typeof value !== 'string') return 'not-text';
  if (typeof value === 'object' && value !== null) return 'not-plain';
  const isFigure = countOf(value) !== undefined || isTodo(value);
  return isNumber === true && !isFigure ? 'not-number' : undefined;
}

/** A check of the fields of every description. @param why End of its text, before the full stop. */
export function fieldsThatAre(fault: FieldFault, why = '') {
  return ({ description, round }: Facts['description']): string[] =>
    systemKeysOf(round)
      .filter((field) => faultOf(field, description) === fault)
      .map(({ key }) => `${key} is ${JSON.stringify(description[key]).slice(0, 60)}${why}.`);
}

/**
 * True if a text is required. The official tools concatenate notes, and omit empty values of any
 * kind.
 */
function isTextNeeded({ key, isText = false }: SystemField, description: JsonObject): boolean {
  const hasValue = isTruthy(description[key]);
  if (key === 'sw_notes') return hasValue;
  return isText && (key !== 'hw_notes' || hasValue || !isTruthy(description['sw_notes']));
}

/** True for a network system outside the closed division. */
export function isNetworkSystem({
  division,
  description,
}: Pick<SystemSite, 'division' | 'description'>): boolean {
  return division === 'network' || (division === 'open' && isTrue(description?.['is_network']));
}

/** Text on a value that is still a TODO. */
export function todoIn([key, value]: readonly [key: string, value: unknown]): string | false {
  return isTodo(value) && `${key} is "${shortened(textOf(value), 160)}".`;
}

/** Interconnects that are buses. Source: inference_rules v4.1, examples of forbidden ones. */
const BUS =
  /\b(?:PCI(?:e|[\s-]?Express)?|CXL|CCIX|Hyper-?Transport|NVLink|NVSwitch|QPI|UPI|ICI)\b/i;

/** Text on the first interconnect key that names a bus; cards may be on a host's bus. */
export function busOf(description: JsonObject): string | undefined {
  return ['network_type', 'network_media', 'network_protocol']
    .filter((key) => BUS.test(textOf(description[key])))
    .map((key) => `${key} is "${textOf(description[key])}".`)[0];
}

/** Text between "ECC" and its state: "ECC enabled", "ECC: on", "ECC is off". */
const BETWEEN = '(?:\\s*[:=(]\\s*|\\s+(?:is\\s+)?)';

/** Matches a memory text that states ECC off. */
export const ECC_OFF: RegExp = new RegExp(
  `\\bnon-?\\s?ECC\\b|\\b(?:no|without)\\s+ECC\\b|\\bECC${BETWEEN}(?:disabled|off|none|no)\\b`,
  'i',
);
/** Matches a memory text that states ECC on. */
export const ECC_ON: RegExp = new RegExp(`\\bECC${BETWEEN}(?:enabled|on|active|yes)\\b`, 'i');

/**
 * Memory texts of a datacenter system, which must have ECC on, as [key, text]. Missing, empty or
 * TODO values are reported by other rules.
 */
export function eccTexts(description: JsonObject): [key: string, value: string][] {
  if (!suitesOf(description).includes('datacenter')) return [];
  const accelerators = countOf(description['accelerators_per_node']) ?? 0;
  const memory = textOf(description['accelerator_memory_configuration']);
  const hasMemory = accelerators > 0 && !/^\s*(?:n\/a|none|-)?\s*$/i.test(memory);
  return ['host_memory_configuration', ...(hasMemory ? ['accelerator_memory_configuration'] : [])]
    .map((key): [string, string] => [key, textOf(description[key])])
    .filter(([, value]) => !isBlank(value) && !isTodo(value));
}
