import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readJsonFile } from '../../../loadgen/conformance/read-json-file.ts';
import type { SubmissionDivision, Suite } from '../../rules/submission-rounds.ts';
import { NETWORK_FIELDS, SYSTEM_FIELDS, TODO_MARK } from '../../tree/system-fields.ts';
import type { SystemEntry } from '../config/config-types.ts';
import type { YamlPath } from '../config/placed-yaml.ts';
import type { Problems } from '../config/problems.ts';
import type { SubmissionConfig } from '../config/read-submission-config.ts';
import { checkNetwork } from '../diagram/topology.ts';
import type { PlannedSystem } from './plan-types.ts';
import { systemFields } from './system-file.ts';

const descriptionSchema: z.ZodType<Record<string, unknown>> = z.record(
  z.string(),
  z.unknown(),
  'must be an object with the fields of a system description',
);

/** Keys that the build itself fills in. */
const OF_THE_BUILD = new Set(['division', 'submitter', 'is_network']);

const STATUSES = ['available', 'preview', 'rdi'];
const SYSTEM_TYPES = ['datacenter', 'edge', 'datacenter,edge', 'edge,datacenter'];

/** Reads a system's description and holds it against the divisions that it is in. */
export async function readSystem(
  config: SubmissionConfig,
  id: string,
  divisions: readonly SubmissionDivision[],
  problems: Problems,
): Promise<PlannedSystem | undefined> {
  const entry = config.entry.systems[id] as SystemEntry;
  const path: YamlPath = ['systems', id, 'file'];
  const file = config.resolve(entry.file);
  const fields = await problems.attempt(path, () => readJsonFile(file, descriptionSchema));
  if (fields === undefined) return undefined;
  const factsFile = file.replace(/\.json$/, '.facts.json');
  const system: PlannedSystem = {
    id,
    fields,
    factsFile: existsSync(factsFile) && factsFile !== file ? factsFile : undefined,
    network: entry.network,
    dataPath: entry.data_path,
    dataPathEvidence: entry.data_path_evidence,
  };
  checkFields(system, divisions, path, problems);
  checkSubmitter(fields, config.entry.submitter, path, problems);
  if (entry.network !== undefined)
    checkNetwork(entry.network, ['systems', id, 'network'], problems);
  checkStatements(system, divisions, problems);
  return system;
}

/** Suites that a system is in, by its `system_type`. */
export function plannedSuites({ fields }: PlannedSystem): Suite[] {
  const type = textOf(fields['system_type']).toLowerCase().split(',');
  return (['datacenter', 'edge'] as const).filter((suite) => type.includes(suite));
}

function checkFields(
  system: PlannedSystem,
  divisions: readonly SubmissionDivision[],
  path: YamlPath,
  problems: Problems,
): void {
  const { fields } = system;
  const isNetwork = divisions.includes('network');
  const wanted = [...SYSTEM_FIELDS, ...(isNetwork ? NETWORK_FIELDS : [])].filter(
    ({ key }) => !OF_THE_BUILD.has(key),
  );
  const absent = wanted.filter(({ key }) => fields[key] === undefined).map(({ key }) => key);
  if (absent.length > 0) problems.error(path, `the description lacks ${absent.join(', ')}`);
  for (const { key, isMeaningful, isNumber } of wanted) {
    const value = fields[key];
    if (value === undefined) continue;
    if (typeof value !== 'string') {
      problems.error(path, `${key} is ${JSON.stringify(value)}: it has to be a text in quotes`);
    } else if (isMeaningful && value.trim() === '') {
      problems.error(path, `${key} is empty: write N/A where there is nothing to say`);
    } else if (isNumber === true && !/^\d+$/.test(value) && !value.startsWith(TODO_MARK)) {
      problems.error(
        path,
        `${key} is "${value}": it has to be a whole number in quotes, 0 for none`,
      );
    }
  }
  const inTree = divisions.flatMap((division) =>
    Object.entries(systemFields(system, division, '')),
  );
  const open = inTree
    .filter(([, value]) => textOf(value).startsWith(TODO_MARK))
    .map(([key]) => key);
  if (open.length > 0)
    problems.unfinished(
      path,
      `fill in ${[...new Set(open)].join(', ')}: there still stands ${TODO_MARK}`,
    );
  oneOf(fields, 'status', STATUSES, path, problems);
  oneOf(fields, 'system_type', isNetwork ? ['datacenter'] : SYSTEM_TYPES, path, problems);
}

function oneOf(
  fields: Readonly<Record<string, unknown>>,
  key: string,
  words: readonly string[],
  path: YamlPath,
  problems: Problems,
): void {
  const value = textOf(fields[key]);
  if (value === '' || value.startsWith(TODO_MARK) || words.includes(value.toLowerCase())) return;
  const why = words.length === 1 ? ' in the network division' : '';
  problems.error(path, `${key} is "${value}": it has to be ${words.join(' or ')}${why}`);
}

function checkSubmitter(
  fields: Readonly<Record<string, unknown>>,
  submitter: string,
  path: YamlPath,
  problems: Problems,
): void {
  const said = textOf(fields['submitter']);
  if (said === '' || said.startsWith(TODO_MARK)) return;
  if (said.toLowerCase() === submitter.toLowerCase()) return;
  problems.error(path, `submitter is "${said}"; the configuration says "${submitter}"`);
}

/** Source: inference_rules v4.1, "LoadGen Operation" (system architecture) and "Network division". */
function checkStatements(
  { id, network, dataPath }: PlannedSystem,
  divisions: readonly SubmissionDivision[],
  problems: Problems,
): void {
  const path: YamlPath = ['systems', id];
  if (divisions.includes('network') && network === undefined) {
    problems.error(
      path,
      '"network" is missing: the network division wants a diagram of all that lies between the LoadGen node and the SUT nodes',
    );
  }
  if (dataPath === undefined && divisions.some((division) => division !== 'open')) {
    problems.unfinished(
      path,
      '"data_path" is missing: the rules want the way of the data from the NIC to the accelerator told',
    );
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
