/** docs/submit.md lists every rule of the self-check; `npx vitest run -u --project unit rule-list` writes it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { RULE_GROUPS } from '../../../../../../loadgen-node/submission/check/rules/findings.ts';
import type {
  RuleRow,
  RuleTable,
} from '../../../../../../loadgen-node/submission/check/rules/rule.ts';
import { HELD_IN_V05 } from '../../../../../../loadgen-node/submission/check/rules/v05-rules.ts';
import { SUBMISSION_ROUNDS } from '../../../../../../loadgen-node/submission/rules/submission-rounds.ts';

const DOCUMENT = fileURLToPath(new URL('../../../../../../docs/submit.md', import.meta.url));

/** Rounds in words; empty if they are all. */
function inRounds(rounds: readonly string[]): string {
  return rounds.length === SUBMISSION_ROUNDS.length ? '' : ` of ${rounds.join(', ')}`;
}

/** Severity in parentheses; empty for a rule that is an error everywhere. */
function severityText(row: RuleRow): string {
  const { severity = 'error', warningIn = [], warningInOpen = [] } = row;
  const where = [
    ...(warningIn.length > 0 ? [warningIn.join(', ')] : []),
    ...(warningInOpen.length > 0 ? [`open${inRounds(warningInOpen)}`] : []),
  ];
  if (where.length > 0) return ` (warning in ${where.join('; ')})`;
  return severity === 'error' ? '' : ` (${severity})`;
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
