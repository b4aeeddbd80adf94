import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const DOCS = new URL('../../../docs/', import.meta.url);

function textOf(path: string): string {
  return readFileSync(new URL(path, DOCS), 'utf8');
}

/** Files that are shown from a line on; undefined: they are linked alone. */
const IN_PART: Readonly<Record<string, string | undefined>> = {
  'lines-protocol.mjs': 'addProtocol({\n',
  'lines-server.mjs': undefined,
};

const ALL = readdirSync(new URL('examples/', DOCS)).filter((name) => /\.(mjs|sh)$/.test(name));
const FILES = ALL.filter((name) => !(name in IN_PART));

it.each(FILES)('shows docs/examples/%s as it is', (name) => {
  const [page, fence] = name.endsWith('.sh') ? ['compare.md', 'sh'] : ['api.md', 'js'];
  expect(textOf(page)).toContain(`\`\`\`${fence}\n${textOf(`examples/${name}`)}\`\`\`\n`);
});

it.each(Object.entries(IN_PART))(
  'links docs/examples/%s, and shows a part as it is',
  (name, from) => {
    const page = textOf('api.md');
    expect(page).toContain(`](examples/${name})`);
    const text = textOf(`examples/${name}`);
    if (from !== undefined)
      expect(page).toContain(`\`\`\`js\n${text.slice(text.indexOf(from))}\`\`\`\n`);
  },
);
