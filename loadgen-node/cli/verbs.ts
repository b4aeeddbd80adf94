import type { Command } from 'commander';
import { compiledModule } from '../../shared/base/files/package-files.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import type { MakeCommand, SetExitCode } from './verb.ts';

/** Exports of the SUT half for the one bin (sut-node/command.ts). */
interface SutHalf {
  sutCommand(setExitCode: SetExitCode): Command;
}

/** Loads the other half by path: `run` must work where it, or ONNX Runtime, is not installed. */
async function loadSutHalf(): Promise<SutHalf> {
  return (await import(compiledModule('sut-node/command.js').href)) as SutHalf;
}

async function loadSutOptions(): Promise<SettingTable> {
  const { href } = compiledModule('sut-node/settings/sut-settings.js');
  return ((await import(href)) as { readonly SUT_OPTIONS: SettingTable }).SUT_OPTIONS;
}

/** Every verb, in the order of the help, with its line there. */
const ABOUT = {
  demo: 'measure the embedded benchmark on this machine, end to end',
  sut: 'serve a benchmark as a SUT node',
  run: 'measure SUT nodes: performance, accuracy, or both',
  'find-peak': 'find the largest load that keeps the latency bound, and what limits it',
  efficiency: 'measure the same model in process and over the network, and what the network costs',
  doctor: 'look at machine, link and nodes before a run',
  sweep: 'search the peak over a grid of delays, rates and losses of the link',
  report: 'derive all figures of a run from its records again, and write its report',
  compare: 'compare runs, with confidence intervals',
  name: 'ask SUT nodes for their names: one round trip to each',
  probe: 'show the models of a server of the Open Inference Protocol, and a run for each',
  health: 'ask servers by grpc.health.v1 whether they serve, or wait until they do',
  prepare: 'make a stand-in for a model and its data set',
  accuracy:
    "score an accuracy log, ours or another LoadGen's, as the benchmark's official script does",
  audit: 'check a run against the rules of its division',
  compliance: 'run and verify a compliance test',
  system: 'describe the machines of a run for a submission',
  submission: 'build, truncate, check and pack a submission tree',
  data: 'write and check lists of the checksums of a data set',
  compression: 'show what the rules allow to compress',
  settings: "show what LoadGen's configuration files set",
  conf: "write a round's mlperf.conf to stdout",
  trace: 'print what a test would issue, without a SUT, as JSON',
  results: 'print what LoadGen makes of measurements, as JSON',
  'early-stopping': 'how many queries early stopping asks for',
  'self-check': 'hold the files of this program against its manifest',
  config: 'show effective settings and where each came from',
};

type VerbName = keyof typeof ABOUT;

/** How each is loaded. Modules are imported by the verb that needs them: starting stays quick. */
const VERBS: Readonly<Record<VerbName, () => Promise<MakeCommand>>> = {
  demo: async () => (await import('./demo.ts')).demoVerb,
  sut: async () => {
    const { sutCommand } = await loadSutHalf();
    return (_name, _about, setExitCode) => sutCommand(setExitCode);
  },
  run: async () => (await import('./run.ts')).runVerb,
  'find-peak': async () => (await import('./find-peak.ts')).findPeakVerb,
  efficiency: async () => (await import('./efficiency.ts')).efficiencyVerb(await loadSutOptions()),
  doctor: async () => (await import('./doctor.ts')).doctorVerb,
  sweep: async () => (await import('./sweep.ts')).sweepVerb(await loadSutOptions()),
  report: async () => (await import('./report.ts')).reportVerb,
  compare: async () => (await import('./compare.ts')).compareVerb,
  name: async () => (await import('./ask-servers.ts')).nameVerb,
  probe: async () => (await import('./ask-servers.ts')).probeVerb,
  health: async () => (await import('./health.ts')).healthVerb,
  prepare: async () => (await import('./prepare.ts')).prepareVerb,
  accuracy: async () => (await import('./accuracy.ts')).accuracyVerb,
  audit: async () => (await import('./audit.ts')).auditVerb,
  compliance: async () => (await import('./compliance.ts')).complianceVerb,
  system: async () => (await import('./system.ts')).systemVerb,
  submission: async () => (await import('./submission.ts')).submissionVerb,
  data: async () => (await import('./data.ts')).dataVerb,
  compression: async () => (await import('./rounds.ts')).compressionVerb,
  settings: async () => (await import('./settings.ts')).settingsVerb,
  conf: async () => (await import('./rounds.ts')).confVerb,
  trace: async () => (await import('./conformance.ts')).traceVerb,
  results: async () => (await import('./conformance.ts')).resultsVerb,
  'early-stopping': async () => (await import('./conformance.ts')).earlyStoppingVerb,
  'self-check': async () => (await import('./self-check.ts')).selfCheckVerb,
  config: async () => (await import('./config.ts')).configVerb(loadSutOptions),
};

/** Names of all verbs, in the order of the help. */
export const VERB_NAMES = Object.keys(ABOUT) as readonly VerbName[]; // Those keys.

/** The command of a verb, loaded now. */
export async function verbCommand(name: VerbName, setExitCode: SetExitCode): Promise<Command> {
  return (await VERBS[name]())(name, ABOUT[name], setExitCode);
}

/**
 * The commands of all verbs: those that are named among the arguments are loaded, a line of the help
 * takes the place of each of the others.
 */
export async function verbCommands(
  args: readonly string[],
  setExitCode: SetExitCode,
): Promise<Command[]> {
  return Promise.all(
    VERB_NAMES.map((name) =>
      args.includes(name) ? verbCommand(name, setExitCode) : createCommand(name, ABOUT[name]),
    ),
  );
}
