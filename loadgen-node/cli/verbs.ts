import type { Command } from 'commander';
import { compiledModule } from '../../shared/base/files/package-files.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import type { MakeCommand, SetExitCode } from './verb.ts';

async function loadSutOptions(): Promise<SettingTable> {
  const { href } = compiledModule('sut-node/settings/sut-settings.js');
  return ((await import(href)) as { readonly SUT_OPTIONS: SettingTable }).SUT_OPTIONS;
}

/** Every verb, with its line in the help. */
const ABOUT = {
  demo: 'measure the embedded benchmark on this machine, end to end',
  sut: 'serve a benchmark as a SUT node',
  run: 'measure SUT nodes: performance, accuracy, or both',
  'find-peak': 'find the largest load within the latency bound, and what limits it',
  curve: 'measure latency against throughput, with the knee: table, plot, page, CSV',
  efficiency: 'measure the same model in process and over the network: the cost of the network',
  sweep: 'search the peak over a grid of delays, rates and losses of the link',
  report: 'show the result of a run again, with figures derived from its records; write its page',
  compare: 'compare runs, with confidence intervals',
  runs: 'list the runs below a folder, newest first',
  accuracy:
    "score an accuracy log, ours or another LoadGen's, as the benchmark's official script does",
  audit: 'explain which rules of the Network division a run keeps, breaks, or cannot prove',
  doctor: 'check machine, link and nodes before a run',
  probe: 'show the models of a server of the Open Inference Protocol; ask for names and health',
  prepare: 'make a stand-in for a model and its data set',
  config: 'show, write and complete settings',
  version: 'show the versions of longhaul and its platform',
  compliance: 'run and verify a compliance test',
  submission: 'build, truncate, check and pack a submission tree; describe systems and data sets',
  loadgen: "explain LoadGen's settings, sample order and arithmetic; no SUT is needed",
};

type VerbName = keyof typeof ABOUT;

/** Headings of the help, with the verbs below each. */
export const VERB_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Measure:': ['demo', 'sut', 'run'],
  'Find limits:': ['find-peak', 'curve', 'efficiency', 'sweep'],
  'Look at results:': ['report', 'compare', 'runs', 'accuracy', 'audit'],
  'Prepare and check:': ['doctor', 'probe', 'prepare', 'config', 'version'],
  'Submit:': ['compliance', 'submission'],
  'LoadGen itself:': ['loadgen'],
};

/** Stands for all verbs. */
const ALL_VERBS = '*';

/** @param below Name of the subverb, if one is given. */
type LoadVerb = (below: string | undefined) => Promise<MakeCommand>;

/**
 * Loader of each verb. Modules are imported only by the verb that needs them, so that the start is
 * fast.
 */
const VERBS: Readonly<Record<VerbName, LoadVerb>> = {
  demo: async () => (await import('./demo.ts')).demoVerb,
  sut: async () => {
    // Imported by path: `run` must work even if sut-node, or ONNX Runtime, is not installed.
    const { href } = compiledModule('sut-node/command.js');
    const { sutCommand } = (await import(href)) as {
      sutCommand(setExitCode: SetExitCode): Command;
    };
    return (_name, _about, setExitCode) => sutCommand(setExitCode);
  },
  run: async () => (await import('./run.ts')).runVerb,
  'find-peak': async () => (await import('./find-peak.ts')).findPeakVerb,
  curve: async () => (await import('./curve.ts')).curveVerb,
  efficiency: async () => (await import('./efficiency.ts')).efficiencyVerb(await loadSutOptions()),
  sweep: async () => (await import('./sweep.ts')).sweepVerb,
  report: async () => (await import('./report.ts')).reportVerb,
  compare: async () => (await import('./compare.ts')).compareVerb,
  runs: async () => (await import('./runs.ts')).runsVerb,
  accuracy: async () => (await import('./accuracy.ts')).accuracyVerb,
  audit: async () => (await import('./audit.ts')).auditVerb,
  doctor: async () => (await import('./doctor.ts')).doctorVerb,
  // A health check runs often, and also where loadgen-node is not installed.
  probe: async (below) =>
    below === 'health'
      ? (await import('./health.ts')).healthOnlyVerb
      : (await import('./ask-servers.ts')).probeVerb,
  prepare: async () => (await import('./prepare.ts')).prepareVerb,
  config: async () => (await import('./config.ts')).configVerb(loadSutOptions, wholeProgram),
  version: async () => (await import('./version.ts')).versionVerb,
  compliance: async () => (await import('./compliance.ts')).complianceVerb,
  submission: async () => (await import('./submission.ts')).submissionVerb,
  loadgen: async () => (await import('./loadgen.ts')).loadgenVerb,
};

/** Names of all verbs, in the order of the help. */
export const VERB_NAMES = Object.keys(ABOUT) as readonly VerbName[]; // Those keys.

/** The command of a verb, loaded now. */
export async function verbCommand(
  name: VerbName,
  setExitCode: SetExitCode,
  below?: string,
): Promise<Command> {
  return (await VERBS[name](below))(name, ABOUT[name], setExitCode);
}

/**
 * Adds all verbs to the program: only the named one is loaded; the others are just a line of the
 * help.
 * @param words Verb and subverb; {@link ALL_VERBS} loads every verb.
 */
export async function addVerbs(
  program: Command,
  [named, below]: readonly (string | undefined)[],
  setExitCode: SetExitCode,
): Promise<Command> {
  for (const name of VERB_NAMES) {
    const isLoaded = named === name || named === ALL_VERBS;
    const command = isLoaded
      ? await verbCommand(name, setExitCode, below)
      : createCommand(name, ABOUT[name]);
    const [heading] = Object.entries(VERB_GROUPS).find(([, names]) => names.includes(name)) ?? [];
    program.addCommand(heading === undefined ? command : command.helpGroup(heading));
  }
  return program;
}

/** The program with every verb loaded, for whatever describes all of it. */
export function wholeProgram(): Promise<Command> {
  return addVerbs(createCommand('longhaul', ''), [ALL_VERBS], () => {});
}

/**
 * Verbs with this flag, by name (subverbs by both names); those of a half that is not installed are
 * omitted.
 */
export async function verbsWithFlag(flag: string): Promise<string[]> {
  const found: string[] = [];
  const look = (command: Command, path: string): void => {
    if (command.options.some(({ long, hidden }) => long === flag && !hidden)) found.push(path);
    for (const below of command.commands) look(below, `${path} ${below.name()}`);
  };
  for (const name of VERB_NAMES) {
    const command = await verbCommand(name, () => {}).catch(() => undefined);
    if (command !== undefined) look(command, name);
  }
  return found;
}
