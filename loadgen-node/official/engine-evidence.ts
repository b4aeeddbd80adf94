import { join } from 'node:path';
import type { DriverEnd } from '../loadgen/engine/issue/issue-driver.ts';
import { RUN_FILES } from '../loadgen/logs/read/run-folder.ts';
import type { CppEngine } from '../observe/network-audit.ts';
import { doubtsAbout } from './doubts.ts';
import { sha1sOfList, sourceDigest } from './known-loadgens.ts';
import { type LinkedLoadgen, sha256Of } from './link.ts';

/**
 * Evidence on the C++ LoadGen that issued the queries of a run. @param end Null if its test did not
 * end.
 */
export function engineEvidence(
  linked: LinkedLoadgen,
  output: string,
  end: DriverEnd | null,
): CppEngine {
  const { build, commit, tree, tag, librarySha256, addonSha256 } = linked.manifest;
  return {
    kind: 'cpp-loadgen',
    version: build.version,
    commit,
    tree,
    tag,
    librarySha256,
    addonSha256,
    sourcesSha256: sourceDigest(sha1sOfList(build.sha1OfFiles)),
    detailLogSha256: end === null ? null : digestOf(join(output, RUN_FILES.detail)),
    otherSamples: end?.otherSamples ?? null,
    doubts: [
      ...doubtsAbout(linked),
      ...(end?.otherSettings ? [end.otherSettings.text] : []),
      ...(end?.differences ?? []),
    ],
  };
}

function digestOf(path: string): string | null {
  try {
    return sha256Of(path);
  } catch {
    return null; // The disk failed: the verdict reports it.
  }
}
