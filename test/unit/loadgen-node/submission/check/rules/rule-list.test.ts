/** docs/submit.md lists every rule of the self-check; `npx vitest run -u --project unit rule-list` writes it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import {
  RULE_GROUPS,
  textsOf,
} from '../../../../../../loadgen-node/submission/check/rules/findings.ts';
import type { RuleTable } from '../../../../../../loadgen-node/submission/check/rules/rule.ts';
import { SUBMISSION_ROUNDS } from '../../../../../../loadgen-node/submission/rules/submission-rounds.ts';

const DOCUMENT = fileURLToPath(new URL('../../../../../../docs/submit.md', import.meta.url));

/** Rounds in words; empty if they are all. */
function inRounds(rounds: readonly string[]): string {
  return rounds.length === SUBMISSION_ROUNDS.length ? '' : ` of ${rounds.join(', ')}`;
}

function groupText([title, table]: readonly [string, RuleTable]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/</g, '&lt;');
  const rows = Object.entries(table).map(([id, row]) => {
    const { warningIn = [], warningInOpen = [] } = row;
    const { severity, rule } = textsOf(row);
    const where = [
      ...(warningIn.length > 0 ? [warningIn.join(', ')] : []),
      ...(warningInOpen.length > 0 ? [`open${inRounds(warningInOpen)}`] : []),
    ];
    const lax = where.length > 0 ? ` (${where.join('; ')}: warning)` : '';
    return `| \`${id}\` | ${severity}${lax} | ${cell(rule)} |`;
  });
  const head = '| id | severity | rule |\n|---|---|---|';
  return `### ${title}\n\n${head}\n${rows.join('\n')}\n`;
}

it('lists every rule with its severity', async () => {
  const before = readFileSync(DOCUMENT, 'utf8');
  const table = `\n${Object.entries(RULE_GROUPS).map(groupText).join('\n')}\n`;
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
