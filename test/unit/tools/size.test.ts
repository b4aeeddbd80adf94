import { describe, expect, it } from 'vitest';
import { writeTree } from '../../scenes/host/folders.ts';
import { foldersText, measureSize, sizeText } from '../../tools/size-table.ts';

// Goal: every file counts in the room where a reader looks for it, and totals are the sums.
// Method: a small project without git, whose tree is walked.

const FILES = {
  'shared/base/a.ts': 'a;\n// b\n',
  'shared/base/deep/b.mjs': 'a;\n\nb;\n',
  'shared/base/c.json': '{}\n',
  'proto/gen/a.ts': 'a;\n',
  'loadgen-node/main.ts': 'a;\n',
  'loadgen-node/present/live/page/index.html': '<p>\n<!-- a -->\n',
  'loadgen-node/present/live/page/style.css': 'a {\n}\n',
  'loadgen-node/present/README.md': 'three words here\n',
  'test/unit/a.test.ts': 'a;\n',
  'test/tools/house.ts': 'a;\n',
  'deploy/kubernetes/a.yaml': '# a\nb: 1\n',
  'deploy/try.sh': '#!/bin/sh\n',
  'docs/a.md': '# Two words\n',
  'README.md': 'One\n',
  'vitest.config.ts': 'a;\n',
  'node_modules/a/b.ts': 'a;\n',
  'dist/a.js': 'a;\n',
};

describe('measureSize', () => {
  it('sorts files into groups and rooms', () => {
    const { rows } = measureSize(writeTree(FILES));
    expect(
      rows.map((row) => [row.group, row.room, row.files, row.code, row.comments, row.words]),
    ).toEqual([
      ['shared', 'base', 2, 3, 1, 0],
      ['loadgen-node', '(root)', 1, 1, 0, 0],
      ['loadgen-node', 'live page: html, css', 2, 3, 1, 0],
      ['test', 'unit', 1, 1, 0, 0],
      ['tools', '(top folder)', 1, 1, 0, 0],
      ['tools', 'test/tools', 1, 1, 0, 0],
      ['deploy', '(root)', 1, 1, 0, 0],
      ['deploy', 'kubernetes', 1, 1, 1, 0],
      ['docs', '(beside code)', 1, 0, 0, 3],
      ['docs', '(root)', 1, 0, 0, 3],
      ['docs', '(top folder)', 1, 0, 0, 1],
    ]);
  });

  it('adds up groups, the product and everything', () => {
    const { totals } = measureSize(writeTree(FILES));
    expect(totals.map(({ group, files, code }) => [group, files, code])).toEqual([
      ['shared', 2, 3],
      ['loadgen-node', 3, 4],
      ['test', 1, 1],
      ['tools', 2, 2],
      ['deploy', 2, 2],
      ['docs', 3, 0],
      ['product', 5, 7],
      ['all', 13, 12],
    ]);
  });
});

describe('sizeText', () => {
  it('sets rooms below the total of their group, in columns', () => {
    const files = { 'qdl/oip/a.ts': 'a;\n'.repeat(1200), 'qdl/index.ts': '// a\nb;\n' };
    expect(sizeText(measureSize(writeTree(files)))).toBe(
      [
        'folder    files   code  comments  words',
        'qdl           2  1,201         1      0',
        '  (root)      1      1         1      0',
        '  oip         1  1,200         0      0',
        'product       2  1,201         1      0',
        'all           2  1,201         1      0',
        '',
      ].join('\n'),
    );
  });
});

describe('foldersText', () => {
  it('counts folders and files that are named, with all below them', () => {
    expect(foldersText(writeTree(FILES), ['shared/base', 'loadgen-node/', 'README.md'])).toBe(
      [
        'folder         files  code  comments  words',
        'shared/base        2     3         1      0',
        'loadgen-node/      4     4         1      3',
        'README.md          1     0         0      1',
        'together           7     7         2      4',
        '',
      ].join('\n'),
    );
  });
});
