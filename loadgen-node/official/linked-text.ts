import type { LinkedLoadgen } from './link.ts';
import { roundOfVersion } from './official-test.ts';

/** A linked LoadGen for people. @param doubts What makes it doubtful that its library is that of its commit. */
export function linkedText(
  { manifest, addonPath }: LinkedLoadgen,
  doubts: readonly string[],
): string {
  const { build, tag, commit, tree, librarySha256, addonSha256 } = manifest;
  const ofTag = tag === null ? 'no tag that longhaul knows' : `tag ${tag}`;
  const rows = [
    ['LoadGen', `${build.version}, ${ofTag}, round ${roundOfVersion(build.version)}`],
    ['commit', commit ?? 'not known'],
    ['tree', tree ?? 'not known'],
    ['library', `SHA-256 ${librarySha256}, built ${build.buildDate} UTC`],
    ['bridge', `SHA-256 ${addonSha256}, ${build.compiler}, ${build.library}`],
    ['file', addonPath],
  ] as const;
  const end =
    doubts.length === 0
      ? [
          'unchanged: by its own list, which cmake made when it configured, the library has the files of this commit',
        ]
      : doubts.map((doubt) => `warning: ${doubt}`);
  return [...rows.map(([label, text]) => `${label.padEnd(9)}${text}`), ...end, ''].join('\n');
}
