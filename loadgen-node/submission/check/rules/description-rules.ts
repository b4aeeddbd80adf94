import { posix } from 'node:path';
import { isTruthy } from '../../../loadgen/logs/read/detail-log.ts';
import { roundsUpTo } from '../../rules/submission-rounds.ts';
import {
  ECC_TEXTS,
  isTodo,
  NETWORK_FIELDS,
  PERMITTED_FABRICS,
  STATUSES,
  SYSTEM_TYPES,
  systemKeysOf,
  TODO_MARK,
  WEIGHTS_KEYS,
} from '../../tree/system-fields.ts';
import {
  busOf,
  countOf,
  ECC_OFF,
  ECC_ON,
  eccTexts,
  fieldsThatAre,
  isBlank,
  isMissing,
  isNetworkSystem,
  isTrue,
  KNOWN_FIELDS,
  nameIn,
  shortened,
  stated,
  textOf,
  todoIn,
  unknownKeys,
} from '../read/description-values.ts';
import { isStrict } from '../read/sites.ts';
import { bandwidthTooSmall, bandwidthUnknown } from '../result/bandwidth.ts';
import { userConfDiffers, weightsFile } from '../result/measurements.ts';
import { inferenceRules, main, type RuleTable, submissionRules, tag } from './rule.ts';
import { unused } from './tree-rules.ts';

const TODO_WORD = new RegExp(`\\b${TODO_MARK}\\b`);

