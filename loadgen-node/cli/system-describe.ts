import type { Command } from 'commander';
import {
  askNames,
  askSystems,
  checkDispatchSettings,
  type DispatchSettings,
  defaultDispatchSettings,
  resolveNodeAddresses,
} from '../../qdl/index.ts';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import {
  addressList,
  choice,
  optional,
  type Setting,
  type SettingValues,
  text,
  toggle,
} from '../../shared/config/setting.ts';
import { softwareComponents } from '../../shared/host/component-versions.ts';
import { gatherSystemFacts } from '../../shared/host/gather-system-facts.ts';
import { thisMachine } from '../../shared/host/machine-source.ts';
import { CONNECTION_OPTIONS, toConnectionSettings } from '../run/plan/connection-options.ts';
import { DISPATCH_OPTIONS } from '../run/plan/dispatch-options.ts';
import {
  SUBMISSION_DIVISIONS,
  SUITES,
  type SubmissionDivision,
  type Suite,
} from '../submission/rules/submission-rounds.ts';
import {
  composeDescription,
  fieldsOf,
  leftOut,
  requireGiven,
} from '../submission/system/compose-description.ts';
import { checkTarget, writeDescription } from '../submission/system/description-file.ts';
import { descriptionJson, descriptionReport } from '../submission/system/description-report.ts';
import {
  FACTS_SCHEMA_VERSION,
  type FactsFile,
  type GatheredFacts,
  type SutNodeFacts,
} from '../submission/system/facts-file.ts';
import { linkFacts } from '../submission/system/link-facts.ts';
import { type MergeValues, readMergeFile } from '../submission/system/merge-file.ts';
import { knownMachineCount, systemWarnings } from '../submission/system/system-notes.ts';

const STATUSES = ['available', 'preview', 'rdi'] as const;

const DESCRIBE_SETTINGS: typeof CONNECTION_OPTIONS & {
  readonly sut: Setting<string[] | undefined>;
  readonly local: Setting<boolean>;
  readonly output: Setting<string>;
  readonly merge: Setting<string | undefined>;
  readonly force: Setting<boolean>;
  readonly division: Setting<SubmissionDivision | undefined>;
  readonly systemType: Setting<Suite>;
  readonly submitter: Setting<string | undefined>;
  readonly status: Setting<(typeof STATUSES)[number] | undefined>;
  readonly systemName: Setting<string | undefined>;
  readonly streams: Setting<number>;
  readonly connections: Setting<number>;
} = {
  sut: optional(addressList('addresses of the SUT nodes, as in the run')),
  local: toggle('a closed system: LoadGen and SUT on this machine, which alone is described'),
  output: text(
    'file',
    'description to write, systems/NAME.json; facts go to systems/NAME.facts.json',
    {
      required: true,
    },
  ),
  merge: optional(
    text(
      'file',
      'YAML or JSON with fields that win over what is read; may be the description itself',
    ),
  ),
  force: toggle('replace a description that is there'),
  division: optional(
    choice(SUBMISSION_DIVISIONS, 'division (default: network; closed with --local)'),
  ),
  systemType: choice(SUITES, 'suite; the Network division knows datacenter only', {
    fallback: 'datacenter',
  }),
  submitter: optional(text('name', 'organisation that submits')),
  status: optional(choice(STATUSES, 'whether the system can be bought')),
  systemName: optional(text('name', 'name of the system in tables of results')),
  streams: DISPATCH_OPTIONS.streams,
  connections: DISPATCH_OPTIONS.connections,
  ...CONNECTION_OPTIONS,
};

type DescribeValues = SettingValues<typeof DESCRIBE_SETTINGS>;

const NOTHING_MERGED: MergeValues = { values: {}, places: {}, unknown: [], problems: [] };

const EXAMPLE = `
What cannot be read stays "TODO: ..." and is listed. Exit code 0 also then; 4 when a node does not answer.

Examples:
  longhaul system describe --sut 10.0.0.2:50051 --output systems/acme.json --merge acme.yaml
  longhaul system describe --local --output systems/acme-closed.json --submitter ACME`;

