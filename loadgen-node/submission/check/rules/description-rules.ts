import {
  ALL_CHECKERS,
  INFERENCE_RULES,
  NETWORK_RULES,
  NEWER_CHECKERS,
  type RuleTexts,
  SUBMISSION_RULES,
} from './rule-sources.ts';

/** Ids of {@link DESCRIPTION_RULES}. */
export type DescriptionRuleId =
  | 'system-missing'
  | 'system-unused'
  | 'field-missing'
  | 'field-empty'
  | 'field-blank'
  | 'field-not-text'
  | 'field-not-plain'
  | 'field-not-number'
  | 'field-unknown'
  | 'todo-left'
  | 'division-differs'
  | 'submitter-differs'
  | 'status-unknown'
  | 'system-type-unknown'
  | 'not-datacenter'
  | 'is-network-not-text'
  | 'is-network-false'
  | 'is-network-in-closed'
  | 'network-field-empty'
  | 'fabric-not-permitted'
  | 'bus-interconnect'
  | 'ecc-not-stated'
  | 'ecc-off'
  | 'bandwidth-too-small'
  | 'bandwidth-unknown'
  | 'nodes-differ'
  | 'measurements-file-missing'
  | 'measurements-field-missing'
  | 'retraining-stated'
  | 'conf-unreadable'
  | 'conf-not-for-loadgen'
  | 'user-conf-differs';

