import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const DOCS = new URL('../../../docs/', import.meta.url);

function textOf(path: string): string {
  return readFileSync(new URL(path, DOCS), 'utf8');
}

const FILES = readdirSync(new URL('examples/', DOCS)).filter((name) => /\.(mjs|sh)$/.test(name));

it.each(FILES)('shows docs/examples/%s as it is', (name) => {
  const [page, fence] = name.endsWith('.sh') ? ['compare.md', 'sh'] : ['api.md', 'js'];
  expect(textOf(page)).toContain(`\`\`\`${fence}\n${textOf(`examples/${name}`)}\`\`\`\n`);
});
