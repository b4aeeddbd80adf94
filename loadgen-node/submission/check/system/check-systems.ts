import { posix } from 'node:path';
import { isTruthy } from '../../../loadgen/logs/read/detail-log.ts';
import {
  SUITES,
  type SubmissionDivision,
  type SubmissionRound,
  type Suite,
} from '../../rules/submission-rounds.ts';
import {
  NETWORK_FIELDS,
  SYSTEM_FIELDS,
  type SystemField,
  TODO_MARK,
} from '../../tree/system-fields.ts';
import type { CheckContext } from '../read/check-context.ts';
import { countOf, isTrue, type JsonObject, shortened, textOf } from '../read/description-values.ts';
import { readJsonObject } from '../read/read-document.ts';
import { resultsFolder } from '../read/result-site.ts';
import { checkEcc } from './check-ecc.ts';
import { checkFabric } from './check-fabric.ts';

const STATUSES: readonly string[] = ['available', 'preview', 'rdi'];

/** Values of system_type, and the suites that they mean. */
const SYSTEM_TYPES: Readonly<Record<string, readonly Suite[]>> = {
  datacenter: ['datacenter'],
  edge: ['edge'],
  'datacenter,edge': SUITES,
  'edge,datacenter': SUITES,
};

/** Fields that the official tools join with other texts, or take in lower case: a number ends them. */
const TEXT_FIELDS: readonly string[] = [
  'division',
  'submitter',
  'status',
  'system_name',
  'system_type',
  'host_processor_model_name',
  'accelerator_model_name',
  'framework',
  'operating_system',
  'hw_notes',
  'sw_notes',
];

/** Keys that power measurements add. */
const POWER_FIELDS: readonly string[] = [
  'power_management',
  'filesystem',
  'boot_firmware_version',
  'management_firmware_version',
  'other_hardware',
  'number_of_type_nics_installed',
  'nics_enabled_firmware',
  'nics_enabled_os',
  'nics_enabled_connected',
  'network_speed_mbit',
  'power_supply_quantity_and_rating_watts',
  'power_supply_details',
  'disk_drives',
  'disk_controllers',
  'system_power_capacity',
];

/** Suites of a system; those of the datacenter where the description does not say. */
export function suitesOf(description: JsonObject | undefined): readonly Suite[] {
  return suitesOfType(textOf(description?.['system_type'])) ?? ['datacenter'];
}

/** Undefined for a text that is no system type. */
function suitesOfType(type: string): readonly Suite[] | undefined {
  return Object.hasOwn(SYSTEM_TYPES, type) ? SYSTEM_TYPES[type] : undefined;
}

/**
 * Checks the descriptions of a submitter's systems, those with results and the others.
 * @returns Descriptions by system.
 */
export function checkSystems(
  context: CheckContext,
  division: SubmissionDivision,
  submitter: string,
): ReadonlyMap<string, JsonObject | undefined> {
  const { listing, layout, findings } = context;
  const systems = listing.entries(resultsFolder(division, submitter)).folders;
  const descriptions = new Map<string, JsonObject | undefined>();
  for (const system of systems) {
    const path = layout.system(division, submitter, system);
    if (!listing.hasFile(path)) {
      findings.add('system-missing', path, `${system} has results and no description.`);
      continue;
    }
    const description = readJsonObject(context, path);
    descriptions.set(system, description);
    if (description === undefined) continue;
    checkDescription(context, { division, submitter, path }, description);
  }
  const folder = posix.dirname(layout.system(division, submitter, 'any'));
  for (const name of listing.entries(folder).files) {
    if (!name.endsWith('.json') || systems.includes(name.slice(0, -'.json'.length))) continue;
    findings.add('system-unused', posix.join(folder, name), 'No results are of this system.');
  }
  return descriptions;
}

interface DescriptionPlace {
  readonly division: SubmissionDivision;
  readonly submitter: string;
  readonly path: string;
}

function checkDescription(
  context: CheckContext,
  place: DescriptionPlace,
  description: JsonObject,
): void {
  const { division, path } = place;
  const { findings } = context;
  const isNetwork = division === 'network' || isTrue(description['is_network']);
  for (const field of SYSTEM_FIELDS) checkField(context, path, field, description);
  if (isNetwork && division !== 'closed') checkNetworkFields(context, path, description);
  for (const [key, value] of Object.entries(description)) {
    if (typeof value === 'string' && value.startsWith(TODO_MARK)) {
      findings.add('todo-left', path, `${key} is "${shortened(value, 160)}".`);
    }
    if (isKnown(key)) continue;
    findings.add('field-unknown', path, `No official tool knows ${key}.`);
  }
  checkIdentity(context, place, description);
  checkIsNetwork(context, place, description);
  if (division === 'network') checkFabric(context, path, description);
  if (suitesOf(description).includes('datacenter')) checkEcc(context, path, description);
}

