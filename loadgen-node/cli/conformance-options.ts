import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_ROUND, ROUNDS, type Round } from '../../shared/rules/rounds/rounds.ts';
import { RNG_LIBRARIES, type RngLibrary } from '../loadgen/random/distributions.ts';
import { type LoadgenBehaviour, loadgenOf } from '../loadgen/settings/loadgen-behaviour.ts';

/** Values of the flags that {@link addLoadgenOptions} adds. */
export interface LoadgenOptions {
  readonly round: Round;
  readonly rngLibrary: RngLibrary;
}

/** Adds the flags that choose the C++ LoadGen to compare with. */
export function addLoadgenOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--round <round>', "round whose LoadGen's behaviour is followed")
        .choices(ROUNDS)
        .default(DEFAULT_ROUND),
    )
    .addOption(
      new Option('--rng-library <library>', 'C++ library that built that LoadGen')
        .choices(RNG_LIBRARIES)
        .default('libstdc++-11'),
    );
}

/** LoadGen that the flags choose. */
export function loadgenOfOptions({ round, rngLibrary }: LoadgenOptions): LoadgenBehaviour {
  return { ...loadgenOf(round), rngLibrary };
}

/** Parses a flag that is a number. @throws InvalidArgumentError */
export function numberOption(text: string): number {
  if (text.trim() === '' || !Number.isFinite(Number(text))) {
    throw new InvalidArgumentError('It must be a number.');
  }
  return Number(text);
}

/** Says on stderr which settings had no effect: stdout stays JSON. */
export function warnOfUnknown(names: readonly string[]): void {
  if (names.length === 0) return;
  process.stderr.write(`longhaul: not LoadGen's and without effect: ${names.join(', ')}\n`);
}
