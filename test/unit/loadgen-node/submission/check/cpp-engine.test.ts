import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDetailLog } from '../../../../../loadgen-node/loadgen/logs/read/detail-log.ts';
import type { CppEngine, NetworkAudit } from '../../../../../loadgen-node/observe/network-audit.ts';
import { sourceDigest } from '../../../../../loadgen-node/official/known-loadgens.ts';
import { runLog } from '../../../../../loadgen-node/submission/check/read/run-log.ts';
import { proofOfEngine } from '../../../../../loadgen-node/submission/check/result/cpp-engine.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { repositoryFile } from '../../../../scenes/host/repository.ts';

const COMMIT = '379ee5345a25ee123fd5faec33285b6e8be0dadf';
const FILES = JSON.parse(
  readFileSync(repositoryFile('test/golden/loadgen-v4.1/file-sha1.json'), 'utf8'),
) as Record<string, string>;

function recordOf(key: string, value: unknown): string {
  return `:::MLLOG ${JSON.stringify({ key, value, metadata: { is_error: false } })}\n`;
}

interface Case {
  readonly version?: string;
  readonly files?: Record<string, string>;
  readonly engine?: Partial<CppEngine>;
  /** Appended after LoadGen had written its log. */
  readonly later?: string;
}

async function proofIn({ version = '4.1 @ 379ee5345a', files = FILES, engine, later = '' }: Case) {
  const path = join(tempFolder(), 'mlperf_log_detail.txt');
  const text = recordOf('loadgen_version', version) + recordOf('loadgen_file_sha1', files);
  writeFileSync(path, text + later);
  const evidence: CppEngine = {
    ...({ kind: 'cpp-loadgen', version: '4.1', commit: COMMIT, tree: 'ab', tag: 'v4.1' } as const),
    sourcesSha256: sourceDigest(files),
    ...{ librarySha256: 'ab', addonSha256: 'ab', otherSamples: 0, doubts: [] },
    detailLogSha256: createHash('sha256').update(text).digest('hex'),
    ...engine,
  };
  const audit = { run: { engine: evidence } } as unknown as NetworkAudit;
  return proofOfEngine(audit, runLog('log', await readDetailLog(path)), path);
}

// Goal: the C++ LoadGen counts as that of a tag only where its own log says so, unchanged, and the
// evidence agrees. Method: LoadGen v4.1's list of its files, as its log has it, whole and changed.
describe('the LoadGen that a tree proves', () => {
  it('is that of a tag', async () => {
    expect(await proofIn({})).toEqual({ kind: 'tag', tag: 'v4.1' });
    // A build leaves its library and its header beside the sources.
    const built = { ...FILES, '/libmlperf_loadgen.a': 'ab', '/mlperf_conf.h': 'cd' };
    expect(await proofIn({ files: built })).toMatchObject({ kind: 'tag' });
  });

  it('is unknown where a source differs, or is missing, or the evidence has a doubt', async () => {
    const changed = { ...FILES, '/loadgen.cc': 'ab'.repeat(20) };
    expect(await proofIn({ files: changed })).toMatchObject({ kind: 'unknown-sources' });
    const { '/results.cc': _, ...fewer } = FILES;
    expect(await proofIn({ files: fewer })).toMatchObject({ kind: 'unknown-sources' });
    const doubts = ['The checkout has changed files: M loadgen/loadgen.cc.'];
    expect(await proofIn({ engine: { doubts } })).toEqual({
      kind: 'unknown-sources',
      text: doubts[0],
    });
    expect(await proofIn({ engine: { tag: null } })).toMatchObject({ kind: 'unknown-sources' });
    // A tag by the user's list is a doubt, which stands behind.
    const listed = ["By the user's list tags.json it has the sources of v7.0."];
    expect(await proofIn({ engine: { tag: null, doubts: listed } })).toEqual({
      kind: 'unknown-sources',
      text: `LoadGen 4.1 @ 379ee5345a lists sources of no tag that longhaul knows. ${listed[0]}`,
    });
  });

  it('is contradicted by the digest of other sources', async () => {
    const sourcesSha256 = '46f4269a773c43b2a61c1e5f23343e36626c289c873f685dfba01f2b8f6f0eed';
    expect(await proofIn({ engine: { sourcesSha256 } })).toMatchObject({ kind: 'tag' });
    expect(await proofIn({ engine: { sourcesSha256: 'ab' } })).toMatchObject({
      kind: 'contradiction',
    });
  });

  it('is contradicted by another version, another commit, and a log that was changed', async () => {
    expect(await proofIn({ version: '5.1 @ 379ee5345a' })).toMatchObject({ kind: 'contradiction' });
    expect(await proofIn({ version: '4.1 @ 6776245e99' })).toMatchObject({ kind: 'contradiction' });
    expect(await proofIn({ version: '4.1' })).toMatchObject({ kind: 'contradiction' });
    expect(await proofIn({ later: recordOf('result_validity', 'VALID') })).toMatchObject({
      kind: 'contradiction',
      text: 'The log is not the one that LoadGen wrote: its SHA-256 is another.',
    });
    expect(await proofIn({ engine: { detailLogSha256: null } })).toMatchObject({
      kind: 'contradiction',
    });
  });
});
