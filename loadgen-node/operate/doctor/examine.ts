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
import { ownRuntimeFlags, readTuningFacts } from '../../../shared/host/tuning-facts.ts';
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
  again: toggle('measure the generator ceiling again even if a stored one is still valid'),
  ...CONNECTION_OPTIONS,
};

type DoctorValues = SettingValues<typeof DOCTOR_SETTINGS>;

/**
 * Examines this machine, the links, the nodes and the planned run.
 * @param flags Explicit flags, by key.
 * @throws MlperfError for flags that `run` would also refuse
 */
export async function examine(
  values: DoctorValues,
  flags: Readonly<Record<string, string | undefined>>,
  host: RunHost,
) {
  const settings = await askingSettings(values.sut ?? [], values);
  if (values.benchmark === undefined && plansRun(flags)) {
    throw configInvalid(
      'flags of a planned run need --benchmark NAME: its samples decide the bytes sent',
    );
  }
  const nodeCount = Math.max(1, settings.nodes.length);
  const plan = values.benchmark === undefined ? null : await plannedLoad(flags, nodeCount, host);
  host.progress?.('looking at this machine');
  const source = thisMachine();
  // Read before longhaul creates any load.
  const tuning = await readTuningFacts(source, ownRuntimeFlags());
  const facts = await gatherSystemFacts(source, softwareComponents());
  const nodes: ExaminedNode[] = [];
  for (const address of settings.nodes) {
    nodes.push(await examineNode(address, settings, { source, facts, tuning }, values, host));
  }
  const measured = nodes.flatMap(({ link }) => link ?? []);
  const own = [
    ...machineFindings({ facts, tuning, isLoadgen: true }),
    ...(await ceilingOf(values, plan, isBusyNow(tuning), host)),
  ];
  const groups: FindingGroup[] = [
    { title: 'LoadGen node (this machine)', findings: own },
    ...nodes.flatMap((node) => node.groups),
    ...(await namesGroup(settings, nodes)),
    ...(plan === null ? [] : [planGroup(plan, measured)]),
  ];
  // No link can be measured to a node that does not answer.
  return { groups, hasLost: measured.length < nodes.length };
}

/** True if a flag of a planned run is given. */
export function plansRun(flags: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(PLAN_SETTINGS).some((key) => key !== 'cacheDir' && flags[key] !== undefined);
}

async function examineNode(
  address: string,
  settings: DispatchSettings,
  own: LoadgenEnd,
  { benchmark, linkTestTime }: DoctorValues,
  host: RunHost,
): Promise<ExaminedNode> {
  let link: MeasuredLink;
  try {
    link = await measureLink(address, settings, own, linkTestTime / 1e6, host);
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const advice =
      'until it answers no run can begin; check it alone with "longhaul probe name --sut"';
    const finding = subject('answers', 'Answers').error(messageOf(error), advice);
    return { groups: [{ title: `SUT node ${address}`, findings: [finding] }] };
  }
  const { name, description, system, whyNoSystem } = link.probe;
  const { operatingSystem } = thisHost();
  const way = [...wayFindings(link), ...throughputFindings(link)];
  const node = [
    ...versionFindings({ components: softwareComponents(), operatingSystem }, description),
    ...servesFinding(description?.benchmarks ?? [], benchmark && keyOfRun(benchmark)),
  ];
  if (system === null) {
    node.push(subject('machine', 'Machine').unknown(whyNoSystem ?? 'not reported by the node'));
  } else if (link.link.isSameMachine !== true) {
    node.push(...machineFindings({ ...system, isLoadgen: false }));
  }
  return {
    link,
    groups: [
      { title: `Link to ${name} at ${address}`, findings: way },
      { title: `SUT node ${name}`, findings: node },
    ],
  };
}

interface ExaminedNode {
  readonly groups: readonly FindingGroup[];
  /** Absent if the node does not answer. */
  readonly link?: MeasuredLink;
}