/** Rules about `systems/<system>.json` and the measurements file. */
export const DESCRIPTION_RULES: Readonly<Record<DescriptionRuleId, RuleTexts>> = {
  'system-missing': {
    severity: 'error',
    rule: 'Every system with results has a description, systems/<system>.json.',
    source: ALL_CHECKERS,
    advice: 'Make one: longhaul system describe --output systems/<system>.json.',
  },
  'system-unused': {
    severity: 'error',
    warningIn: ['v4.1', 'v5.0'],
    rule: 'Every description in systems/ has results.',
    source: 'submission checker of v5.1, submission_checker_old',
    advice: 'Remove the description, or add its results.',
  },
  'field-missing': {
    severity: 'error',
    rule: 'The description has every key that the official tools ask for.',
    source: `${ALL_CHECKERS}; ${SUBMISSION_RULES}, <system_desc_id>.json metadata`,
    advice: 'Add the key.',
  },
  'field-empty': {
    severity: 'error',
    rule: 'Keys that need a meaningful response have one.',
    source: ALL_CHECKERS,
    advice: 'Say what it is; "N/A" where there is none.',
  },
  'field-blank': {
    severity: 'warning',
    rule: 'A value has more than blanks.',
    source: `${SUBMISSION_RULES}, <system_desc_id>.json metadata; ${ALL_CHECKERS} take blanks for a value`,
    advice: 'Say what it is; "N/A" where there is none.',
  },
  'field-not-text': {
    severity: 'error',
    rule: 'Names, notes and kinds are texts.',
    source: `${ALL_CHECKERS} break off while they join the texts`,
    advice: 'Put the value in quotes.',
  },
  'field-not-plain': {
    severity: 'warning',
    rule: 'A value is a text or a number.',
    source: `${SUBMISSION_RULES}, <system_desc_id>.json metadata; ${ALL_CHECKERS} take lists and objects as well`,
    advice: 'Write it as one text.',
  },
  'field-not-number': {
    severity: 'error',
    warningIn: ['v4.1'],
    rule: 'number_of_nodes, host_processors_per_node and accelerators_per_node are whole numbers.',
    source: `${NEWER_CHECKERS}: any other text ends it while it writes its report`,
    advice: 'Write a number, "0" where there is none.',
  },
  'field-unknown': {
    severity: 'notice',
    rule: 'Keys that no official tool knows are passed over with a warning.',
    source: ALL_CHECKERS,
    advice: 'Move what it says to hw_notes or sw_notes, if reviewers shall see it.',
  },
  'todo-left': {
    severity: 'warning',
    rule: 'Nothing is left to be filled in.',
    source: 'longhaul system describe marks with TODO what it could not read',
    advice: 'Fill it in.',
  },
  'division-differs': {
    severity: 'error',
    rule: '"division" is the name of the division\'s folder, in lower case.',
    source: ALL_CHECKERS,
    advice: 'Write the name of the folder.',
  },
  'submitter-differs': {
    severity: 'error',
    rule: '"submitter" is the name of the submitter\'s folder, in upper or lower case.',
    source: ALL_CHECKERS,
    advice: 'Write the name of the folder.',
  },
  'status-unknown': {
    severity: 'error',
    rule: '"status" is available, preview or rdi.',
    source: ALL_CHECKERS,
    advice: 'Choose one of the three.',
  },
  'system-type-unknown': {
    severity: 'error',
    rule: '"system_type" is datacenter, edge, "datacenter,edge" or "edge,datacenter".',
    source: ALL_CHECKERS,
    advice: 'Choose one of the four; the Network division wants datacenter.',
  },
  'not-datacenter': {
    severity: 'warning',
    rule: 'The Network division supports the datacenter suite only.',
    source: 'inference_rules v4.1, Divisions, Network division',
    advice: 'Write datacenter, or submit to open.',
  },
  'is-network-not-text': {
    severity: 'error',
    rule: '"is_network" is the text "True", not the JSON value true.',
    source: `${ALL_CHECKERS}: older ones break off, newer ones refuse it`,
    advice: 'Write "is_network": "True".',
  },
  'is-network-false': {
    severity: 'error',
    rule: 'In the network division "is_network" is "True".',
    source: ALL_CHECKERS,
    advice: 'Write "is_network": "True".',
  },
  'is-network-in-closed': {
    severity: 'error',
    rule: 'A system of the closed division is not over a network; its description leaves is_network out.',
    source: `${ALL_CHECKERS}; with "False" ${NEWER_CHECKERS} asks for all other network keys`,
    advice: 'Remove is_network, or submit to network.',
  },
  'network-field-empty': {
    severity: 'warning',
    rule: 'Fabric, protocol and interfaces of both ends are stated, enough to know OSI layers one to four.',
    source: `${NETWORK_RULES}, System Topology (the official tools let the keys be empty)`,
    advice: 'Say what it is.',
  },
  'fabric-not-permitted': {
    severity: 'warning',
    rule: 'LoadGen node and SUT nodes are joined by Ethernet, IEEE 802.11, InfiniBand or 3GPP.',
    source: `${NETWORK_RULES}, fabric interconnects`,
    advice: 'Name the fabric in network_type; another one needs clearance by the working group.',
  },
  'bus-interconnect': {
    severity: 'warning',
    rule: 'A bus does not join LoadGen node and SUT nodes: PCIe, CXL, CCIX, HyperTransport, NVLink, QPI, UPI, ICI.',
    source: `${NETWORK_RULES}, bus interconnects`,
    advice: 'Use a permitted fabric; if the word means something else here, say it in other words.',
  },
  'ecc-not-stated': {
    severity: 'warning',
    rule: 'A datacenter system must use ECC in its DRAM and HBM, enabled in every run; its description can show it.',
    source: `${INFERENCE_RULES}, datacenter systems; no tool looks, and the description need not say it`,
    advice:
      'State "ECC enabled" in host_memory_configuration, and in accelerator_memory_configuration if there are accelerators.',
  },
  'ecc-off': {
    severity: 'error',
    rule: 'ECC is enabled in all performance and accuracy runs of a datacenter system.',
    source: `${INFERENCE_RULES}, datacenter systems`,
    advice: 'Switch ECC on and make the runs again.',
  },
  'bandwidth-too-small': {
    severity: 'warning',
    rule: 'The links sustain the bytes per second that the result needs.',
    source: `${INFERENCE_RULES}, Datacenter Bandwidth Requirements`,
    advice: 'Correct network_rate and number_nic_*, or use faster links.',
  },
  'bandwidth-unknown': {
    severity: 'warning',
    rule: 'The rate of each interface and their number are stated.',
    source: `${INFERENCE_RULES}, system architecture description`,
    advice: 'Write network_rate as a number with a unit (100 Gbit/s), number_nic_* as numbers.',
  },
  'nodes-differ': {
    severity: 'warning',
    rule: 'number_of_nodes is the number of SUT nodes that the audit saw.',
    source: `${SUBMISSION_RULES}, <system_desc_id>.json metadata; no tool compares`,
    advice: 'Write the number of nodes of the runs.',
  },
  'measurements-file-missing': {
    severity: 'error',
    rule: 'A result has its file of weights and data types: <system>_<implementation>_<scenario>.json, or measurements.json from v6.0 on.',
    source: `${ALL_CHECKERS} (that of v4.1 breaks off)`,
    advice: 'Add the file.',
  },
  'measurements-field-missing': {
    severity: 'error',
    rule: 'The measurements file has its five keys, none empty.',
    source: ALL_CHECKERS,
    advice: 'Add the key; "N/A" is a value.',
  },
  'retraining-stated': {
    severity: 'warning',
    rule: 'Closed and network do not retrain the model.',
    source: `${INFERENCE_RULES}, Model; no tool looks`,
    advice: 'Write "No", or submit to open.',
  },
  'conf-unreadable': {
    severity: 'error',
    rule: 'user.conf and mlperf.conf have no line that the checker of v4.1 breaks off at.',
    source: 'submission checker of v4.1, where a model needs equal issue',
    advice: 'Repair the line.',
  },
  'conf-not-for-loadgen': {
    severity: 'warning',
    rule: 'user.conf and mlperf.conf are what LoadGen read: lines of "model.scenario.key = value".',
    source: 'LoadGen refuses other lines; no checker looks',
    advice: 'Repair the line, or take the file that the run read.',
  },
  'user-conf-differs': {
    severity: 'warning',
    rule: 'user.conf is the one that the run read: its values are those of the log.',
    source: `${SUBMISSION_RULES}, directory structure; no tool compares`,
    advice: 'Take the user.conf of the run.',
  },
};
