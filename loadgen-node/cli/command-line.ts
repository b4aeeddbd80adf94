import { packageVersion } from '../../shared/base/files/package-files.ts';
import { EXIT, errorDocument, reportError } from '../../shared/base/process/exit-codes.ts';
import { printText } from '../../shared/base/process/terminal.ts';
import { jsonText } from '../../shared/base/text.ts';
import {
  commanderOutcome,
  createCommand,
  unknownFlagOf,
} from '../../shared/config/command-line.ts';
import { showAllFlags } from '../../shared/config/help.ts';
import { InterruptedError } from '../run/host/host.ts';
import { addVerbs, verbsWithFlag } from './verbs.ts';

const EXAMPLES = `
Examples:
  longhaul demo                                       the whole thing on this machine
  longhaul sut --benchmark digits --listen 0.0.0.0:50051 --node sut-a
  longhaul run --sut 10.0.0.2:50051 --benchmark digits --scenario Server --target-qps 100
  longhaul find-peak --sut 10.0.0.2:50051 --benchmark digits --latency 100ms
  longhaul compare results/first results/second

"longhaul VERB --help" shows what a verb does and its usual flags, "--help-all" all of them.`;

const HELP_ALL = '--help-all';

async function runVerb(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.valid;
  const setExitCode = (code: number): void => {
    exitCode = code;
  };
  const program = createCommand(
    'longhaul',
    'MLPerf Inference, Network division: LoadGen and SUT over gRPC',
  )
    .usage('VERB [flags]')
    .version(packageVersion())
    .addHelpText('after', EXAMPLES);
  const words = args.filter((arg) => !arg.startsWith('-'));
  await addVerbs(program, words[0] === 'help' ? words.slice(1) : words, setExitCode);
  if (args.length === 0) {
    program.outputHelp();
    return EXIT.usage;
  }
  if (args.includes(HELP_ALL)) showAllFlags(program);
  const said = args.map((arg) => (arg === HELP_ALL ? '--help' : arg));
  await program.parseAsync(said, { from: 'user' });
  return exitCode;
}

/**
 * Runs a command line; errors are printed on stderr, with `--json` also as a line of JSON on
 * stdout.
 * @param args Arguments without the program's name.
 * @returns Exit code (docs/exit-codes.md).
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    return await runVerb(args);
  } catch (error) {
    const flag = unknownFlagOf(error);
    const owners = flag === undefined ? [] : await verbsWithFlag(flag);
    const outcome = commanderOutcome(error, owners);
    if (outcome === 'done') return EXIT.valid;
    // A defect that the host has already reported.
    const isTold = error instanceof InterruptedError && error.cause !== undefined;
    const code = isTold ? EXIT.internal : reportError(outcome ?? error);
    const exitCode = error instanceof InterruptedError ? error.exitCode : code;
    if (args.includes('--json')) {
      printText(process.stdout, `${jsonText(errorDocument(outcome ?? error, exitCode))}\n`);
    }
    return exitCode;
  }
}