function isKnown(key: string): boolean {
  return (
    POWER_FIELDS.includes(key) ||
    [...SYSTEM_FIELDS, ...NETWORK_FIELDS].some((one) => one.key === key)
  );
}

function checkField(
  { findings }: CheckContext,
  path: string,
  { key, isMeaningful, isNumber }: SystemField,
  description: JsonObject,
): void {
  const value = description[key];
  const shown = (JSON.stringify(value) ?? '').slice(0, 60);
  if (value === undefined) {
    findings.add('field-missing', path, `${key} is missing.`);
  } else if (isMeaningful && !isTruthy(value)) {
    findings.add('field-empty', path, `${key} is ${shown}, which counts as empty.`);
  } else if (isMeaningful && typeof value === 'string' && value.trim() === '') {
    findings.add('field-blank', path, `${key} is ${shown}.`);
  } else if (isTextNeeded(key, description) && typeof value !== 'string') {
    findings.add('field-not-text', path, `${key} is ${shown}.`);
  } else if (typeof value === 'object' && value !== null) {
    findings.add('field-not-plain', path, `${key} is ${shown}.`);
  } else if (isNumber === true && countOf(value) === undefined && !isToFillIn(value)) {
    findings.add('field-not-number', path, `${key} is ${shown}.`);
  }
}

/** Notes are joined, and the tools leave out what is empty, of whatever kind. */
function isTextNeeded(key: string, { [key]: value, sw_notes: other }: JsonObject): boolean {
  if (!TEXT_FIELDS.includes(key)) return false;
  if (key === 'sw_notes') return isTruthy(value);
  return key !== 'hw_notes' || isTruthy(value) || !isTruthy(other);
}

function isToFillIn(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(TODO_MARK);
}

function checkNetworkFields(context: CheckContext, path: string, description: JsonObject): void {
  const { findings } = context;
  for (const { key } of NETWORK_FIELDS) {
    // Its own rule is about this one.
    if (key === 'is_network') continue;
    const value = description[key];
    if (value === undefined) findings.add('field-missing', path, `${key} is missing.`);
    else if (!isTruthy(value) || (typeof value === 'string' && value.trim() === '')) {
      findings.add('network-field-empty', path, `${key} is empty.`);
    }
  }
}

/** Who, where, and in which state the system is. */
function checkIdentity(
  { findings }: CheckContext,
  { division, submitter, path }: DescriptionPlace,
  description: JsonObject,
): void {
  const said = (key: string): string | undefined => {
    const value = description[key];
    // What is to be filled in is told once.
    const isSaid = typeof value === 'string' && value !== '' && !value.startsWith(TODO_MARK);
    return isSaid ? value : undefined;
  };
  const saidDivision = said('division');
  if (saidDivision !== undefined && saidDivision !== division) {
    findings.add('division-differs', path, `division is "${saidDivision}", not "${division}".`);
  }
  const saidSubmitter = said('submitter');
  if (saidSubmitter !== undefined && saidSubmitter.toLowerCase() !== submitter.toLowerCase()) {
    const text = `submitter is "${saidSubmitter}", the folder ${submitter}.`;
    findings.add('submitter-differs', path, text);
  }
  const status = said('status');
  if (status !== undefined && !STATUSES.includes(status.toLowerCase())) {
    findings.add('status-unknown', path, `status is "${status}".`);
  }
  const type = said('system_type');
  if (type === undefined) return;
  if (suitesOfType(type) === undefined) {
    findings.add('system-type-unknown', path, `system_type is "${type}".`);
  } else if (division === 'network' && type !== 'datacenter') {
    findings.add('not-datacenter', path, `system_type is "${type}".`);
  }
}

function checkIsNetwork(
  { findings, round }: CheckContext,
  { division, path }: DescriptionPlace,
  description: JsonObject,
): void {
  const value = description['is_network'];
  if (division === 'closed') {
    if (value === undefined || value === null || isHarmless(value, description, round)) return;
    findings.add('is-network-in-closed', path, `is_network is ${JSON.stringify(value)}.`);
  } else if (value === undefined) {
    if (division === 'network') findings.add('field-missing', path, 'is_network is missing.');
  } else if (typeof value !== 'string') {
    findings.add('is-network-not-text', path, `is_network is ${JSON.stringify(value)}.`);
  } else if (division === 'network' && !isTrue(value)) {
    findings.add('is-network-false', path, `is_network is "${value}".`);
  }
}

/** A "False" is read as absent, but newer tools ask for the other keys beside it. */
function isHarmless(value: unknown, description: JsonObject, round: SubmissionRound): boolean {
  if (typeof value !== 'string' || isTrue(value)) return false;
  return round === 'v4.1' || NETWORK_FIELDS.every(({ key }) => description[key] !== undefined);
}
