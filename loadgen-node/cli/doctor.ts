import type { Command } from 'commander';
import {
  askNames,
  checkDispatchSettings,
  type DispatchSettings,
  defaultDispatchSettings,
  resolveNodeAddresses,
} from '../../qdl/index.ts';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../shared/base/errors/to-mlperf-error.ts';
import { defaultCacheFolder } from '../../shared/base/files/cache-folder.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import {
  addressList,
  optional,
  positiveDuration,
  type Setting,
  type SettingValues,
  text,
  toggle,
} from '../../shared/config/setting.ts';
import { softwareComponents } from '../../shared/host/component-versions.ts';
import { gatherSystemFacts } from '../../shared/host/gather-system-facts.ts';
import { thisHost } from '../../shared/host/host-facts.ts';
import { thisMachine } from '../../shared/host/machine-source.ts';
import {
  ownRuntimeFlags,
  readTuningFacts,
  type TuningFacts,
} from '../../shared/host/tuning-facts.ts';
import { doctorJson, doctorText, hasErrors } from '../operate/doctor/doctor-report.ts';
import { type DoctorFinding, type FindingGroup, subject } from '../operate/doctor/finding.ts';
import { generatorCeiling } from '../operate/doctor/generator-ceiling.ts';
import { type MeasuredLink, wayFindings } from '../operate/doctor/link-findings.ts';
import { machineFindings } from '../operate/doctor/machine-findings.ts';
import { type LoadgenEnd, measureLink } from '../operate/doctor/measure-link.ts';
import {
  ceilingFindings,
  type PlannedLoad,
  planFindings,
} from '../operate/doctor/plan-findings.ts';
import { PLAN_SETTINGS, plannedLoad } from '../operate/doctor/planned-load.ts';
import { isBusyNow } from '../operate/doctor/processor-findings.ts';
import { throughputFindings } from '../operate/doctor/throughput-findings.ts';
import { versionFindings } from '../operate/doctor/version-findings.ts';
import { CommandHost } from '../run/host/host.ts';
import { CONNECTION_OPTIONS, toConnectionSettings } from '../run/plan/connection-options.ts';

const DOCTOR_SETTINGS: typeof CONNECTION_OPTIONS &
  typeof PLAN_SETTINGS & {
    readonly sut: Setting<string[] | undefined>;
    readonly benchmark: Setting<string | undefined>;
    readonly linkTestTime: Setting<number>;
    readonly again: Setting<boolean>;
  } = {
  sut: optional(addressList('addresses of the SUT nodes, as in the run')),
  benchmark: optional(text('name', 'benchmark of the planned run, for its bytes and bandwidth')),
  ...PLAN_SETTINGS,
  linkTestTime: positiveDuration('load on each link, each way; a node takes 5 s at most', {
    fallback: '1s',
  }),
  again: toggle('measure the generator ceiling anew, though a kept one still holds'),
  ...CONNECTION_OPTIONS,
};

type DoctorValues = SettingValues<typeof DOCTOR_SETTINGS>;

const EXAMPLE = `
The link test sends load to each node, one after the other. A node in the middle of a run refuses it.

Examples:
  longhaul doctor
  longhaul doctor --sut 10.0.0.2:50051 --benchmark resnet50 --data-dir imagenet --scenario Server --target-qps 500

Exit codes: 0 no errors (warnings do not count), 3 errors, 4 a node does not answer, 2 wrong flag.`;

/** `longhaul doctor`: what a run would meet on this machine, its links and its nodes. */
export function doctorCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('doctor', 'look at machine, link and nodes before a run');
  return addFlags(addJson(command), DOCTOR_SETTINGS)
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, DOCTOR_SETTINGS);
      const host = new CommandHost();
      const { groups, hasLost } = await examine(values, command.opts(), host);
      host.progress(null);
      writeResult(command, { text: doctorText(groups), json: doctorJson(groups) });
      if (hasLost) setExitCode(EXIT.sut);
      else setExitCode(hasErrors(groups) ? EXIT.invalid : EXIT.valid);
    });
}

