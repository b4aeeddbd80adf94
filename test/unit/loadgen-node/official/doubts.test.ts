import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doubtsAbout } from '../../../../loadgen-node/official/doubts.ts';
import { headerOfConf } from '../../../../loadgen-node/official/known-loadgens.ts';
import type { LinkManifest } from '../../../../loadgen-node/official/link.ts';
import { tempFolder, writeTree } from '../../../scenes/host/folders.ts';

const CONF = '# "seeds"\n*.*.qsl_rng_seed = 7\n';
const HEADER = 'const char* mlperf_conf =\n"# \\"seeds\\"\\n"\n"*.*.qsl_rng_seed = 7\\n"\n"";\n';
const COMMIT = '6776245e99dce0600cfc9a6fb61efd310f87de3d';

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/**
 * Doubts about a library that lists the files of a checkout. @param change Of the checkout, after
 * cmake had configured.
 */
function doubts(gitStatus = '', change: Readonly<Record<string, string>> = {}): string[] {
  const inferenceDir = tempFolder();
  const files = { 'loadgen.cc': 'int main;', 'mlperf.conf': CONF, 'mlperf_conf.h': HEADER };
  writeTree(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`loadgen/${name}`, text])),
    inferenceDir,
  );
  const sha1OfFiles = Object.entries(files)
    .map(([name, text]) => `${sha1(text)} /${name}`)
    .join('\n');
  for (const [name, text] of Object.entries(change)) {
    writeFileSync(join(inferenceDir, 'loadgen', name), text);
  }
  const build = {
    ...{ version: '5.1.1', gitRevision: COMMIT.slice(0, 10), gitStatus, buildDate: '2026-11-29' },
    ...{ sha1OfFiles, compiler: '12.2.0', library: 'libstdc++ 12' },
  };
  const manifest: LinkManifest = {
    ...{ inferenceDir, commit: COMMIT, tree: 'ab', tag: 'v5.1.1', changes: [] },
    ...{ hasBuiltInConf: true, librarySha256: 'ab', bridgeSha256: 'cd', addonSha256: 'ef', build },
  };
  return doubtsAbout({ folder: inferenceDir, addonPath: 'bridge.node', manifest });
}

// Goal: `link` doubts a library exactly where it may not be that of its commit, or where LoadGen
// will log an error because of it. Method: a manifest, and a checkout beside it.
describe('doubts about a linked LoadGen', () => {
  it('are none where the library lists the files of the checkout', () => {
    expect(headerOfConf(CONF)).toBe(HEADER);
    expect(doubts()).toEqual([]);
    expect(doubts('NA')).toEqual([]);
  });

  it('are that git saw changed files when cmake configured, wherever they lie', () => {
    const [doubt, ...more] = doubts(' D text_to_image/a.npz\n M README.md');
    expect(doubt).toContain('git saw changed files (D text_to_image/a.npz and 1 more)');
    expect(doubt).toContain('error_uncommitted_loadgen_changes');
    expect(more).toEqual([]);
  });

  it.each([
    ['loadgen.cc', 'int other;'],
    ['mlperf.conf', CONF.replace('7', '8')],
    ['mlperf_conf.h', HEADER.replace('7', '8')],
  ])('are that %s was changed since', (name, text) => {
    expect(doubts('', { [name]: text }).join()).toContain(`another loadgen/${name}`);
  });
});
