import { isMap, isScalar } from 'yaml';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readNamedText } from '../../../shared/base/files/read-file.ts';
import { parseGoodYaml } from '../../../shared/base/files/yaml-text.ts';
import { nearest } from '../../../shared/base/text.ts';
import type { Suite } from '../../../shared/rules/rows/model-row.ts';
import type { SubmissionDivision } from '../rules/submission-rounds.ts';
import {
  isTodo,
  NETWORK_FIELDS,
  STATUSES,
  SYSTEM_FIELDS,
  type SystemField,
} from '../tree/system-fields.ts';
import { type FactsFile, nameOf } from './facts-file.ts';
import { hostFields, present, todo, UNSEEN_ACCELERATORS } from './host-fields.ts';
import { networkFields } from './network-fields.ts';
import { hardwareNotes, namesBy, softwareNotes } from './system-notes.ts';

/** Facts of the machines, and values from flags and a file. */
export interface DescriptionParts {
  readonly division: SubmissionDivision;
  readonly suite: Suite;
  readonly facts: FactsFile;
  /** How the QDL uses its connections. */
  readonly session: Parameters<typeof networkFields>[1];
  /** Values of flags by field; they override the file, which overrides the facts. */
  readonly said: Readonly<Record<string, string>>;
  readonly merged: MergeValues;
}

/** A system description: every field with its text, in the rules' order. */
export type SystemDescription = Readonly<Record<string, string>>;

/**
 * Fields of a description. A closed one has no `is_network`: with it the tools would require the
 * other network keys, too. Source: the official checkers.
 */
function fieldsWith(division: SubmissionDivision, hasNodes: boolean): readonly SystemField[] {
  return division === 'closed' || !hasNodes ? SYSTEM_FIELDS : ALL_FIELDS;
}

const ALL_FIELDS = [...SYSTEM_FIELDS, ...NETWORK_FIELDS];

/** User input that is known before any machine is asked. */
type GivenParts = Pick<DescriptionParts, 'division' | 'suite' | 'said' | 'merged'>;

/** @throws MlperfError `ERR_CONFIG_INVALID` listing every value that the tools would refuse */
export function requireGiven(parts: GivenParts, hasNodes: boolean): void {
  const given: SystemDescription = { ...parts.merged.values, ...parts.said };
  const problems = fieldsWith(parts.division, hasNodes).flatMap((field) => {
    const { key } = field;
    const value = given[key];
    const wanted = value === undefined ? undefined : wantedInstead(field, value, parts);
    const where = key in parts.said ? key : `${parts.merged.places[key] ?? ''}: ${key}`;
    return wanted === undefined ? [] : [`${where}: "${value}" must be ${wanted}`];
  });
  const all = [...parts.merged.problems, ...problems];
  if (all.length > 0) throw new MlperfError('ERR_CONFIG_INVALID', all.join('\n'));
}

/** Text on values that the tools accept instead of this one; undefined if they accept it. */
function wantedInstead(
  { key, isNumber, isMeaningful }: SystemField,
  value: string,
  { division, suite }: GivenParts,
): string | undefined {
  if (isTodo(value)) return undefined;
  if (isNumber === true && !/^\d+$/.test(value)) return 'a whole number';
  if (isMeaningful && value === '') return 'a text that is not empty; "N/A" is one';
  if (key === 'status' && !STATUSES.some((one) => one === value.toLowerCase())) {
    return 'available, preview or rdi';
  }
  if (key === 'is_network' && value !== 'True') return 'True';
  const fixed = { division, system_type: suite }[key];
  if (fixed === undefined || value === fixed) return undefined;
  return `${fixed}, or say ${key === 'division' ? '--division' : '--system-type'} ${value}`;
}

/**
 * Composes a description.
 * @throws MlperfError as {@link requireGiven}
 */
export function composeDescription(parts: DescriptionParts): SystemDescription {
  const { division, suite, facts, session, said, merged } = parts;
  const hasNodes = facts.sutNodes.length > 0;
  requireGiven(parts, hasNodes);
  const given: SystemDescription = { ...merged.values, ...said };
  const machines = underTestFields(facts, suite);
  // The user declares accelerators that the machines did not report: "N/A" is wrong for all their
  // fields.
  const { accelerators_per_node: count = '0', accelerator_model_name: model = 'N/A' } = given;
  const areUnseen = machines['accelerators_per_node'] === '0' && (count !== '0' || model !== 'N/A');
  const read: SystemDescription = {
    ...machines,
    ...(areUnseen ? UNSEEN_ACCELERATORS : {}),
    ...(hasNodes ? networkFields(facts, session) : {}),
    ...submitterFields(facts),
    division,
    system_type: suite,
    ...given,
  };
  const notes = new Map([
    ['hw_notes', hardwareNotes(facts)],
    ['sw_notes', softwareNotes(facts)],
  ]);
  const description = fieldsWith(division, hasNodes).map(({ key }) => {
    const text = read[key] ?? '';
    // Required notes are appended to the user's text, once.
    const missing = (notes.get(key) ?? []).filter((note) => !text.includes(note));
    return [key, present([text, ...missing]).join('; ')];
  });
  return Object.fromEntries(description);
}

/** A message, with the place, for each key in the user's file that is not a field. */
export function leftOut(
  { values, places, unknown }: MergeValues,
  description: SystemDescription,
): string[] {
  const keys = Object.keys(description);
  const others = Object.keys(values).filter((key) => !keys.includes(key));
  const no = 'is no field of this description';
  return [
    ...unknown.map(({ place, key }) => {
      const near = nearest(key, keys);
      return `${place}: ${key} ${no}${near === undefined ? '' : `; did you mean "${near}"?`}`;
    }),
    ...others.map((key) => `${places[key]}: ${key} ${no}`),
  ];
}