interface Examination {
  readonly groups: readonly FindingGroup[];
  /** True where a node does not answer. */
  readonly hasLost: boolean;
}

/** @param flags As they were said. @throws MlperfError for flags that `run` would refuse, too */
async function examine(
  values: DoctorValues,
  flags: Readonly<Record<string, string | undefined>>,
  host: CommandHost,
): Promise<Examination> {
  const settings = await connectionSettings(values);
  refuseWithoutBenchmark(values, flags);
  const plan =
    values.benchmark === undefined
      ? null
      : await plannedLoad(flags, Math.max(1, settings.nodes.length), (fraction, what) =>
          host.progress(what, `${Math.round(fraction * 100)} %`),
        );
  host.progress('looking at this machine');
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
  return { groups, hasLost: measured.length < nodes.length };
}

function refuseWithoutBenchmark(
  { benchmark }: DoctorValues,
  flags: Readonly<Record<string, unknown>>,
): void {
  const alone = Object.keys(PLAN_SETTINGS).find(
    (key) => key !== 'cacheDir' && flags[key] !== undefined,
  );
  if (benchmark !== undefined || alone === undefined) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    'flags of a planned run need --benchmark NAME: its samples say how many bytes go',
  );
}

async function connectionSettings(values: DoctorValues): Promise<DispatchSettings> {
  const nodes = values.sut === undefined ? [] : await resolveNodeAddresses(values.sut);
  const settings = { ...defaultDispatchSettings(nodes), ...toConnectionSettings(values) };
  if (nodes.length > 0) checkDispatchSettings(settings);
  return settings;
}

interface ExaminedNode {
  readonly groups: readonly FindingGroup[];
  readonly link: MeasuredLink | undefined;
}

async function examineNode(
  address: string,
  settings: DispatchSettings,
  own: LoadgenEnd,
  { values, host }: { readonly values: DoctorValues; readonly host: CommandHost },
): Promise<ExaminedNode> {
  let link: MeasuredLink;
  try {
    link = await measureLink(address, settings, own, {
      durationMs: values.linkTestTime / 1e6,
      onStep: (what) => host.progress(`SUT node ${address}`, what),
    });
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const finding = subject('answers', 'Answers').error(
      messageOf(error),
      'until it answers no run can begin; "longhaul name --sut" asks it alone',
    );
    return { groups: [{ title: `SUT node ${address}`, findings: [finding] }], link: undefined };
  }
  const { probe } = link;
  const software = {
    components: softwareComponents(),
    operatingSystem: thisHost().operatingSystem,
  };
  const machine = probe.system === null ? [noMachine(link)] : nodeMachine(link);
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
          ...servesFinding(link, values.benchmark),
          ...machine,
        ],
      },
    ],
  };
}

function nodeMachine({ probe, link }: MeasuredLink): DoctorFinding[] {
  if (link.isSameMachine === true || probe.system === null) return [];
  return machineFindings({ ...probe.system, isLoadgen: false });
}

function noMachine({ probe }: MeasuredLink): DoctorFinding {
  return subject('machine', 'Machine').unknown(probe.whyNoSystem ?? 'the node tells none');
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

/** What only all nodes together show: names that are not unique, one node behind two addresses. */
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

/** A ceiling that cannot be measured is no failure of what was asked for. */
async function ceilingGroup(
  { cacheDir, again }: DoctorValues,
  plan: PlannedLoad | null,
  { tuning, host }: { readonly tuning: TuningFacts; readonly host: CommandHost },
): Promise<DoctorFinding[]> {
  try {
    const ceiling = await generatorCeiling(cacheDir ?? defaultCacheFolder(), {
      isAgain: again,
      isBusy: isBusyNow(tuning),
      onMeasure: () => host.progress('measuring the generator ceiling', 'once, some seconds'),
    });
    return ceilingFindings(ceiling, plan);
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    return ceilingFindings(null, plan, messageOf(error));
  }
}
