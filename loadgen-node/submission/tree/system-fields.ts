import { SUITES, type Suite } from '../../../shared/rules/rows/model-row.ts';
import { roundsUpTo, type SubmissionRound } from '../rules/submission-rounds.ts';

/** Prefix of a value that the submitter must fill in. */
export const TODO_MARK = 'TODO';

/** True for a value that the submitter must fill in. */
export function isTodo(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(TODO_MARK);
}

/** Allowed values of `status`. */
export const STATUSES = ['available', 'preview', 'rdi'] as const;

/** Allowed values of system_type, and their suites. */
export const SYSTEM_TYPES = new Map<string, readonly Suite[]>([
  ['datacenter', ['datacenter']],
  ['edge', ['edge']],
  ['datacenter,edge', SUITES],
  ['edge,datacenter', SUITES],
]);

/** One key of `systems/<system>.json`. */
export interface SystemField {
  readonly key: string;
  /** False: an empty text is accepted. */
  readonly isMeaningful: boolean;
  /** True if the text must be a whole number: the official report calculates with it. */
  readonly isNumber?: boolean;
  /** True if the official tools concatenate or lower-case the text: a number crashes them. */
  readonly isText?: boolean;
  /** True if the key may be absent. */
  readonly isOptional?: boolean;
}

/** Kinds of fields: requirements of the official tools on values. */
const KINDS = {
  needed: { isMeaningful: true },
  number: { isMeaningful: true, isNumber: true },
  text: { isMeaningful: true, isText: true },
  free: { isMeaningful: false },
  note: { isMeaningful: false, isText: true },
} as const satisfies Readonly<Record<string, Omit<SystemField, 'key'>>>;

/** Fields in order: a kind, then its keys. */
function fieldsOf(...rows: readonly (readonly [keyof typeof KINDS, keys: string])[]) {
  return rows.flatMap(([kind, keys]) =>
    keys.split(' ').map((key): SystemField => ({ key, ...KINDS[kind] })),
  );
}

/**
 * Keys of every system description; all values are texts. Source: submission_rules,
 * "<system_desc_id>.json metadata"; `system_type_detail` is required by the official checkers,
 * though not in that text.
 */
export const SYSTEM_FIELDS: readonly SystemField[] = fieldsOf(
  ['text', 'division submitter status system_name'],
  ['number', 'number_of_nodes'],
  ['text', 'host_processor_model_name'],
  ['number', 'host_processors_per_node'],
  ['needed', 'host_processor_core_count host_memory_capacity'],
  ['needed', 'host_storage_capacity host_storage_type'],
  ['number', 'accelerators_per_node'],
  ['text', 'accelerator_model_name'],
  ['needed', 'accelerator_memory_capacity'],
  ['text', 'framework operating_system system_type'],
  ['needed', 'other_software_stack'],
  ['free', 'host_processor_frequency host_processor_caches'],
  ['needed', 'host_memory_configuration'],
  ['free', 'host_processor_interconnect'],
  ['needed', 'host_networking host_networking_topology'],
  ['free', 'accelerator_frequency'],
  ['needed', 'accelerator_host_interconnect accelerator_interconnect'],
  ['free', 'accelerator_interconnect_topology'],
  ['needed', 'accelerator_memory_configuration'],
  ['free', 'accelerator_on-chip_memories'],
  ['needed', 'cooling'],
  ['note', 'hw_notes sw_notes'],
  ['needed', 'host_network_card_count'],
  ['free', 'system_type_detail'],
);

/** Keys from v3.1 on. Source: check_system_desc_id of the tag. */
const AFTER_V30: readonly string[] = ['system_type_detail', 'host_network_card_count'];

const V30_FIELDS = SYSTEM_FIELDS.filter(({ key }) => !AFTER_V30.includes(key));

/** Keys of later rounds. Source: systems/ of the submissions of v0.5. */
const AFTER_V05: readonly string[] = ['system_type', ...AFTER_V30];

/**
 * Keys required in v0.5; others are allowed. Source: mlcommons/inference, branch r0.5,
 * tools/submission.
 */
const NEEDED_IN_V05: readonly string[] = [
  'division submitter status system_name number_of_nodes',
  'host_processor_model_name host_processors_per_node host_processor_core_count',
  'host_memory_capacity host_storage_capacity host_storage_type',
  'accelerators_per_node accelerator_model_name accelerator_memory_capacity',
  'framework operating_system other_software_stack',
].flatMap((keys) => keys.split(' '));

const V05_FIELDS: readonly SystemField[] = SYSTEM_FIELDS.filter(
  ({ key }) => !AFTER_V05.includes(key),
).map((field) =>
  NEEDED_IN_V05.includes(field.key) ? field : { ...field, isMeaningful: false, isOptional: true },
);

/** Keys of a round's system description, in order. */
export function systemKeysOf(round: SubmissionRound): readonly SystemField[] {
  if (round === 'v0.5') return V05_FIELDS;
  return roundsUpTo('v3.0').includes(round) ? V30_FIELDS : SYSTEM_FIELDS;
}

/**
 * Additional keys of a Network division system; `is_network` is the text "True". The official
 * checkers accept most of them empty; the rules require the fabric and OSI layers one to four.
 * Source: submission_rules, "In the Network division"; inference_rules v4.1, "System Topology".
 */
export const NETWORK_FIELDS: readonly SystemField[] = fieldsOf(
  ['needed', 'is_network network_type network_media network_rate'],
  ['needed', 'nic_loadgen number_nic_loadgen net_software_stack_loadgen'],
  ['needed', 'network_protocol number_connections'],
  ['needed', 'nic_sut number_nic_sut net_software_stack_sut network_topology'],
);

/**
 * Fabrics permitted in the Network division, by their `network_type` names. Source: inference_rules
 * v4.1.
 */
export const PERMITTED_FABRICS = ['Ethernet', '802.11', 'InfiniBand', '3GPP'] as const;

/**
 * Statement of the memory's error correction in a description, in `host_memory_configuration` and
 * (with an accelerator) in `accelerator_memory_configuration`. Datacenter systems must have it on.
 * Source: inference_rules v4.1, "A Datacenter submission must use ECC".
 */
export const ECC_TEXTS = { on: 'ECC enabled', off: 'ECC disabled' } as const;

/** Keys of the measurements file; all require a value. */
export const WEIGHTS_KEYS = [
  'input_data_types',
  'retraining',
  'starting_weights_filename',
  'weight_data_types',
  'weight_transformations',
] as const;
