/** docs/submit.md lists every rule of the self-check; `npx vitest run -u --project unit rule-list` writes it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import {
  Findings,
  RULE_GROUPS,
  verdictOf,
} from '../../../../../../loadgen-node/submission/check/rules/findings.ts';
import type {
  RuleRow,
  RuleTable,
} from '../../../../../../loadgen-node/submission/check/rules/rule.ts';
import { HELD_IN_V05 } from '../../../../../../loadgen-node/submission/check/rules/v05-rules.ts';
import {
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

/** Rounds in words: `v4.1 to v5.1`. */
function inRounds(rounds: readonly SubmissionRound[]): string {
  const [first, last] = [rounds[0], rounds.at(-1)];
  return first === last ? `${first}` : `${first} to ${last}`;
}

/** Severity in parentheses; empty for a rule that is an error everywhere. v0.5 has a list of its own. */
function severityText(row: RuleRow): string {
  if (row.severity !== undefined) return ` (${row.severity})`;
  const rounds = SUBMISSION_ROUNDS.filter((round) => round !== 'v0.5');
  const warningIn = (division: SubmissionDivision) =>
    rounds.filter((round) => verdictOf(row, round, division).severity === 'warning');
  const [everywhere, open] = [warningIn('closed'), warningIn('open')];
  if (everywhere.length === rounds.length) return ' (warning)';
  const onlyOpen = open.filter((round) => !everywhere.includes(round));
  const where = [
    ...(everywhere.length > 0 ? [inRounds(everywhere)] : []),
    ...(onlyOpen.length === rounds.length ? ['open'] : []),
    ...(onlyOpen.length > 0 && onlyOpen.length < rounds.length
      ? [`open of ${inRounds(onlyOpen)}`]
      : []),
  ];
  return where.length === 0 ? '' : ` (warning in ${where.join('; ')})`;
}

function groupText([title, table]: readonly [string, RuleTable]): string {
  const items = Object.entries(table).map(([id, row]) => {
    const rule = row.rule.replace(/</g, '&lt;');
    return `* \`${id}\`${severityText(row)}: ${rule}`;
  });
  return `### ${title}\n\n${items.join('\n')}\n`;
}

it('lists every rule with its severity', async () => {
  const before = readFileSync(DOCUMENT, 'utf8');
  const held = Object.keys(HELD_IN_V05).map((id) => `\`${id}\``);
  const ofV05 = `Of the rules above these hold in v0.5 as well, by its own texts: ${held.join(', ')}.\n`;
  const table = `\n${Object.entries(RULE_GROUPS).map(groupText).join('\n')}\n${ofV05}\n`;
  const after = before.replace(
    /(<!-- rules: .*-->\n)[\s\S]*(<!-- end of rules -->)/,
    (_, begin: string, end: string) => begin + table + end,
  );
  expect(after).toContain('`seed-wrong`');
  await expect(after).toMatchFileSnapshot(DOCUMENT);
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
