import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const DOCS = new URL('../../../docs/', import.meta.url);

function textOf(path: string): string {
  return readFileSync(new URL(path, DOCS), 'utf8');
}

/** Long files, which the page links and does not show. */
const LINKED = ['lines-protocol.mjs', 'lines-server.mjs', 'own-sut.mjs', 'rates.mjs'];

const ALL = readdirSync(new URL('examples/', DOCS)).filter((name) => /\.(mjs|sh)$/.test(name));

it.each(ALL.filter((name) => !LINKED.includes(name)))('shows docs/examples/%s as it is', (name) => {
  const [page, fence] = name.endsWith('.sh') ? ['compare.md', 'sh'] : ['api.md', 'js'];
  expect(textOf(page)).toContain(`\`\`\`${fence}\n${textOf(`examples/${name}`)}\`\`\`\n`);
});

it.each(LINKED)('links docs/examples/%s', (name) => {
  expect(ALL).toContain(name);
  expect(textOf('api.md')).toContain(`](examples/${name})`);
});
