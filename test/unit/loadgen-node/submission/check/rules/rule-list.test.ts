/** docs/submit.md lists every rule of the self-check; `npx vitest run -u --project unit rule-list` writes it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import {
  type FindingId,
  Findings,
  isLookedFor,
  RULE_GROUPS,
  ruleOfRound,
  verdictOf,
} from '../../../../../../loadgen-node/submission/check/rules/findings.ts';
import type {
  RuleRow,
  RuleTable,
} from '../../../../../../loadgen-node/submission/check/rules/rule.ts';
import {
  HELD_IN_V05,
  V05_RULES,
} from '../../../../../../loadgen-node/submission/check/rules/v05-rules.ts';
import {
  SUBMISSION_DIVISIONS,
  SUBMISSION_ROUNDS,
  type SubmissionDivision,
  type SubmissionRound,
} from '../../../../../../loadgen-node/submission/rules/submission-rounds.ts';

const here = (path: string): URL => new URL(`../../../../../../${path}`, import.meta.url);

const GOLDEN = JSON.parse(readFileSync(here('test/golden/official-checks.json'), 'utf8')) as {
  readonly checks: readonly {
    readonly rounds: readonly string[];
    readonly file: string;
    readonly functions: readonly string[];
  }[];
  readonly documents: readonly {
    readonly document: string;
    readonly sections: readonly string[];
  }[];
};

const DOCUMENT = fileURLToPath(here('docs/submit.md'));

/** Rounds in words: `v2.1 to v5.1`, `v2.1, v6.0 and v6.1`. Up to two neighbours stand one by one. */
function inRounds(rounds: readonly SubmissionRound[]): string {
  const groups: SubmissionRound[][] = [];
  for (const round of rounds) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    const isNext =
      last !== undefined &&
      SUBMISSION_ROUNDS.indexOf(round) === SUBMISSION_ROUNDS.indexOf(last) + 1;
    if (isNext) group?.push(round);
    else groups.push([round]);
  }
  const texts = groups.flatMap((group) =>
    group.length > 2 ? [`${group[0]} to ${group.at(-1)}`] : group,
  );
  return texts.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

/** Severity in parentheses; empty for a rule that is an error wherever it is looked for in the rounds. v0.5 has no Network division. */
function severityText(row: RuleRow, ofList: readonly SubmissionRound[]): string {
  if (row.severity !== undefined) return row.severity === 'error' ? '' : ` (${row.severity})`;
  const rounds = ofList.filter((round) => isLookedFor(row, round, undefined));
  const divisions = SUBMISSION_DIVISIONS.filter(
    (division) =>
      row.only?.divisions?.includes(division) !== false &&
      !(ofList === V05 && division === 'network'),
  );
  const isWarning = (round: SubmissionRound, division: SubmissionDivision): boolean =>
    verdictOf(row, round, division).severity === 'warning';
  const everywhere = rounds.filter((round) => divisions.every((one) => isWarning(round, one)));
  if (everywhere.length === rounds.length) return ' (warning)';
  const where = everywhere.length > 0 ? [inRounds(everywhere)] : [];
  for (const division of divisions) {
    const more = rounds.filter((one) => isWarning(one, division) && !everywhere.includes(one));
    if (more.length === 0) continue;
    where.push(more.length === rounds.length ? division : `${division} of ${inRounds(more)}`);
  }
  return where.length === 0 ? '' : ` (warning in ${where.join('; ')})`;
}

const V05: readonly SubmissionRound[] = ['v0.5'];
const LATER = SUBMISSION_ROUNDS.filter((round) => round !== 'v0.5');

function groupText([title, table]: readonly [string, RuleTable]): string {
  const items = Object.entries(table).map(([id, row]) => {
    const rule = row.rule.replace(/</g, '&lt;');
    const rounds = Object.hasOwn(V05_RULES, id) ? V05 : LATER;
    return `* \`${id}\`${severityText(row, rounds)}: ${rule}`;
  });
  return `### ${title}\n\n${items.join('\n')}\n`;
}

