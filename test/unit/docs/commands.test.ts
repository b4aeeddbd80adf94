import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERB_NAMES } from '../../../loadgen-node/cli/verbs.ts';
import {
  PAGES,
  proseOf,
  repositoryFile,
  repositoryText,
  unknownFlags,
} from '../../scenes/host/repository.ts';

// Goal: what a page tells to type is a command of this version, and what it links to is there.
// Method: the commands in the code blocks of all pages against the verbs' own flags; links against
// the tree.

/**
 * Words of a command line, up to the end of the command: a pipe, a redirection, a comment, `&&`,
 * `;`.
 */
function wordsOf(line: string): string[] {
  const words = line.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? [];
  const end = words.findIndex((word) => /^(#|\||[0-9]?>|&|;)/.test(word));
  return (end < 0 ? words : words.slice(0, end)).map((word) => word.replace(/[;)]+$/, ''));
}

/** Every `longhaul VERB ...` in the shell blocks of a page. */
function commandsOf(page: string): string[][] {
  const blocks = repositoryText(page).matchAll(/^ *```(?:sh|bash|console)\n([\s\S]*?)^ *```/gm);
  return [...blocks].flatMap(([, block = '']) => {
    const lines = block.replace(/\\\n\s*/g, ' ').split('\n');
    return lines.flatMap((line) => {
      const [, rest] = /(?:^|[\s/])longhaul +([a-z].*)$/.exec(line) ?? [];
      if (rest === undefined || /^\s*#/.test(line)) return [];
      const words = wordsOf(rest);
      return VERB_NAMES.some((verb) => verb === words[0]) ? [words] : [];
    });
  });
}

interface Link {
  readonly file: string;
  readonly anchor: string;
}

/**
 * Links into this tree; the file of one to the same page is empty, and so is the anchor where there
 * is none.
 */
const linksOf = (page: string): Link[] =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => ({
      file: target.replace(/#.*$/, ''),
      anchor: target.replace(/^[^#]*#?/, ''),
    }));

/**
 * Names that GitHub gives to the headings of a page; the second of the same name ends in -1, and so
 * on.
 */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = [...proseOf(page).matchAll(/^#{1,6} +(.*?) *#*$/gm)].map(([, heading = '']) => {
    const name = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return before === 0 ? name : `${name}-${before}`;
  });
  return new Set(anchors);
}

/** The problem of a link: its file, or the heading it leads to. */
function deadEnd(page: string, { file, anchor }: Link): string | undefined {
  const target = file === '' ? page : join(dirname(page), file);
  if (!existsSync(repositoryFile(target))) return file;
  if (anchor === '' || !target.endsWith('.md')) return;
  return anchorsOf(target).has(anchor) ? undefined : `${file}#${anchor}`;
}

describe.each(PAGES)('%s', (page) => {
  it('tells commands that there are, and links to what is there', async () => {
    for (const words of commandsOf(page)) {
      const unknown = await unknownFlags(words);
      expect({ command: words.join(' '), unknown }).toMatchObject({ unknown: [] });
    }
    const dead = linksOf(page).map((link) => deadEnd(page, link));
    expect(dead.filter((link) => link !== undefined)).toEqual([]);
  });
});

it('gives every run in Offline the rate that sizes its query', () => {
  const runs = PAGES.flatMap(commandsOf).filter(([verb]) => verb === 'run');
  const offline = runs.filter((words) => words.includes('Offline'));
  const isSized = (words: string[]): boolean =>
    words.includes('--target-qps') || words.join(' ').includes('--mode accuracy');
  expect(offline.filter((words) => !isSized(words))).toEqual([]);
  expect(offline.length).toBeGreaterThan(2);
});

it('names headings as GitHub does', () => {
  const page = 'deploy/tuning.md';
  expect(deadEnd(page, { file: '', anchor: 'windows-buffers-connections' })).toBeUndefined();
  expect(deadEnd(page, { file: '', anchor: 'windows' })).toBe('#windows');
  expect(PAGES.flatMap(linksOf).filter(({ anchor }) => anchor !== '').length).toBeGreaterThan(10);
});

it('finds commands to compare with the verbs', () => {
  expect(PAGES.flatMap(commandsOf).length).toBeGreaterThan(50);
});
