import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import {
  listRules,
  ruleTable,
} from '../../../../../../loadgen-node/submission/check/report/rule-table.ts';
import {
  type FindingId,
  Findings,
  isLookedFor,
  RULE_GROUPS,
  ruleOfRound,
} from '../../../../../../loadgen-node/submission/check/rules/findings.ts';
import type {
  RuleRow,
  RuleTable,
} from '../../../../../../loadgen-node/submission/check/rules/rule.ts';
import { HELD_IN_V05 } from '../../../../../../loadgen-node/submission/check/rules/v05-rules.ts';
import {
  SUBMISSION_ROUNDS,
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

const DIVISIONS = ['closed', 'network', 'open'] as const;

it.each(SUBMISSION_ROUNDS)(
  'lists each rule of %s once, in the divisions where it is looked for',
  (round) => {
    const { rules } = listRules(round);
    const ids = Object.values(RULE_GROUPS).flatMap((table) => Object.keys(table) as FindingId[]);
    const looked = ids.filter((id) => {
      const row = ruleOfRound(id, round);
      const divisions = round === 'v0.5' ? (['closed', 'open'] as const) : DIVISIONS;
      return row !== undefined && divisions.some((one) => isLookedFor(row, round, one));
    });
    expect(rules.map(({ id }) => id)).toEqual(looked);
    const groups = [...new Set(rules.map(({ group }) => group))];
    expect(Object.keys(RULE_GROUPS).filter((title) => groups.includes(title))).toEqual(groups);
  },
);

it.each<[string, SubmissionRound, FindingId, string]>([
  ['one severity', 'v4.1', 'seed-wrong', 'error: submission_checker.py, check_performance_dir'],
  [
    'a severity of its own in open',
    'v4.1',
    'hash-missing',
    'error in closed, network; warning in open: ',
  ],
  ['a mark', 'v4.1', 'stand-in-model', 'mark: no text and no official check of v4.1; stand-ins'],
  ['a rule of one round and division', 'v5.1', 'accuracy-not-shown', 'error in open: '],
  [
    'a rule that is none in a later round',
    'v6.1',
    'python-cache',
    'warning: no text and no official',
  ],
  ['the severity that v0.5 has', 'v0.5', 'error-in-log', 'warning: submission-checker.py, '],
  ['a rule of v0.5 alone', 'v0.5', 'interval-wrong', 'error in closed; warning in open: paper'],
])('tells %s', (_, round, id, told) => {
  const text = ruleTable(listRules(round)).replace(/\n {34}/g, ' ');
  expect(text).toMatch(new RegExp(`^ {2}${id} .*`, 'm'));
  expect(new RegExp(`^ {2}${id} .*`, 'm').exec(text)?.[0]).toContain(` ${told}`);
});

it('shows a rule in the words of its round, 100 columns wide', () => {
  const ofV05 = ruleTable(listRules('v0.5'));
  expect(ofV05).toMatch(/^ {2}duration-short +min_duration is at least 60 s\.$/m);
  const lines = SUBMISSION_ROUNDS.flatMap((round) => ruleTable(listRules(round)).split('\n'));
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
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
