import { join } from 'node:path';
import { findLoadgen } from './checkout.ts';
import { otherFiles, UNTAGGED } from './known-loadgens.ts';
import { type LinkedLoadgen, type LinkManifest, sha256Of } from './link.ts';

/**
 * Reasons to doubt that the linked library was built from its checkout's commit, as whole
 * sentences; empty without doubts. The library contains the commit and the SHA-1 of each file at
 * cmake's configuration. Its own list of changed files depends on the folder of that configuration,
 * and covers the whole repository: LoadGen counts it as an error in each run.
 */
export function doubtsAbout({ manifest }: LinkedLoadgen): string[] {
  const { build, commit, changes, inferenceDir, tag } = manifest;
  const doubts = changes.map((line) => `The checkout has changed files: ${line.trim()}.`);
  if (commit === null) doubts.push(`git does not know ${inferenceDir}: its version is unknown.`);
  else if (!commit.startsWith(build.gitRevision)) {
    doubts.push(
      `The library was built from commit ${build.gitRevision}, the checkout is at ${commit.slice(0, 10)}.`,
    );
  }
  const [dirty, ...more] = build.gitStatus.split('\n').map((line) => line.trim());
  if (dirty !== undefined && !['', 'NA'].includes(dirty)) {
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    doubts.push(
      `When cmake configured, git saw changed files (${dirty}${others}): LoadGen logs error_uncommitted_loadgen_changes in every run, ` +
        `which TEST01 and the submission refuse. Make the checkout clean ("git -C ${inferenceDir} status --untracked-files=no" names no file), ` +
        'then configure it from a folder outside it, in a new build folder, and build and link again.',
    );
  }
  if (commit !== null && tag === null) {
    const version = UNTAGGED[manifest.tree ?? ''];
    doubts.push(
      version === undefined
        ? `Commit ${commit.slice(0, 10)} has the loadgen of no tag that longhaul knows${listedInWords(manifest)}.`
        : `Commit ${commit.slice(0, 10)} has LoadGen ${version} as the branch had it: it is of no tag, and of no approved revision${listedInWords(manifest)}.`,
    );
  }
  for (const path of otherFiles(build.sha1OfFiles, join(inferenceDir, 'loadgen'))) {
    doubts.push(
      `The library lists another loadgen${path} than lies in the checkout: one was changed after cmake had configured.`,
    );
  }
  return doubts;
}

/** Text on the tag from the user's list; empty without one. */
function listedInWords({ listed }: LinkManifest): string {
  if (listed === undefined) return '';
  return `; by the user's list ${listed.file} (SHA-256 ${listed.sha256}) it has the sources of ${listed.tag}, which longhaul cannot check`;
}

/**
 * {@link doubtsAbout}, with the checkout and the library in it as they are now.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the checkout no longer exists
 */
export function doubtsNow(linked: LinkedLoadgen): string[] {
  const { manifest } = linked;
  const { commit = null, changes, library } = findLoadgen(manifest.inferenceDir);
  const now = { ...manifest, commit, changes: [...changes] };
  const isSame = sha256Of(library) === manifest.librarySha256;
  const ofLibrary = isSame ? [] : [`${library} is not the library that was linked.`];
  return [...ofLibrary, ...doubtsAbout({ ...linked, manifest: now })];
}