/** Fields of the machines under test: the SUT nodes, or this one in a closed system. */
function underTestFields({ loadgen, sutNodes }: FactsFile, suite: Suite): SystemDescription {
  if (sutNodes.length === 0) return { ...hostFields(loadgen.facts, suite), number_of_nodes: '1' };
  const unknown = todo('the node did not describe its machine');
  const nodes = sutNodes.map((node) => ({
    name: nameOf(node),
    fields: node.gathered && hostFields(node.gathered.facts, suite),
  }));
  const texts = SYSTEM_FIELDS.map(({ key, isMeaningful, isNumber }) => {
    const textOfNode = ({ fields }: (typeof nodes)[number]): string =>
      fields === null ? (isMeaningful ? unknown : '') : (fields[key] ?? '');
    return [key, valueAcross(isNumber === true, namesBy(nodes, textOfNode))];
  });
  return { ...Object.fromEntries(texts), number_of_nodes: `${machineCount(sutNodes)}` };
}

/**
 * One field for several nodes: a single text if all agree, else with the nodes' names. A numeric
 * field cannot contain names.
 */
function valueAcross(isNumber: boolean, names: ReadonlyMap<string, readonly string[]>): string {
  const values = [...names.keys()];
  if (values.length === 1) return values.join();
  const told = [...names]
    .map(([value, who]) => `${who.join(', ')}: ${value || 'unknown'}`)
    .join('; ');
  if (values.some(isTodo)) return todo(`the nodes differ (${told.replaceAll('TODO: ', '')})`);
  if (!isNumber) return told;
  return todo(`one whole number, as the tools want it; the nodes differ (${told})`);
}

/**
 * Number of machines, not nodes: two nodes may share one. A node without boot id counts separately.
 */
function machineCount(nodes: FactsFile['sutNodes']): number {
  return new Set(nodes.map(({ gathered, address }) => gathered?.facts.bootId ?? address)).size;
}

/** Fields that only the submitter knows. */
function submitterFields({ sutNodes }: FactsFile): SystemDescription {
  const isOne = machineCount(sutNodes) <= 1;
  return {
    submitter: todo('the organisation, as its folder in the submission is named (--submitter)'),
    status: todo('"available", "preview" or "rdi" (--status)'),
    system_name: todo('name of the system, as tables of results will show it (--system-name)'),
    system_type_detail: '',
    host_processor_interconnect: '',
    host_networking_topology: isOne
      ? 'N/A'
      : todo('how the nodes of the system are connected with each other, "N/A" if they are not'),
    cooling: todo('"Air-cooled", "Liquid"'),
  };
}

/** Values from the user's file. */
export type MergeValues = Readonly<ReturnType<typeof parseMergeFile>>;

const KEYS = new Set(ALL_FIELDS.map(({ key }) => key));

/**
 * Reads a user's file of fields, YAML or JSON: an object of texts. An earlier description is such a
 * file; a TODO in it counts as missing. Without a file there are no fields.
 * @throws MlperfError `ERR_CONFIG_FILE` (unreadable, or neither format)
 */
export function readMergeFile(path: string | undefined): MergeValues {
  if (path === undefined) return parseMergeFile('', '');
  return parseMergeFile(path, readNamedText(path, FILE_BYTES_MAX.settings));
}

/** See {@link readMergeFile}. @param path For messages only. */
export function parseMergeFile(path: string, text: string) {
  /** Text by field; without TODOs. */
  const values: Record<string, string> = {};
  /** Place of each field: `path:line:column`. */
  const places: Record<string, string> = {};
  /** Keys that are not fields, each with its place. */
  const unknown: { place: string; key: string }[] = [];
  /** Errors in values, each with its place. */
  const problems: string[] = [];
  const { document, placeOf } = parseGoodYaml(path, text);
  const root = document.contents;
  // A file with only comments has no content.
  if (root !== null && !isMap(root)) {
    throw new MlperfError('ERR_CONFIG_FILE', `${path}:1:1: fields with texts are expected here`);
  }
  for (const { key, value } of root?.items ?? []) {
    const place = placeOf(isScalar(key) ? (key.range?.[0] ?? 0) : 0);
    const name = String(key);
    if (!KEYS.has(name)) {
      unknown.push({ place, key: name });
      continue;
    }
    const given = textOf(value);
    const problem = problemOf(name, given);
    if (problem !== undefined) problems.push(`${place}: ${name} ${problem}`);
    if (problem !== undefined || given == null || isTodo(given)) continue;
    values[name] = given;
    places[name] = place;
  }
  return { values, places, unknown, problems };
}

/**
 * A value as one line of text; a number keeps its written digits. Null if missing; undefined if not
 * text.
 */
function textOf(value: unknown): string | null | undefined {
  const plain = isScalar(value) ? value.value : value;
  if (plain === null) return null;
  if (typeof plain === 'string') return plain.trim().replace(/\s*\n\s*/g, ' ');
  const isNumber = isScalar(value) && typeof plain === 'number';
  return isNumber ? (value.source ?? String(plain)) : undefined;
}

function problemOf(name: string, given: string | null | undefined): string | undefined {
  const isClean = !/\p{Cc}/u.test(given ?? '');
  if (given !== undefined && isClean) return undefined;
  if (name === 'is_network') return 'must be "True" in quotes';
  return isClean ? 'must be a text' : 'must not hold control characters';
}
