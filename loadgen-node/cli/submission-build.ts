import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { printText } from '../../shared/base/process/terminal.ts';
import { type BuiltTree, buildSubmission } from '../submission/assemble/build-submission.ts';
import { nextLines } from '../submission/assemble/next-lines.ts';
import { verb } from './verb.ts';

interface Options {
  readonly config?: string;
  readonly output?: string;
  readonly dryRunLengths?: boolean;
  readonly force?: boolean;
}

/** `longhaul submission build`. */
export const buildVerb = verb({
  flags: (command) =>
    command
      .option('--config <file>', 'what is submitted (YAML)')
      .option('--output <tree>', 'folder to make; is there afterwards whole, or not at all')
      .option('--dry-run-lengths', 'take runs of any length and verdict, and mark the tree')
      .option('--force', 'replace a tree that longhaul built'),
  example: `
Examples:
  longhaul submission build --config submission.yaml --output tree
  longhaul submission build --config submission.yaml --output tree --force --dry-run-lengths
The configuration file: docs/submit.md`,
  action: async ({ command }) => {
    const { config, output, dryRunLengths, force } = command.opts<Options>();
    if (config === undefined || output === undefined) {
      const what = config === undefined ? '--config <file>' : '--output <tree>';
      throw configInvalid(`${what} is needed (see --help)`);
    }
    const built = await buildSubmission({
      config,
      tree: output,
      isDryRun: dryRunLengths === true,
      mayReplace: force === true,
    });
    for (const warning of built.warnings) printText(process.stderr, `warning: ${warning}\n`);
    return { text: summaryOf(built, output), json: jsonOf(built, output) };
  },
});

function jsonOf({ plan, fileCount, warnings }: BuiltTree, tree: string): object {
  const { round, submitter, divisions, isDryRun } = plan;
  const results = plan.results.map(({ entry }) => ({
    system: entry.system,
    model: entry.model,
    scenario: entry.scenario,
    divisions: entry.divisions,
  }));
  return { tree, submitter, round, divisions, results, fileCount, isDryRun, warnings };
}

function summaryOf(built: BuiltTree, tree: string): string {
  const { plan, fileCount } = built;
  const { round, submitter, results, divisions } = plan;
  const lines = divisions.map((division) => {
    const own = results.filter(({ entry }) => entry.divisions.includes(division));
    const names = own.map(({ entry }) => `${entry.system}/${entry.model}/${entry.scenario}`);
    return `  ${division}: ${names.join(', ')}\n`;
  });
  return (
    `Built ${tree} for ${submitter}, round ${round}: ${fileCount} files.\n${lines.join('')}` +
    (plan.isDryRun ? 'It is NOT to be handed in: --dry-run-lengths was given.\n' : '') +
    nextLines(built, tree)
  );
}
