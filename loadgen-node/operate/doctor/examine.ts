import { askNames, type DispatchSettings } from '../../../qdl/index.ts';
import { NO_SCHEME } from '../../../qdl/protocols/index.ts';
import { configInvalid, MlperfError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { defaultCacheFolder } from '../../../shared/base/files/read-file.ts';
import {
  addressList,
  positiveDuration,
  type SettingValues,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import type { ProbedDescription } from '../../../shared/evidence/node-probe.ts';
import {
  type ComponentVersion,
  softwareComponents,
} from '../../../shared/host/component-versions.ts';
import { thisHost } from '../../../shared/host/host-facts.ts';
import { thisMachine } from '../../../shared/host/machine-source.ts';
import { gatherSystemFacts } from '../../../shared/host/system-facts.ts';
import {
  ownRuntimeFlags,
  readTuningFacts,
  type TuningFacts,
} from '../../../shared/host/tuning-facts.ts';
import { keyOfRun } from '../../../shared/rules/benchmark-rules.ts';
import {
  agreedVersion,
  OWN_VERSIONS,
  toldVersions,
  versionsInWords,
} from '../../../shared/wire/protocol-versions.ts';
import { askingSettings } from '../../run/ask-nodes.ts';
import type { RunHost } from '../../run/host/host.ts';
import { CONNECTION_OPTIONS } from '../../run/plan/connection-options.ts';
import { type DoctorFinding, type FindingGroup, subject } from './finding.ts';
import { generatorCeiling } from './generator-ceiling.ts';
import { type LoadgenEnd, type MeasuredLink, measureLink, wayFindings } from './link-findings.ts';
import { isBusyNow, machineFindings } from './machine-findings.ts';
import {
  ceilingFindings,
  PLAN_SETTINGS,
  type PlannedLoad,
  planFindings,
  plannedLoad,
} from './plan-findings.ts';
import { throughputFindings } from './throughput-findings.ts';

/** Settings of `longhaul doctor`. */
export const DOCTOR_SETTINGS = {
  sut: addressList('addresses of the SUT nodes, as in the run', { schemes: NO_SCHEME }),
  benchmark: text('name', 'benchmark of the planned run, for its bytes and bandwidth'),
  ...PLAN_SETTINGS,
  linkTestTime: positiveDuration('load on each link, each way; a node takes 5 s at most', {
    fallback: '1s',
  }),
  again: toggle('measure the generator ceiling anew, though a kept one still holds'),
  ...CONNECTION_OPTIONS,
};

type DoctorValues = SettingValues<typeof DOCTOR_SETTINGS>;

/**
 * Looks at this machine, the links, the nodes and the planned run.
 * @param flags As they were given, by key.
 * @throws MlperfError for flags that `run` would refuse, too
 */
export async function examine(
  values: DoctorValues,
  flags: Readonly<Record<string, string | undefined>>,
  host: RunHost,
) {
  const settings = await askingSettings(values.sut ?? [], values);
  refuseWithoutBenchmark(values, flags);
  const plan =
    values.benchmark === undefined
      ? null
      : await plannedLoad(flags, Math.max(1, settings.nodes.length), host);
  host.progress?.('looking at this machine');
  const source = thisMachine();
  // Before there is any load of ours.
  const tuning = await readTuningFacts(source, ownRuntimeFlags());
  const facts = await gatherSystemFacts(source, softwareComponents());
  const own: LoadgenEnd = { source, facts, tuning };
  const nodes: ExaminedNode[] = [];
  for (const address of settings.nodes) {
    nodes.push(await examineNode(address, settings, own, { values, host }));
  }
  const measured = nodes.flatMap(({ link }) => (link === undefined ? [] : [link]));
  const ceiling = await ceilingGroup(values, plan, { tuning, host });
  const groups = [
    {
      title: 'LoadGen node (this machine)',
      findings: [...machineFindings({ facts, tuning, isLoadgen: true }), ...ceiling],
    },
    ...nodes.flatMap(({ groups: own }) => own),
    ...(await namesGroup(settings, nodes)),
    ...(plan === null ? [] : [planGroup(plan, measured)]),
  ];
  // A node that does not answer has no link.
  return { groups, hasLost: measured.length < nodes.length };
}

/** Whether a flag of a planned run is given. */
export function plansRun(flags: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(PLAN_SETTINGS).some((key) => key !== 'cacheDir' && flags[key] !== undefined);
}

function refuseWithoutBenchmark(
  { benchmark }: DoctorValues,
  flags: Readonly<Record<string, unknown>>,
): void {
  if (benchmark !== undefined || !plansRun(flags)) return;
  throw configInvalid(
    'flags of a planned run need --benchmark NAME: its samples say how many bytes go',
  );
}

async function examineNode(
  address: string,
  settings: DispatchSettings,
  own: LoadgenEnd,
  { values, host }: { readonly values: DoctorValues; readonly host: RunHost },
) {
  let link: MeasuredLink;
  try {
    link = await measureLink(address, settings, own, values.linkTestTime / 1e6, host);
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const finding = subject('answers', 'Answers').error(
      messageOf(error),
      'until it answers no run can begin; "longhaul probe name --sut" asks it alone',
    );
    return { groups: [{ title: `SUT node ${address}`, findings: [finding] }], link: undefined };
  }
  const { probe } = link;
  const software = {
    components: softwareComponents(),
    operatingSystem: thisHost().operatingSystem,
  };
  return {
    link,
    groups: [
      {
        title: `Link to ${probe.name} at ${address}`,
        findings: [...wayFindings(link), ...throughputFindings(link)],
      },
      {
        title: `SUT node ${probe.name}`,
        findings: [
          ...versionFindings(software, probe.description),
          ...servesFinding(link, values.benchmark && keyOfRun(values.benchmark)),
          ...nodeMachine(link),
        ],
      },
    ],
  };
}

type ExaminedNode = Awaited<ReturnType<typeof examineNode>>;

function nodeMachine({ probe, link }: MeasuredLink): DoctorFinding[] {
  const { system, whyNoSystem } = probe;
  if (system === null) {
    return [subject('machine', 'Machine').unknown(whyNoSystem ?? 'not reported by the node')];
  }
  return link.isSameMachine === true ? [] : machineFindings({ ...system, isLoadgen: false });
}

function servesFinding({ probe }: MeasuredLink, benchmark: string | undefined): DoctorFinding[] {
  const served = probe.description?.benchmarks ?? [];
  if (benchmark === undefined || served.length === 0) return [];
  const about = subject('benchmark', 'Benchmark');
  return served.includes(benchmark)
    ? [about.ok(benchmark)]
    : [
        about.error(
          `it serves ${served.join(', ')}, and the run is ${benchmark}`,
          `longhaul sut --benchmark ${benchmark}`,
        ),
      ];
}

/** Checks of all nodes together: names have to be unique, and no node may stand behind two addresses. */
async function namesGroup(
  settings: DispatchSettings,
  nodes: readonly ExaminedNode[],
): Promise<FindingGroup[]> {
  if (nodes.length < 2 || nodes.some(({ link }) => link === undefined)) return [];
  const about = subject('names', 'Names');
  const findings = await askNames(settings).then(
    ({ name }) => [about.ok(name ?? 'each node has its own')],
    (error: unknown) => [about.error(messageOf(error), 'longhaul sut --node NAME')],
  );
  return [{ title: 'All SUT nodes', findings }];
}

function planGroup(plan: PlannedLoad, links: readonly MeasuredLink[]): FindingGroup {
  const { benchmark, scenario, targetQps } = plan;
  const rate =
    targetQps === null ? '' : `, ${targetQps} ${scenario === 'Offline' ? 'samples' : 'queries'}/s`;
  return {
    title: `Planned run: ${benchmark}, ${scenario}${rate}`,
    findings: planFindings(plan, links),
  };
}

/** A ceiling that cannot be measured is no failure of what was requested. */
async function ceilingGroup(
  { cacheDir, again }: DoctorValues,
  plan: PlannedLoad | null,
  { tuning, host }: { readonly tuning: TuningFacts; readonly host: RunHost },
): Promise<DoctorFinding[]> {
  try {
    const ceiling = await generatorCeiling(
      cacheDir ?? defaultCacheFolder(),
      { isAgain: again, isBusy: isBusyNow(tuning) },
      host,
    );
    return ceilingFindings(ceiling, plan);
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    return ceilingFindings(null, plan, messageOf(error));
  }
}

/** Software of a node beside ours. No clocks are compared in a run, so their difference is no finding. */
export function versionFindings(
  own: { readonly components: readonly ComponentVersion[]; readonly operatingSystem: string },
  node: ProbedDescription | null,
): DoctorFinding[] {
  const about = subject('versions', 'Versions');
  if (node === null) return [about.unknown('the node does not describe itself (no such call)')];
  return [
    protocol(node),
    versions(own.components, node),
    ...(own.operatingSystem === node.operatingSystem
      ? []
      : [
          subject('kernel', 'Kernel').ok(
            `here ${own.operatingSystem}, there ${node.operatingSystem === '' ? 'not reported' : node.operatingSystem}`,
          ),
        ]),
  ];
}

function protocol(node: ProbedDescription): DoctorFinding {
  const about = subject('protocol', 'Protocol');
  const theirs = toldVersions(node);
  const agreed = agreedVersion(theirs);
  return agreed === undefined
    ? about.error(
        `here ${versionsInWords(OWN_VERSIONS)}, there ${versionsInWords(theirs)}`,
        'install the same longhaul on both machines (docs/operate.md)',
      )
    : about.ok(`version ${agreed} on both ends`);
}

function versions(components: readonly ComponentVersion[], node: ProbedDescription): DoctorFinding {
  const about = subject('versions', 'Versions');
  const theirs = new Map(node.components.map(({ name, version }) => [name, version]));
  theirs.set(node.software, node.softwareVersion);
  const differing = components
    .filter(({ name, version }) => theirs.has(name) && theirs.get(name) !== version)
    .map(({ name, version }) => `${name} ${version} here, ${theirs.get(name)} there`);
  const ours = components.find(({ name }) => name === 'longhaul')?.version;
  if (node.software !== 'longhaul')
    return about.ok(`the node runs ${node.software} ${node.softwareVersion}`);
  if (differing.length === 0)
    return about.ok(`longhaul ${ours} and all it runs on, the same on both ends`);
  return node.softwareVersion === ours
    ? about.ok(differing.join('; '))
    : about.warning(
        differing.join('; '),
        'install the same longhaul on both machines: npm ci of one commit',
      );
}