it('lists every rule with its severity', async () => {
  const before = readFileSync(DOCUMENT, 'utf8');
  const held = Object.keys(HELD_IN_V05).map(
    (id) => `\`${id}\`${severityText(ruleOfRound(id as FindingId, 'v0.5') as RuleRow, V05)}`,
  );
  const ofV05 = `Of the rules above these hold in v0.5 as well, by its own texts: ${held.join(', ')}.\n`;
  const table = `\n${Object.entries(RULE_GROUPS).map(groupText).join('\n')}\n${ofV05}\n`;
  const after = before.replace(
    /(<!-- rules: .*-->\n)[\s\S]*(<!-- end of rules -->)/,
    (_, begin: string, end: string) => begin + table + end,
  );
  expect(after).toContain('`seed-wrong`');
  await expect(after).toMatchFileSnapshot(DOCUMENT);
});

it.each([
  ['rounds that are no neighbours', '* `python-cache` (warning in v2.1, v6.0 and v6.1): '],
  ['a rule of v0.5 by v0.5', '* `server-runs`: '],
  ['open, where v0.5 has other bounds in closed', '* `interval-wrong` (warning in open): '],
  ['a rule only where it is looked for', '* `accuracy-below-target`: '],
  ['a rule of one round and division', '* `accuracy-not-shown`: '],
  ['the severity in v0.5, where it is another', '`error-in-log` (warning), '],
])('tells %s', (_, text) => {
  expect(readFileSync(DOCUMENT, 'utf8')).toContain(text);
});

it('has an id only once', () => {
  const ids = Object.values(RULE_GROUPS).flatMap((table) => Object.keys(table));
  expect(new Set(ids).size).toBe(ids.length);
});

const ROWS: readonly (readonly [string, Pick<RuleRow, 'by' | 'severity' | 'because'>])[] = [
  ...Object.values(RULE_GROUPS).flatMap((table: RuleTable) => Object.entries(table)),
  ...Object.entries(HELD_IN_V05),
];

/** The texts of round v0.5 have no headings that could be listed. */
const WITHOUT_LIST = ['paper of round v0.5', 'inference_rules v0.5'];

/** Names that a decider may have in a round. */
function namesIn(document: string, round: SubmissionRound): readonly string[] | undefined {
  if (document === 'docs/submit.md') {
    return [...readFileSync(DOCUMENT, 'utf8').matchAll(/^#+ (.*)$/gm)].map(
      ([, title]) => title ?? '',
    );
  }
  const check = GOLDEN.checks.find(
    ({ file, rounds }) => file === document && rounds.includes(round),
  );
  const text = GOLDEN.documents.find((one) => one.document === document);
  return check?.functions ?? text?.sections;
}

it('names who decides by sections and functions that there are, in each of its rounds', () => {
  const wrong = ROWS.flatMap(([id, { by }]) =>
    by.flatMap(({ in: document, name, rounds }) =>
      WITHOUT_LIST.includes(document)
        ? []
        : rounds
            .filter((round) => namesIn(document, round)?.includes(name) !== true)
            .map((round) => `${id}: ${document} of ${round} has no ${name}`),
    ),
  );
  expect(wrong).toEqual([]);
});

it('has somebody who decides behind every error', () => {
  const said = ROWS.filter(([, { by, severity }]) => severity === 'error' && by.length === 0);
  expect(said.map(([id]) => id)).toEqual([]);
  const findings = new Findings('v6.0', false);
  findings.add('hash-twice', 'closed/a.txt', 'Seen.');
  findings.add('seed-wrong', 'closed/a.txt', 'Seen.');
  expect(findings.all().map(({ severity, source }) => [severity, source])).toEqual([
    ['warning', expect.stringMatching(/^no text and no official check of v6\.0; /)],
    ['error', 'submission_checker/main.py, PerformanceCheck.seeds_check'],
  ]);
});

it('says of each rule who asks for it, or why longhaul looks', () => {
  const silent = ROWS.filter(
    ([, { by, because, severity }]) =>
      by.length === 0 && because === undefined && severity !== 'note',
  );
  expect(silent.map(([id]) => id)).toEqual([]);
});
