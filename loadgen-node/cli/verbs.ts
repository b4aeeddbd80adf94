import type { Command } from 'commander';
import { compiledModule } from '../../shared/base/files/package-files.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';

/** Takes the exit code of a verb that came to its end. */
type SetExitCode = (code: number) => void;

/** A verb of the command line, loaded when it is asked for. */
export interface Verb {
  /** One line in `longhaul --help`; the command's own description is the same text. */
  readonly about: string;
  readonly load: (setExitCode: SetExitCode) => Promise<Command>;
}

/** What the SUT half exports to the one bin (sut-node/command.ts). */
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

/** Every verb, in the order of the help. Modules are imported by the verb that needs them: starting stays quick. */
export const VERBS: Readonly<Record<string, Verb>> = {
  demo: {
    about: 'measure the embedded benchmark on this machine, end to end',
    load: async (code) => (await import('./demo.ts')).demoCommand(code),
  },
  sut: {
    about: 'serve a benchmark as a SUT node',
    load: async (code) => (await loadSutHalf()).sutCommand(code),
  },
  run: {
    about: 'measure SUT nodes: performance, accuracy, or both',
    load: async (code) => (await import('./run.ts')).runCommand(code),
  },
  'find-peak': {
    about: 'find the largest load that keeps the latency bound, and what limits it',
    load: async (code) => (await import('./find-peak.ts')).findPeakCommand(code),
  },
  efficiency: {
    about: 'measure the same model in process and over the network, and what the network costs',
    load: async (code) => {
      const { efficiencyCommand } = await import('./efficiency.ts');
      return efficiencyCommand(code, await loadSutOptions());
    },
  },
  doctor: {
    about: 'look at machine, link and nodes before a run',
    load: async (code) => (await import('./doctor.ts')).doctorCommand(code),
  },
  sweep: {
    about: 'search the peak over a grid of delays, rates and losses of the link',
    load: async (code) => {
      const { sweepCommand } = await import('./sweep.ts');
      return sweepCommand(code, await loadSutOptions());
    },
  },
  report: {
    about: 'derive all figures of a run from its records again, and write its report',
    load: async (code) => (await import('./report.ts')).reportCommand(code),
  },
  compare: {
    about: 'compare runs, with confidence intervals',
    load: async (code) => (await import('./compare.ts')).compareCommand(code),
  },
  name: {
    about: 'ask SUT nodes for their names: one round trip to each',
    load: async () => (await import('./name.ts')).nameCommand(),
  },
  probe: {
    about: 'show the models of a server of the Open Inference Protocol, and a run for each',
    load: async () => (await import('./probe.ts')).probeCommand(),
  },
  health: {
    about: 'ask servers by grpc.health.v1 whether they serve, or wait until they do',
    load: async (code) => (await import('./health.ts')).healthCommand(code),
  },
  prepare: {
    about: 'make a stand-in for a model and its data set',
    load: async () => (await import('./prepare.ts')).prepareCommand(),
  },
  accuracy: {
    about:
      "score an accuracy log, ours or another LoadGen's, as the benchmark's official script does",
    load: async (code) => (await import('./accuracy.ts')).accuracyCommand(code),
  },
  audit: {
    about: 'check a run against the rules of its division',
    load: async (code) => (await import('./audit.ts')).auditCommand(code),
  },
  compliance: {
    about: 'run and verify a compliance test',
    load: async (code) => (await import('./compliance.ts')).complianceCommand(code),
  },
  system: {
    about: 'describe the machines of a run for a submission',
    load: async () => (await import('./system.ts')).systemCommand(),
  },
  submission: {
    about: 'build, truncate, check and pack a submission tree',
    load: async (code) => (await import('./submission.ts')).submissionCommand(code),
  },
  data: {
    about: 'write and check lists of the checksums of a data set',
    load: async () => (await import('./data.ts')).dataCommand(),
  },
  compression: {
    about: 'show what the rules allow to compress',
    load: async () => (await import('./compression.ts')).compressionCommand(),
  },
  settings: {
    about: "show what LoadGen's configuration files set",
    load: async (code) => (await import('./settings.ts')).settingsCommand(code),
  },
  conf: {
    about: "write a round's mlperf.conf to stdout",
    load: async () => (await import('./conf.ts')).confCommand(),
  },
  trace: {
    about: 'print what a test would issue, without a SUT, as JSON',
    load: async () => (await import('./trace.ts')).traceCommand(),
  },
  results: {
    about: 'print what LoadGen makes of measurements, as JSON',
    load: async () => (await import('./results.ts')).resultsCommand(),
  },
  'early-stopping': {
    about: 'how many queries early stopping asks for',
    load: async () => (await import('./early-stopping.ts')).earlyStoppingCommand(),
  },
  'self-check': {
    about: 'hold the files of this program against its manifest',
    load: async (code) => (await import('./self-check.ts')).selfCheckCommand(code),
  },
  config: {
    about: 'show effective settings and where each came from',
    load: async () => {
      const { configCommand } = await import('./config.ts');
      return configCommand(loadSutOptions);
    },
  },
};

/** The commands of all verbs: those that are named among the arguments are loaded, the others are a line of the help. */
export async function verbCommands(
  args: readonly string[],
  setExitCode: SetExitCode,
): Promise<Command[]> {
  const commands = Object.entries(VERBS).map(async ([name, { about, load }]) =>
    args.includes(name) ? await load(setExitCode) : createCommand(name, about),
  );
  return Promise.all(commands);
}
