import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import { DRY_RUN_FILE, DRY_RUN_WORDS, MARK_LINE } from '../../tree/tree-layout.ts';
import type { SubmissionPlan } from '../plan/plan-types.ts';
import { document, table } from './markdown.ts';

/** LONGHAUL.md: who made the tree, and what is in it. */
export function markText({ submitter, round, results, isDryRun }: SubmissionPlan): string {
  const rows = results.map(({ entry }) => [
    entry.divisions.join(', '),
    entry.system,
    entry.model,
    entry.scenario,
    entry.inferred_from === undefined ? 'measured' : `inferred from ${entry.inferred_from}`,
  ]);
  return document(
    `${MARK_LINE}\n# Results of ${submitter} for round ${round}`,
    isDryRun ? `> **${DRY_RUN_WORDS}: see ${DRY_RUN_FILE}**` : '',
    `Assembled by longhaul ${packageVersion()}. "submission build --force" replaces this folder because this file is here.`,
    table(['divisions', 'system', 'model', 'scenario', ''], rows),
    'Lists of benchmarks and compliance tests are those of the inference rules of the round; the older ones of the submission rules yield to them.',
  );
}

/** NOT_SUBMITTABLE.md: the mark of a tree for trying things out. */
export function notSubmittableText(): string {
  return document(
    `# ${DRY_RUN_WORDS}`,
    'This tree was built with --dry-run-lengths, to try the way from runs to a tree. Runs may be shorter than the rules want, ' +
      'results may not be valid, compliance tests may have failed. "longhaul submission check" calls it an error in any case.',
  );
}
