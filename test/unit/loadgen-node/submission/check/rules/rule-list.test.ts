/** docs/submission-check.md lists every rule as the self-check has it; `npx vitest run -u --project unit rule-list` writes it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import {
  RULE_GROUPS,
  textsOf,
} from '../../../../../../loadgen-node/submission/check/rules/findings.ts';
import type { RuleTable } from '../../../../../../loadgen-node/submission/check/rules/rule.ts';

const DOCUMENT = fileURLToPath(
  new URL('../../../../../../docs/submission-check.md', import.meta.url),
);

function groupText([title, table]: readonly [string, RuleTable]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/</g, '&lt;');
  const rows = Object.entries(table).map(([id, row]) => {
    const { warningIn = [], warningInOpen = [] } = row;
    const { severity, rule, source, advice } = textsOf(row);
    const where = [
      ...(warningIn.length > 0 ? [warningIn.join(', ')] : []),
      ...(warningInOpen.length > 0 ? [`open of ${warningInOpen.join(', ')}`] : []),
    ];
    const lax = where.length > 0 ? ` (${where.join('; ')}: warning)` : '';
    return `| \`${id}\` | ${severity}${lax} | ${cell(rule)} | ${cell(source)} | ${cell(advice)} |`;
  });
  const head = '| id | severity | rule | source | what to do |\n|---|---|---|---|---|';
  return `### ${title}\n\n${head}\n${rows.join('\n')}\n`;
}

it('lists every rule with its severity and its source', async () => {
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
