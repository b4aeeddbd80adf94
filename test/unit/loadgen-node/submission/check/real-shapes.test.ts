/**
 * What published submissions look like: shapes that the official tool of the round accepts lead to no error, what a
 * rule's text asks for is a warning, and an error where it is asked to be strict. What the tool refuses is refused.
 */
import { expect, it } from 'vitest';
import {
  type CheckOptions,
  checkTree,
} from '../../../../../loadgen-node/submission/check/check-tree.ts';
import {
  type FindingId,
  Findings,
} from '../../../../../loadgen-node/submission/check/rules/findings.ts';
import {
  SUBMISSION_DIVISIONS,
  SUBMISSION_ROUNDS,
  type SubmissionRound,
} from '../../../../../loadgen-node/submission/rules/submission-rounds.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import {
  ACCEPTED_SHAPES,
  REFUSED_SHAPES,
  type RealShape,
} from '../../../../support/samples/real-shapes.ts';
import { type ForeignTree, writeForeignTree } from '../../../../support/submission/foreign-tree.ts';
import { MutableTree } from '../../../../support/submission/mutable-tree.ts';

/** Ids by severity of all findings. */
async function check(
  tree: Omit<ForeignTree, 'root'>,
  change: RealShape['change'],
  options: CheckOptions = {},
): Promise<{ errors: string[]; warnings: string[] }> {
  const root = tempFolder();
  writeForeignTree({ root, ...tree });
  const mutable = new MutableTree(root);
  change?.(mutable);
  mutable.end();
  const { findings } = await checkTree(root, { round: tree.round, ...options });
  const idsOf = (severity: string): string[] => [
    ...new Set(findings.filter((one) => one.severity === severity).map(({ id }) => id)),
  ];
  return { errors: idsOf('error').sort(), warnings: idsOf('warning').sort() };
}

it.each(ACCEPTED_SHAPES)('accepts as the official tool does: $what', async (shape) => {
  const { tree, change, warnings } = shape;
  expect(await check(tree, change)).toEqual({ errors: [], warnings: [...warnings] });
});

it.each(ACCEPTED_SHAPES.filter(({ warnings }) => warnings.length > 0))(
  'makes the warnings errors where it has to be strict: $what',
  async (shape) => {
    const { tree, change, warnings } = shape;
    const strict = await check(tree, change, { isStrict: true });
    expect(strict).toEqual({ errors: [...warnings], warnings: [] });
  },
);

function severityOf(id: FindingId, round: SubmissionRound, division: string): string | undefined {
  const findings = new Findings(round, false);
  findings.add(id, `${division}/a.txt`, 'Seen.');
  return findings.all()[0]?.severity;
}

it.each<FindingId>([
  'scenario-differs',
  'mode-differs',
  'accuracy-log-empty',
  'audit-in-result',
  'test-settings-wrong',
  'test-rate-differs',
  'accuracy-seed-wrong',
  'hash-twice',
  'name-without-round-trip',
])('refuses in every round and division what the tree itself shows to be wrong: %s', (id) => {
  const severities = SUBMISSION_ROUNDS.flatMap((round) =>
    SUBMISSION_DIVISIONS.map((division) => severityOf(id, round, division)),
  );
  expect(new Set(severities)).toEqual(new Set(['error']));
});

it.each(REFUSED_SHAPES)('refuses as the official tool does: $what', async (shape) => {
  const { tree, change, error } = shape;
  expect((await check(tree, change)).errors).toContain(error);
});