/** `longhaul system describe`: the description of a system that a submission needs. */
export function systemDescribeCommand(): Command {
  const command = createCommand('describe', 'read the hosts of a run and write their description');
  return addJson(addFlags(command, DESCRIBE_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, DESCRIBE_SETTINGS);
      const division = divisionOf(values);
      const { output: path, merge: mergePath, force: isForced, systemType: suite } = values;
      checkTarget({ path, mergePath, isForced });
      const merged = mergePath === undefined ? NOTHING_MERGED : readMergeFile(mergePath);
      const given = { division, suite, said: saidBy(values), merged };
      requireGiven(given, { hasNodes: values.sut !== undefined });
      const { file: facts, isTls } = await gatherFacts(values);
      const parts = { ...given, facts, session: { isTls } };
      const description = composeDescription(parts);
      writeDescription(path, description, facts);
      const report = {
        path,
        description,
        fields: fieldsOf(parts),
        warnings: systemWarnings(facts, suite),
        leftOut: leftOut(parts),
        machineCount: knownMachineCount(facts),
      };
      writeResult(command, { text: descriptionReport(report), json: descriptionJson(report) });
    });
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for flags that contradict each other */
function divisionOf({
  sut,
  local,
  division,
  systemType,
  output,
}: DescribeValues): SubmissionDivision {
  const invalid = (why: string): MlperfError => new MlperfError('ERR_CONFIG_INVALID', why);
  if (local && sut !== undefined) throw invalid('--local and --sut: one of them');
  if (!local && sut === undefined) {
    throw invalid('say --sut HOST:PORT[,...], or --local for a closed system on this machine');
  }
  const chosen = division ?? (local ? 'closed' : 'network');
  if (local && chosen === 'network') {
    throw invalid('--division network needs --sut: LoadGen and SUT are distinct machines there');
  }
  if (chosen === 'network' && systemType !== 'datacenter') {
    throw invalid('--division network knows --system-type datacenter only');
  }
  if (!/\.json$/i.test(output) || /\.facts\.json$/i.test(output)) {
    throw invalid(`--output ${output} must end in .json, and not in .facts.json`);
  }
  return chosen;
}

/** What flags say of single fields. */
function saidBy({ submitter, status, systemName }: DescribeValues): Record<string, string> {
  return {
    ...(submitter !== undefined && { submitter }),
    ...(status !== undefined && { status }),
    ...(systemName !== undefined && { system_name: systemName }),
  };
}

/** Reads this machine and asks the SUT nodes for theirs. @throws MlperfError where a node does not answer */
async function gatherFacts(
  values: DescribeValues,
): Promise<{ readonly file: FactsFile; readonly isTls: boolean }> {
  const settings =
    values.sut === undefined ? undefined : await dispatchSettings(values, values.sut);
  // The nodes first: who mistyped an address should not wait.
  const asked = settings === undefined ? [] : await askNodes(settings);
  const loadgen: GatheredFacts = {
    gatheredAt: new Date().toISOString(),
    facts: await gatherSystemFacts(thisMachine(), softwareComponents()),
  };
  const sutNodes = asked.map((node): SutNodeFacts => {
    const { address, name, system, whyMissing, localAddress, remoteAddress } = node;
    const connection = { localAddress, remoteAddress, dataConnections: values.connections };
    const link = linkFacts(connection, loadgen.facts, system?.facts ?? null);
    const gathered =
      system === null ? null : { gatheredAt: system.gatheredAt, facts: system.facts };
    return { address, name, gathered, whyMissing, link };
  });
  const longhaulVersion = packageVersion();
  const file = { schemaVersion: FACTS_SCHEMA_VERSION, longhaulVersion, loadgen, sutNodes } as const;
  return { file, isTls: settings?.security.tls === true };
}

async function dispatchSettings(
  values: DescribeValues,
  nodes: readonly string[],
): Promise<DispatchSettings> {
  const settings: DispatchSettings = {
    ...defaultDispatchSettings(await resolveNodeAddresses(nodes)),
    streamsPerNode: values.streams,
    connectionsPerNode: values.connections,
    ...toConnectionSettings(values),
  };
  checkDispatchSettings(settings);
  return settings;
}

/** Name first, as a run does: it refuses nodes that are one. */
async function askNodes(settings: DispatchSettings): ReturnType<typeof askSystems> {
  const { nodes } = await askNames(settings);
  return askSystems(
    settings,
    nodes.map(({ name }) => name),
  );
}
