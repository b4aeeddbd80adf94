import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readJsonFile } from '../../../../shared/base/files/read-file.ts';
import type { SubmissionDivision, Suite } from '../../rules/submission-rounds.ts';
import {
  NETWORK_FIELDS,
  SYSTEM_FIELDS,
  type SystemField,
  TODO_MARK,
} from '../../tree/system-fields.ts';
import type { SystemEntry } from '../config/config-schema.ts';
import type { Problems, SubmissionConfig } from '../config/read-submission-config.ts';
import { checkNetwork } from '../diagram/network-diagram.ts';
import { isOpenOnly } from './check-run.ts';

const descriptionSchema = z.record(
  z.string(),
  z.unknown(),
  'must be an object with the fields of a system description',
);

/** Reads a system's description and holds it against the divisions that it is in. */
export async function readSystem(
  { entry: { systems, submitter }, resolve }: SubmissionConfig,
  id: string,
  divisions: readonly SubmissionDivision[],
  all: Problems,
) {
  const entry = systems[id] as SystemEntry;
  const place = all.at('systems', id);
  const problems = place.at('file');
  const path = resolve(entry.file);
  const fields = await problems.attempt(() => readJsonFile(path, descriptionSchema));
  if (fields === undefined) return undefined;
  const facts = path.replace(/\.json$/, '.facts.json');
  const factsFile = existsSync(facts) && facts !== path ? facts : undefined;
  const system = { ...entry, id, fields, factsFile };
  checkFields(system, divisions, problems);
  const said = textOf(fields['submitter']);
  if (isGiven(said) && said.toLowerCase() !== submitter.toLowerCase()) {
    problems.error(`submitter is "${said}"; the configuration says "${submitter}"`);
  }
  checkStatements(system, divisions, place);
  return system;
}

/**
 * A system with the fields of its description, before a division is put in, with what the configuration says of it, and
 * the path of NAME.facts.json, where that lies beside the description.
 */
export type PlannedSystem = NonNullable<Awaited<ReturnType<typeof readSystem>>>;

/** Suites that a system is in, by its `system_type`. */
export function plannedSuites({ fields }: PlannedSystem): Suite[] {
  const type = textOf(fields['system_type']).toLowerCase().split(',');
  return (['datacenter', 'edge'] as const).filter((suite) => type.includes(suite));
}

const NETWORK_KEYS = new Set(NETWORK_FIELDS.map(({ key }) => key));

/**
 * Fields of `systems/<system>.json` in a division. `is_network` is the text "True" (the JSON value crashes
 * official checkers) in network; closed is better off without any of the network's keys, as a checker asks for all
 * of them where it finds one; open keeps what the description has.
 */
export function systemFields(
  { fields }: Pick<PlannedSystem, 'fields'>,
  division: SubmissionDivision,
  submitter: string,
): Record<string, unknown> {
  const { is_network, ...rest } = fields;
  const own = { ...rest, division, submitter };
  const isNetwork = division === 'open' && String(is_network).toLowerCase() === 'true';
  if (isNetwork || division === 'network') return { ...own, is_network: 'True' };
  return Object.fromEntries(Object.entries(own).filter(([key]) => !NETWORK_KEYS.has(key)));
}

/** Keys that the build itself fills in. */
const OF_THE_BUILD = new Set(['division', 'submitter', 'is_network']);

function checkFields(
  system: PlannedSystem,
  divisions: readonly SubmissionDivision[],
  problems: Problems,
): void {
  const { fields } = system;
  const isNetwork = divisions.includes('network');
  const wanted = [...SYSTEM_FIELDS, ...(isNetwork ? NETWORK_FIELDS : [])].filter(
    ({ key }) => !OF_THE_BUILD.has(key),
  );
  const absent = wanted.filter(({ key }) => fields[key] === undefined).map(({ key }) => key);
  if (absent.length > 0) problems.error(`the description lacks ${absent.join(', ')}`);
  for (const field of wanted) {
    const why = fields[field.key] === undefined ? undefined : wrongValue(field, fields[field.key]);
    if (why !== undefined) problems.error(`${field.key} is ${why}`);
  }
  const inTree = divisions.flatMap((division) =>
    Object.entries(systemFields(system, division, '')),
  );
  const open = inTree.filter(([, value]) => textOf(value).startsWith(TODO_MARK));
  if (open.length > 0) {
    const keys = [...new Set(open.map(([key]) => key))].join(', ');
    problems.unfinished(`fill in ${keys}: there still stands ${TODO_MARK}`);
  }
  const types = ['datacenter', 'edge', 'datacenter,edge', 'edge,datacenter'];
  const words = {
    status: ['available', 'preview', 'rdi'],
    system_type: isNetwork ? ['datacenter'] : types,
  };
  for (const [key, known] of Object.entries(words)) {
    const value = textOf(fields[key]);
    if (!isGiven(value) || known.includes(value.toLowerCase())) continue;
    const why = known.length === 1 ? ' in the network division' : '';
    problems.error(`${key} is "${value}": it has to be ${known.join(' or ')}${why}`);
  }
}

/** Why a value is none of a field; undefined: it is one. */
function wrongValue({ isMeaningful, isNumber }: SystemField, value: unknown): string | undefined {
  if (typeof value !== 'string') return `${JSON.stringify(value)}: it has to be a text in quotes`;
  if (isMeaningful && value.trim() === '') {
    return 'empty: write N/A where there is nothing to say';
  }
  if (isNumber !== true || /^\d+$/.test(value) || value.startsWith(TODO_MARK)) return undefined;
  return `"${value}": it has to be a whole number in quotes, 0 for none`;
}

/** Source: inference_rules v4.1, "LoadGen Operation" (system architecture) and "Network division". */
function checkStatements(
  { network, data_path }: PlannedSystem,
  divisions: readonly SubmissionDivision[],
  problems: Problems,
): void {
  if (network !== undefined) checkNetwork(network, problems.at('network'));
  else if (divisions.includes('network')) {
    problems.error(
      '"network" is missing: the network division wants a diagram of all that lies between the LoadGen node and the SUT nodes',
    );
  }
  if (data_path === undefined && !isOpenOnly(divisions)) {
    problems.unfinished(
      '"data_path" is missing: the rules want the way of the data from the NIC to the accelerator told',
    );
  }
}

function isGiven(value: string): boolean {
  return value !== '' && !value.startsWith(TODO_MARK);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