function servesFinding(served: readonly string[], benchmark: string | undefined): DoctorFinding[] {
  if (benchmark === undefined || served.length === 0) return [];
  const about = subject('benchmark', 'Benchmark');
  if (served.includes(benchmark)) return [about.ok(benchmark)];
  const seen = `it serves ${served.join(', ')}, and the run is ${benchmark}`;
  return [about.error(seen, `longhaul sut --benchmark ${benchmark}`)];
}

/** Checks over all nodes: names must be unique, and no node may have two addresses. */
async function namesGroup(
  settings: DispatchSettings,
  nodes: readonly ExaminedNode[],
): Promise<FindingGroup[]> {
  if (nodes.length < 2 || nodes.some(({ link }) => link === undefined)) return [];
  const about = subject('names', 'Names');
  const finding = await askNames(settings).then(
    ({ name }) => about.ok(name ?? 'each node has its own'),
    (error: unknown) => about.error(messageOf(error), 'longhaul sut --node NAME'),
  );
  return [{ title: 'All SUT nodes', findings: [finding] }];
}

function planGroup(plan: PlannedLoad, links: readonly MeasuredLink[]): FindingGroup {
  const { benchmark, scenario, targetQps } = plan;
  const unit = scenario === 'Offline' ? 'samples' : 'queries';
  const rate = targetQps === null ? '' : `, ${targetQps} ${unit}/s`;
  const title = `Planned run: ${benchmark}, ${scenario}${rate}`;
  return { title, findings: planFindings(plan, links) };
}

/** An unmeasurable ceiling is a finding, not an error. */
async function ceilingOf(
  { cacheDir = defaultCacheFolder(), again: isAgain }: DoctorValues,
  plan: PlannedLoad | null,
  isBusy: boolean,
  host: RunHost,
): Promise<DoctorFinding[]> {
  try {
    return ceilingFindings(await generatorCeiling(cacheDir, { isAgain, isBusy }, host), plan);
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    return ceilingFindings(null, plan, messageOf(error));
  }
}

/**
 * Software of a node compared with LoadGen's. A run never compares clocks, so their difference is
 * no finding.
 */
export function versionFindings(
  own: { readonly components: readonly ComponentVersion[]; readonly operatingSystem: string },
  node: ProbedDescription | null,
): DoctorFinding[] {
  if (node === null) {
    const why = 'the node does not describe itself (no such call)';
    return [subject('versions', 'Versions').unknown(why)];
  }
  const findings = [protocol(node), versions(own.components, node)];
  const [here, there] = [own.operatingSystem, node.operatingSystem];
  if (here === there) return findings;
  const seen = `here ${here}, there ${there === '' ? 'not reported' : there}`;
  return [...findings, subject('kernel', 'Kernel').ok(seen)];
}

function protocol(node: ProbedDescription): DoctorFinding {
  const about = subject('protocol', 'Protocol');
  const theirs = toldVersions(node);
  const agreed = agreedVersion(theirs);
  if (agreed !== undefined) return about.ok(`version ${agreed} on both ends`);
  const seen = `here ${versionsInWords(OWN_VERSIONS)}, there ${versionsInWords(theirs)}`;
  return about.error(seen, 'install the same longhaul on both machines (docs/operate.md)');
}

function versions(components: readonly ComponentVersion[], node: ProbedDescription): DoctorFinding {
  const about = subject('versions', 'Versions');
  const { software, softwareVersion } = node;
  if (software !== 'longhaul') return about.ok(`the node runs ${software} ${softwareVersion}`);
  const theirs = new Map(node.components.map(({ name, version }) => [name, version]));
  theirs.set(software, softwareVersion);
  const differing = components
    .filter(({ name, version }) => theirs.has(name) && theirs.get(name) !== version)
    .map(({ name, version }) => `${name} ${version} here, ${theirs.get(name)} there`);
  const ours = components.find(({ name }) => name === 'longhaul')?.version;
  if (differing.length === 0) {
    return about.ok(`longhaul ${ours} and all it runs on, the same on both ends`);
  }
  const advice = 'install the same longhaul on both machines: npm ci of one commit';
  return about.okIf(softwareVersion === ours, differing.join('; '), advice);
}
