import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { NO_SCHEME } from '../../../qdl/protocols/index.ts';
import {
  configInvalid,
  MlperfError,
  withReason,
} from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { makeFolder } from '../../../shared/base/files/read-file.ts';
import { counted, jsonText } from '../../../shared/base/text.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import {
  addressList,
  choice,
  type SettingValues,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import { softwareComponents } from '../../../shared/host/component-versions.ts';
import { thisMachine } from '../../../shared/host/machine-source.ts';
import { gatherSystemFacts } from '../../../shared/host/system-facts.ts';
import { SUITES } from '../../../shared/rules/rows/model-row.ts';
import { askNodeSystems } from '../../run/ask-nodes.ts';
import { CONNECTION_OPTIONS } from '../../run/plan/connection-options.ts';
import { DISPATCH_OPTIONS } from '../../run/plan/dispatch-options.ts';
import { SUBMISSION_DIVISIONS, type SubmissionDivision } from '../rules/submission-rounds.ts';
import { isTodo, STATUSES } from '../tree/system-fields.ts';
import {
  composeDescription,
  leftOut,
  readMergeFile,
  requireGiven,
  type SystemDescription,
} from './compose-description.ts';
import { factsPathOf, linkFacts, type SutNodeFacts } from './facts-file.ts';
import { knownMachineCount, systemWarnings } from './system-notes.ts';

/**
 * Reads the machines of a run and writes their description, with a facts file beside it.
 * @throws MlperfError `ERR_CONFIG_INVALID` for contradicting flags and values that the official
 *   tools refuse, `ERR_OUTPUT`; and if a node does not answer
 */
