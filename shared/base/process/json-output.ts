import type { Command } from 'commander';

/** What a verb has to say: for people, and for programs. */
export interface VerbResult {
  /** Whole lines. */
  readonly text: string;
  /** A value that JSON can hold; times are ns, shares 0 to 1, absent values null. */
  readonly json: object;
}

/** Adds `--json` to a verb that ends with {@link writeResult}. */
export function addJson(command: Command): Command {
  return command.option('--json', 'print the result as one JSON document, for programs');
}

/** True when `--json` was said; a verb above that has the flag as well takes it from the verb below it. */
export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean | string }>().json === true;
}

/** Where a verb that has not come to its end says something: stdout, or with `--json` stderr, as stdout then is the result's. */
export function progressStream(command: Command): NodeJS.WriteStream {
  return wantsJson(command) ? process.stderr : process.stdout;
}

/** Prints a verb's result on stdout: the text, or with `--json` one JSON document and nothing else. */
export function writeResult(command: Command, { text, json }: VerbResult): void {
  process.stdout.write(wantsJson(command) ? `${JSON.stringify(json, null, 2)}\n` : text);
}
