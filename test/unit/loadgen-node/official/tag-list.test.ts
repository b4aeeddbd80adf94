import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { doubtsAbout } from '../../../../loadgen-node/official/doubts.ts';
import {
  type LinkedLoadgen,
  type LinkManifest,
  linkedLoadgens,
  loadgenNameOf,
} from '../../../../loadgen-node/official/link.ts';
import { linkedText } from '../../../../loadgen-node/official/linked-text.ts';
import { nameByList } from '../../../../loadgen-node/official/tag-list.ts';
import { tempFolder, writeTree } from '../../../scenes/host/folders.ts';

const SOURCES = { '/loadgen.cc': 'int main;', '/version.h': 'int v;' };
const FILES = Object.fromEntries(
  Object.entries(SOURCES).map(([path, text]) => [
    path,
    createHash('sha1').update(text).digest('hex'),
  ]),
);

/** The manifest of a LoadGen that is linked in a cache folder. */
function link(manifest: Partial<LinkManifest> = {}): { cache: string; linked: LinkedLoadgen } {
  const [cache, inferenceDir] = [tempFolder(), tempFolder()];
  const checkout = Object.entries(SOURCES).map(([path, text]) => [`loadgen${path}`, text]);
  writeTree(Object.fromEntries(checkout), inferenceDir);
  const sha1OfFiles = Object.entries(FILES).map(([path, sha1]) => `${sha1} ${path}`);
  const all: LinkManifest = {
    ...{ inferenceDir, commit: 'ab'.repeat(20), tree: 'cd', tag: null, changes: [] },
    ...{ hasBuiltInConf: true, librarySha256: 'ab', bridgeSha256: 'cd', addonSha256: 'ef' },
    build: {
      ...{ version: '7.0.1', gitRevision: 'ab'.repeat(5), gitStatus: '', buildDate: '2026-11-29' },
      ...{ sha1OfFiles: sha1OfFiles.join('\n'), compiler: '12.2.0', library: 'libstdc++ 12' },
    },
    ...manifest,
  };
  writeTree({ 'loadgen/unknown/manifest.json': JSON.stringify(all) }, cache);
  const [linked] = linkedLoadgens(cache).loadgens;
  if (linked === undefined) throw new Error('none is linked');
  return { cache, linked };
}

function listOf(...tags: readonly object[]): string {
  const path = join(tempFolder(), 'tags.json');
  writeFileSync(path, JSON.stringify({ tags }));
  return path;
}

const V7 = { tag: 'v7.0', version: '7.0.1', files: FILES };

// Goal: a user's list names a LoadGen, and nothing that is said of it hides whose word that is.
// Method: a manifest as `link` leaves it.
it('names a LoadGen by the list that has its sources, and keeps the doubt', () => {
  const { cache, linked } = link();
  expect(loadgenNameOf(linked)).toBe('7.0.1');
  const path = listOf({ ...V7, tag: 'v6.9', version: '6.9' }, V7);
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  const named = nameByList(linked, path);
  const [kept] = linkedLoadgens(cache).loadgens;
  expect(kept?.manifest).toEqual(named.manifest);
  expect(named.manifest).toMatchObject({
    tag: null,
    listed: { tag: 'v7.0', file: 'tags.json', sha256 },
  });
  expect(loadgenNameOf(named)).toBe('v7.0');
  const doubts = doubtsAbout(named);
  expect(doubts).toEqual([
    `Commit ababababab has the loadgen of no tag that longhaul knows; by the user's list tags.json (SHA-256 ${sha256}) it has the sources of v7.0, which longhaul cannot check.`,
  ]);
  expect(linkedText(named, doubts)).toContain(
    "no tag that longhaul knows (v7.0 by the user's list tags.json)",
  );
});

it.each<[string, object, RegExp]>([
  [
    'another source',
    { files: { ...FILES, '/version.h': 'ab'.repeat(20) } },
    /v7\.0 has another \/version\.h/,
  ],
  ['a source less', { files: { '/loadgen.cc': FILES['/loadgen.cc'] } }, /v7\.0 lacks \/version\.h/],
  [
    'a file that is no part of the library',
    { files: { ...FILES, '/tests/basic.cc': 'ab'.repeat(20) } },
    /v7\.0 has \/tests\/basic\.cc, which the library does not list/,
  ],
  [
    'another header of cmake',
    { files: { ...FILES, '/mlperf_conf.h': 'ab'.repeat(20) } },
    /v7\.0 has \/mlperf_conf\.h, which the library does not list/,
  ],
  ['another version', { version: '7.0.2' }, /v7\.0 is version 7\.0\.2/],
  ['no SHA-1', { files: { '/loadgen.cc': 'ab' } }, /tags\.json: tags\[0\]\.files/],
])('names none by a list with %s', (_, change, message) => {
  const { cache, linked } = link();
  expect(() => nameByList(linked, listOf({ ...V7, ...change }))).toThrow(message);
  expect(linkedLoadgens(cache).loadgens[0]?.manifest.listed).toBeUndefined();
});

it('names none whose tag longhaul knows', () => {
  const { linked } = link({ tag: 'v5.1.1' });
  expect(() => nameByList(linked, listOf(V7))).toThrow(/this one is linked, and is of v5\.1\.1/);
});
