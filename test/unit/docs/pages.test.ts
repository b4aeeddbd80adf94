import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES, proseOf, repositoryFile, repositoryText } from '../../scenes/host/repository.ts';

// Goal: no page says a thing twice, as a merge that took both sides leaves it; each file that a
// page names, and each page that a source names, is there; table cells are short. Links:
// commands.test.ts. Method: headings, lists, paths and tables of all pages; names of pages in all
// sources.

/** Beginning of a list item that no second item of its list has. */
const ITEM_START = 40;

/** Extensions of files that pages name. */
const FILE = /^[\w.-]+(?:\/[\w.-]+)+\.(?:ts|mts|mjs|js|md|proto|sh|json|ya?ml|py|service)$/;

/** Words of a table cell: what is longer is a paragraph. */
const CELL_WORDS_MAX = 60;

/** Tests that invent pages. */
const WITH_INVENTED_PAGES = ['test/unit/docs/pages.test.ts', 'test/unit/tools/size.test.ts'];

const SOURCE_FOLDERS = ['loadgen-node', 'sut-node', 'qdl', 'shared', 'proto', 'deploy', 'test'];

function repeated(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text, i) => texts.indexOf(text) !== i))];
}

function headingsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^(#{1,6} +.*?) *#*$/gm)].map(([, heading = '']) => heading);
}

/**
 * Items of each list, numbered ones with their number: a list ends where a line stands at the
 * margin.
 */
function listsOf(page: string): string[][] {
  const lists: string[][] = [];
  let open = new Map<string, string[]>();
  for (const line of proseOf(page).split('\n')) {
    const item = /^ *(?:\*|-|\d+\.) +/.exec(line)?.[0];
    if (item === undefined) {
      if (/^\S/.test(line)) open = new Map();
      continue;
    }
    const kind = item.replace(/\d+/, '1');
    const list = open.get(kind) ?? [];
    if (list.length === 0) lists.push(list);
    list.push(/\d/.test(item) ? line.trim() : line.slice(item.length));
    open.set(kind, list);
  }
  return lists;
}

/** Numbers of a numbered list that do not count up by one. */
function misnumbered(list: readonly string[]): string[] {
  const numbers = list.map((item) => Number(/^(\d+)\. /.exec(item)?.[1]));
  return list.filter((_, i) => i > 0 && numbers[i] !== (numbers[i - 1] as number) + 1);
}

/**
 * Files in backticks that are nowhere. A first folder that is not there is another project's, or
 * made by a command; `./` is where a command runs.
 */
function deadPaths(page: string): string[] {
  const bases = [dirname(page), '.'].map((base) => repositoryFile(base));
  const named = [...withoutSources(proseOf(page)).matchAll(/`([^`\s]+)`/g)]
    .map(([, text = '']) => text)
    .filter((text) => FILE.test(text));
  return named.filter((path) => {
    const [first = ''] = path.split('/');
    // Runs leave their folders in results/.
    const isOurs =
      !['.', 'results'].includes(first) && bases.some((base) => existsSync(join(base, first)));
    return isOurs && !bases.some((base) => existsSync(join(base, path)));
  });
}

/** Without the last cells of tables whose last column is the source in another project. */
function withoutSources(prose: string): string {
  return prose.replace(/^\|.*\| source \|\n(?:\|.*\n)+/gm, (table) =>
    table.replace(/\|[^|\n]*\|$/gm, '|'),
  );
}

/** Cells of a page's tables with more words than a reader takes in at once. */
function longCells(prose: string): string[] {
  const cells = [...prose.matchAll(/^ *\|(.*)\| *$/gm)].flatMap(([, row = '']) =>
    row.split(/(?<!\\)\|/),
  );
  return cells.filter((cell) => cell.trim().split(/\s+/).length > CELL_WORDS_MAX);
}

/** Files of docs/ that a source names and that are not there. */
function deadPagesIn(text: string): string[] {
  const named = [...text.matchAll(/(?<![\w./-])docs\/[\w-]+\.(?:md|sh|json)\b/g)].map(
    ([path]) => path,
  );
  return named.filter((path) => !existsSync(repositoryFile(path)));
}

describe.each(PAGES)('%s', (page) => {
  it('has no heading twice', () => {
    expect(repeated(headingsOf(page))).toEqual([]);
  });

  it('has no item of a list twice, and counts numbered ones up', () => {
    const lists = listsOf(page);
    const starts = lists.map((list) =>
      list
        .filter((text) => text.length >= ITEM_START)
        .map((text) => text.replace(/^\d+\. /, '').slice(0, ITEM_START)),
    );
    expect(starts.flatMap(repeated)).toEqual([]);
    const numbered = lists.filter((list) => /^\d+\. /.test(list[0] ?? ''));
    expect(numbered.flatMap(misnumbered)).toEqual([]);
  });

  it('names files that are there', () => {
    expect(deadPaths(page)).toEqual([]);
  });
});

it.each(PAGES)('%s has no paragraph in a table cell', (page) => {
  expect(longCells(proseOf(page))).toEqual([]);
});

it.each(SOURCE_FOLDERS)('sources of %s name pages that are there', (folder) => {
  const sources = readdirSync(repositoryFile(folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|mjs|js|sh|ya?ml|service|html)$/.test(file))
    .map((file) => join(folder, file))
    .filter((file) => !WITH_INVENTED_PAGES.includes(file));
  const dead = sources.flatMap((file) =>
    deadPagesIn(repositoryText(file)).map((path) => `${file}: ${path}`),
  );
  expect(dead).toEqual([]);
});

it('finds long cells, and pages that sources name', () => {
  const words = Array.from({ length: CELL_WORDS_MAX }, () => 'word').join(' ');
  expect(longCells(`| a | ${words} |\n`)).toEqual([]);
  expect(longCells(`| a \\| b | ${words} more |\n`)).toHaveLength(1);
  const missing = 'docs/gone.md';
  expect(deadPagesIn(`see ${missing}, docs/submit.md, src/${missing}`)).toEqual([missing]);
});

it('finds headings, items and paths to look at', () => {
  expect(PAGES.flatMap(headingsOf).length).toBeGreaterThan(200);
  expect(PAGES.flatMap(listsOf).length).toBeGreaterThan(50);
  expect(misnumbered(['1. a', '1. b', '2. c'])).toEqual(['1. b']);
  expect(withoutSources('| a | source |\n|---|---|\n| `x` | `docs/none.md` |\n')).toContain(
    '`x` |\n',
  );
});