/** Rules about `systems/<system>.json` and the measurements file. */
export const DESCRIPTION_RULES = {
  'system-missing': {
    by: [tag('check_results_dir'), main('SystemCheck.missing_check')],
    rule: 'Every system with results has a description, systems/<system>.json.',
    advice: 'Make one: longhaul submission system describe --output systems/<system>.json.',
    submitter: ({ listing, layout, division, submitter, systems }) =>
      systems.map((system) => {
        const file = layout.system(division, submitter, system);
        return (
          !listing.hasFile(file) && { file, text: `${system} has results and no description.` }
        );
      }),
  },
  'system-unused': {
    by: [tag('check_results_dir', { since: 5.1 })],
    rule: 'Every description in systems/ has results.',
    because: 'reviewers ask for its results',
    advice: 'Remove the description, or add its results.',
    submitter: ({ listing, layout, division, submitter, systems }) => {
      const folder = posix.dirname(layout.system(division, submitter, 'any'));
      const names = listing.entries(folder).files.filter((name) => name.endsWith('.json'));
      return names.map(
        (name) =>
          !systems.includes(name.slice(0, -'.json'.length)) && unused(posix.join(folder, name)),
      );
    },
  },
  'field-missing': {
    by: [
      submissionRules('<system_desc_id>.json metadata'),
      tag('check_system_desc_id'),
      main('SystemCheck.required_fields_check'),
    ],
    rule: 'The description has every key that the official tools need.',
    advice: 'Add the key.',
    description: (site) => {
      const { description, division, round } = site;
      // Another rule covers is_network, except in the network division.
      const ofNetwork = NETWORK_FIELDS.filter(
        ({ key }) => isNetworkSystem(site) && key !== 'is_network',
      );
      const ofRound = systemKeysOf(round).filter(({ isOptional }) => isOptional !== true);
      const keys = [...ofRound, ...ofNetwork].map(({ key }) => key);
      if (division === 'network') keys.push('is_network');
      return keys.map((key) => isMissing(description[key], round) && `${key} is missing.`);
    },
  },
  'field-empty': {
    by: [tag('check_system_desc_id', { since: 3.1 }), main('SystemCheck.required_fields_check')],
    rule: 'Required keys have a value.',
    advice: 'Say what it is; "N/A" where there is none.',
    description: fieldsThatAre('empty', ', which counts as empty'),
  },
  'field-blank': {
    severity: 'warning',
    by: [submissionRules('<system_desc_id>.json metadata')],
    rule: 'A value is not only blanks.',
    advice: 'Say what it is; "N/A" where there is none.',
    description: fieldsThatAre('blank'),
    weights: ({ weights }) =>
      WEIGHTS_KEYS.map((key) => {
        const value = weights[key];
        return (
          isTruthy(value) && isBlank(value) && `${key} is ${JSON.stringify(value.slice(0, 60))}.`
        );
      }),
  },
  'field-not-text': {
    by: [tag('check_results_dir.log_result'), main('ResultExporter.add_result')],
    rule: 'Names, notes and types are texts.',
    advice: 'Put the value in quotes.',
    description: fieldsThatAre('not-text'),
  },
  'field-not-plain': {
    severity: 'warning',
    by: [submissionRules('<system_desc_id>.json metadata')],
    rule: 'A value is a text or a number.',
    advice: 'Write it as one text.',
    description: fieldsThatAre('not-plain'),
  },
  'field-not-number': {
    by: [main('ResultExporter.add_result')],
    rule: 'number_of_nodes, host_processors_per_node and accelerators_per_node are whole numbers.',
    because: 'submission_checker/main.py ends at any other text while it writes its report',
    advice: 'Write a number, "0" where there is none.',
    description: fieldsThatAre('not-number'),
  },
  'field-unknown': {
    severity: 'note',
    by: [],
    rule: 'The official tools know every key of the description.',
    advice: 'Move the value to hw_notes or sw_notes if reviewers should see it.',
    description: ({ description, round }) => {
      const ofRound = systemKeysOf(round).map(({ key }) => key);
      return unknownKeys(description, round === 'v0.5' ? ofRound : KNOWN_FIELDS, round);
    },
    weights: ({ weights, round }) =>
      round === 'v0.5' ? unknownKeys(weights, WEIGHTS_KEYS, round) : undefined,
  },
  'todo-left': {
    by: [],
    rule: 'Values and texts have no TODO.',
    because: 'longhaul submission system describe marks with TODO what it could not read',
    advice: 'Fill in the value.',
    description: ({ description }) => Object.entries(description).map(todoIn),
    weights: ({ weights }) => WEIGHTS_KEYS.map((key) => todoIn([key, weights[key]])),
    textLine: ({ text }) =>
      TODO_WORD.test(text) && `The line says "${shortened(text.trim(), 160)}".`,
  },
  'division-differs': {
    by: [tag('check_system_desc_id'), main('SystemCheck.division_check')],
    rule: '"division" is the name of the division\'s folder, in lower case.',
    advice: 'Write the name of the folder.',
    description: ({ description, division, round }) => {
      const seen = nameIn(description, 'division', round) ?? division;
      return seen !== division && `division is "${String(seen)}", not "${division}".`;
    },
  },
  'submitter-differs': {
    by: [tag('check_system_desc_id'), main('SystemCheck.submitter_check')],
    rule: '"submitter" is the name of the submitter\'s folder, in upper or lower case.',
    advice: 'Write the name of the folder.',
    description: ({ description, submitter, round }) => {
      const seen = nameIn(description, 'submitter', round) ?? submitter;
      const isSame =
        round === 'v0.5'
          ? seen === submitter
          : String(seen).toLowerCase() === submitter.toLowerCase();
      return !isSame && `submitter is "${String(seen)}", the folder ${submitter}.`;
    },
  },
  'status-unknown': {
    by: [tag('check_results_dir'), main('SystemCheck.availability_check')],
    rule: '"status" is available, preview or rdi.',
    advice: 'Choose one of the three.',
    description: ({ description, round }) => {
      const status = stated(description, 'status') ?? 'rdi';
      const known: readonly string[] = round === 'v0.5' ? [...STATUSES, 'rdo'] : STATUSES;
      return !known.includes(status.toLowerCase()) && `status is "${status}".`;
    },
  },
  'system-type-unknown': {
    by: [tag('check_results_dir'), main('SystemCheck.system_type_check')],
    rule: '"system_type" is datacenter, edge, "datacenter,edge" or "edge,datacenter".',
    advice: 'Choose one of the four; the Network division wants datacenter.',
    description: ({ description }) => {
      const type = stated(description, 'system_type') ?? 'edge';
      return SYSTEM_TYPES.get(type) === undefined && `system_type is "${type}".`;
    },
  },
  'not-datacenter': {
    severity: 'warning',
    by: [inferenceRules('Network Division')],
    rule: 'The Network division has only the datacenter suite.',
    advice: 'Write datacenter, or submit to open.',
    description: ({ description, division }) => {
      const type = stated(description, 'system_type') ?? 'datacenter';
      const isOther = SYSTEM_TYPES.get(type) !== undefined && type !== 'datacenter';
      return division === 'network' && isOther && `system_type is "${type}".`;
    },
  },
  'is-network-not-text': {
    by: [tag('is_system_over_network'), main('SystemCheck.network_check')],
    rule: '"is_network" is the text "True", not the JSON value true.',
    advice: 'Write "is_network": "True".',
    description: ({ description: { is_network: value }, division }) => {
      const isText = value === undefined || typeof value === 'string';
      return division !== 'closed' && !isText && `is_network is ${JSON.stringify(value)}.`;
    },
  },
  'is-network-false': {
    by: [tag('is_system_over_network'), main('SystemCheck.network_check')],
    rule: 'In the network division "is_network" is "True".',
    advice: 'Write "is_network": "True".',
    description: ({ description: { is_network: value }, division }) =>
      division === 'network' &&
      typeof value === 'string' &&
      !isTrue(value) &&
      `is_network is "${value}".`,
  },
  'is-network-in-closed': {
    by: [
      tag('is_system_over_network'),
      main('SystemCheck.network_check'),
      main('SystemCheck.required_fields_check'),
    ],
    rule: 'A closed description has no is_network, or "False" where the tools of the round accept it.',
    advice: 'Remove is_network, or submit to network.',
    description: ({ description, division, round }) => {
      const value = description['is_network'];
      if (division !== 'closed' || value === undefined || value === null) return false;
      // A "False" counts as absent, but from v6.0 on the check then requires the other keys.
      const areAllThere = NETWORK_FIELDS.every(({ key }) => description[key] !== undefined);
      const isNo = typeof value === 'string' && !isTrue(value);
      const isHarmless = isNo && (roundsUpTo('v5.1').includes(round) || areAllThere);
      return !isHarmless && `is_network is ${JSON.stringify(value)}.`;
    },
  },
  'network-field-empty': {
    severity: 'warning',
    by: [inferenceRules('SUT over the Network and Setup Constraints')],
    rule: 'The description states fabric, protocol and interfaces of both ends (OSI layers 1 to 4).',
    advice: 'Say what it is.',
    description: (site) =>
      NETWORK_FIELDS.map(({ key }) => {
        const value = site.description[key];
        // is_network and missing keys have their own rules.
        if (!isNetworkSystem(site) || key === 'is_network' || value === undefined) return false;
        const isEmpty = !isTruthy(value) || isBlank(value);
        return isEmpty && countOf(value) !== 0 && `${key} is empty.`;
      }),
  },
  'network-count-zero': {
    severity: 'warning',
    by: [inferenceRules('SUT over the Network and Setup Constraints')],
    rule: 'A system over a network has connections, and network cards at both ends.',
    advice: 'Write how many there are.',
    description: (site) =>
      ['number_connections', 'number_nic_loadgen', 'number_nic_sut'].map((key) => {
        const isZero = isNetworkSystem(site) && countOf(site.description[key]) === 0;
        return isZero && `${key} is ${JSON.stringify(site.description[key])}.`;
      }),
  },
  'fabric-not-permitted': {
    severity: 'warning',
    by: [inferenceRules('SUT over the Network and Setup Constraints')],
    rule: 'Ethernet, IEEE 802.11, InfiniBand or 3GPP connects LoadGen node and SUT nodes.',
    advice: "Name the fabric in network_type; another fabric needs the working group's approval.",
    description: ({ description, division }) => {
      const type = textOf(description['network_type']);
      const isStated = type.trim() !== '' && !isTodo(type);
      const isPermitted = PERMITTED_FABRICS.some((fabric) =>
        type.toLowerCase().includes(fabric.toLowerCase()),
      );
      if (division !== 'network' || !isStated || isPermitted || busOf(description)) return false;
      return `network_type is "${type}", none of ${PERMITTED_FABRICS.join(', ')}.`;
    },
  },
  'bus-interconnect': {
    severity: 'warning',
    by: [inferenceRules('SUT over the Network and Setup Constraints')],
    rule: 'No bus connects LoadGen node and SUT nodes: PCIe, CXL, CCIX, HyperTransport, NVLink, QPI, UPI, ICI.',
    advice:
      'Use a permitted fabric; if the text means no bus, describe the network in other words.',
    description: ({ description, division }) => division === 'network' && busOf(description),
  },
  'ecc-not-stated': {
    severity: 'warning',
    by: [inferenceRules('ECC')],
    rule: 'The description of a datacenter system states that ECC is on in DRAM and HBM.',
    advice:
      'State "ECC enabled" in host_memory_configuration, and in accelerator_memory_configuration if there are accelerators.',
    description: ({ description }) =>
      eccTexts(description).map(
        ([key, value]) =>
          !ECC_OFF.test(value) &&
          !ECC_ON.test(value) &&
          `${key} is "${value}", without "${ECC_TEXTS.on}".`,
      ),
  },
  'ecc-off': {
    by: [inferenceRules('ECC')],
    rule: 'ECC is on in all runs of a datacenter system.',
    advice: 'Switch ECC on and make the runs again.',
    description: ({ description }) =>
      eccTexts(description).map(([key, value]) => ECC_OFF.test(value) && `${key} is "${value}".`),
  },
  'bandwidth-too-small': {
    severity: 'warning',
    by: [inferenceRules('Datacenter Bandwidth Requirements')],
    rule: 'The links carry the bytes per second that the result needs.',
    advice: 'Correct network_rate and number_nic_*, or use faster links.',
    read: bandwidthTooSmall,
  },
  'bandwidth-unknown': {
    severity: 'warning',
    by: [inferenceRules('Datacenter Bandwidth Requirements')],
    rule: 'The description states rate and number of interfaces.',
    advice: 'Write network_rate as a number with a unit (100 Gbit/s), number_nic_* as numbers.',
    read: bandwidthUnknown,
  },
  'nodes-differ': {
    severity: 'warning',
    by: [submissionRules('<system_desc_id>.json metadata')],
    rule: 'number_of_nodes is the number of SUT nodes in the audit.',
    advice: 'Write the number of nodes of the runs.',
    read: ({ layout, division, submitter, system, description, audits }) => {
      const stated = countOf(description?.['number_of_nodes']);
      const seen = audits.get('performance')?.nodes.length;
      if (stated === undefined || seen === undefined || stated === seen) return false;
      return {
        file: layout.system(division, submitter, system),
        text: `number_of_nodes is ${stated}, and the audit of the run has ${seen}.`,
      };
    },
  },
  'measurements-file-missing': {
    // Earlier checks printed an error and accepted the result.
    by: [tag('check_measurement_dir', { since: 3.1 }), main('MeasurementsCheck.missing_check')],
    rule: 'A result has <system>_<implementation>_<scenario>.json; from v6.0 on measurements.json.',
    advice: 'Add the file.',
    measurements: (site) => {
      const { system, scenario } = site.place;
      const name = site.layout.isFlat
        ? 'measurements.json'
        : `${system}_<implementation>_${scenario}.json`;
      return weightsFile(site) === undefined && `It has no ${name}.`;
    },
  },
  'measurements-field-missing': {
    by: [
      tag('check_measurement_dir', { since: 3.1 }),
      main('MeasurementsCheck.required_fields_check'),
    ],
    rule: 'The measurements file has its five keys, each with a value.',
    advice: 'Add the key; "N/A" is a value.',
    weights: ({ weights, round }) =>
      WEIGHTS_KEYS.map((key) => {
        const value = weights[key];
        const isWrong = round === 'v0.5' ? isMissing(value, round) : !isTruthy(value);
        return isWrong && `${key} is ${isMissing(value, round) ? 'missing' : 'empty'}.`;
      }),
  },
  'retraining-stated': {
    severity: 'warning',
    by: [inferenceRules('Closed Division')],
    rule: 'Closed and network do not retrain the model.',
    advice: 'Write "No", or submit to open.',
    weights: (site) => {
      const value = site.weights['retraining'];
      const isStated = typeof value === 'string' && /^\s*yes\b/i.test(value);
      return isStrict(site) && isStated && `retraining is "${shortened(value, 160)}".`;
    },
  },
  'conf-unreadable': {
    by: [tag('check_measurement_dir')],
    rule: 'The checker of v4.1 can read user.conf and mlperf.conf.',
    advice: 'Repair the line.',
  },
  'conf-not-for-loadgen': {
    by: [],
    rule: 'user.conf and mlperf.conf have only lines of "model.scenario.key = value".',
    because: 'LoadGen refuses other lines',
    advice: 'Repair the line, or take the file that the run read.',
  },
  'user-conf-differs': {
    severity: 'warning',
    by: [submissionRules('Inference')],
    rule: 'user.conf has the values of the log.',
    advice: 'Take the user.conf of the run.',
    read: userConfDiffers,
  },
} as const satisfies RuleTable;