export async function describeSystem(values: DescribeValues): Promise<VerbResult> {
  const division = divisionOf(values);
  const { output: path, systemType: suite } = values;
  requireTarget(values);
  const merged = readMergeFile(values.merge);
  const { submitter, status, systemName: system_name } = values;
  const flags = Object.entries({ submitter, status, system_name });
  const said = Object.fromEntries(flags.filter(([, text]) => text !== undefined)) as Record<
    string,
    string
  >;
  const given = { division, suite, said, merged };
  requireGiven(given, values.sut !== undefined);
  const { file: facts, isTls } = await gatherFacts(values);
  const description = composeDescription({ ...given, facts, session: { isTls } });
  writeJson(factsPathOf(path), facts);
  writeJson(path, description);
  return descriptionReport({
    path,
    description,
    warnings: systemWarnings(facts, suite),
    leftOut: leftOut(merged, description),
    machineCount: knownMachineCount(facts),
  });
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for contradicting flags */
function divisionOf(values: DescribeValues): SubmissionDivision {
  const { sut, local, systemType, output } = values;
  if (local && sut !== undefined) throw configInvalid('--local and --sut: one of them');
  if (!local && sut === undefined) {
    throw configInvalid(
      'say --sut HOST:PORT[,...], or --local for a closed system on this machine',
    );
  }
  const division = values.division ?? (local ? 'closed' : 'network');
  if (local && division === 'network') {
    throw configInvalid(
      '--division network needs --sut: LoadGen and SUT are distinct machines there',
    );
  }
  if (division === 'network' && systemType !== 'datacenter') {
    throw configInvalid('--division network knows --system-type datacenter only');
  }
  if (!/(?<!\.facts)\.json$/i.test(output)) {
    throw configInvalid(`--output ${output} must end in .json, and not in .facts.json`);
  }
  return division;
}

/**
 * Refuses to replace a description that the user may have edited, unless it is the merged file.
 * Checked before any work.
 * @throws MlperfError `ERR_OUTPUT`
 */
function requireTarget({ output, merge, force }: DescribeValues): void {
  if (force || !existsSync(output)) return;
  const isMerged = merge !== undefined && existsSync(merge);
  if (isMerged && realpathSync(output) === realpathSync(merge)) return;
  throw new MlperfError(
    'ERR_OUTPUT',
    `${output} is there already: keep what it says with --merge ${output}, or replace it with --force`,
  );
}

/** @throws MlperfError `ERR_OUTPUT` */
function writeJson(file: string, content: object): void {
  withReason(`cannot write ${file}`, () => {
    makeFolder(dirname(file));
    writeFileSync(file, `${jsonText(content, 2)}\n`);
  });
}

/**
 * Reads this machine and asks the SUT nodes for theirs. @throws MlperfError if a node does not
 * answer
 */
async function gatherFacts(values: DescribeValues) {
  const { sut, connections } = values;
  // Nodes first, so that a mistyped address is reported early.
  const asked = sut === undefined ? undefined : await askNodeSystems(sut, values);
  const gatheredAt = new Date().toISOString();
  const facts = await gatherSystemFacts(thisMachine(), softwareComponents());
  const sutNodes = (asked?.nodes ?? []).map((node): SutNodeFacts => {
    const { address, name, system, whyMissing, localAddress, remoteAddress } = node;
    const connection = { localAddress, remoteAddress, dataConnections: connections };
    const link = linkFacts(connection, facts, system?.facts ?? null);
    const gathered = system && { gatheredAt: system.gatheredAt, facts: system.facts };
    return { address, name, gathered, whyMissing, link };
  });
  const loadgen = { gatheredAt, facts };
  return {
    file: { schemaVersion: 1 as const, longhaulVersion: packageVersion(), loadgen, sutNodes },
    isTls: asked?.isTls ?? false,
  };
}

/** Reports what was written, cautions, and what remains to fill in, as text and JSON. */
export function descriptionReport(parts: {
  readonly path: string;
  readonly description: SystemDescription;
  readonly warnings: readonly string[];
  /** A message for each key in the user's file that is not a field. */
  readonly leftOut: readonly string[];
  /** Number of machines whose facts were read. */
  readonly machineCount: number;
}): Required<VerbResult> {
  const { path, description, warnings, leftOut, machineCount } = parts;
  const keys = Object.keys(description);
  const open = keys.filter((key) => isTodo(description[key]));
  const width = Math.max(0, ...open.map((key) => key.length));
  const factsPath = factsPathOf(path);
  const lines = [
    `${path}: ${keys.length} fields, ${open.length} of them still to fill in`,
    `${factsPath}: what was read, of ${counted(machineCount, 'machine')}`,
    ...leftOut.map((one) => `Left out: ${one}`),
    ...warnings.map((warning) => `Note: ${warning}`),
    ...open.map((key) => {
      const wanted = (description[key] ?? '').replace(/^TODO:? ?/, '');
      return `TODO  ${key.padEnd(width)}  ${wanted}`;
    }),
  ];
  if (open.length > 0) {
    lines.push(`Fill them in there, or in a file of your own, and describe again with --merge.`);
  }
  const facts = { factsPath, description, fieldsToFillIn: open };
  const json = { path, ...facts, leftOut, warnings, machineCount };
  return { text: `${lines.join('\n')}\n`, json };
}

/** Settings of `longhaul submission system describe`. */
export const DESCRIBE_SETTINGS = {
  sut: addressList('addresses of the SUT nodes, as in the run', { schemes: NO_SCHEME }),
  local: toggle('a closed system: LoadGen and SUT on this machine, which alone is described'),
  output: text(
    'file',
    'description to write, systems/NAME.json; facts go to systems/NAME.facts.json',
    {
      required: true,
    },
  ),
  merge: text(
    'file',
    'YAML or JSON with fields that win over what is read; may be the description itself',
  ),
  force: toggle('replace a description that is there'),
  division: choice(SUBMISSION_DIVISIONS, 'division (default: network; closed with --local)'),
  systemType: choice(SUITES, 'suite; the Network division knows datacenter only', {
    fallback: 'datacenter',
  }),
  submitter: text('name', 'organisation that submits'),
  status: choice(STATUSES, 'whether the system can be bought'),
  systemName: text('name', 'name of the system in tables of results'),
  streams: DISPATCH_OPTIONS.streams,
  connections: DISPATCH_OPTIONS.connections,
  ...CONNECTION_OPTIONS,
};

/** Effective values of {@link DESCRIBE_SETTINGS}. */
type DescribeValues = SettingValues<typeof DESCRIBE_SETTINGS>;
