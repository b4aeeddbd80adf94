import { isOfThisBridge, type LinkedLoadgen, loadgenNameOf } from './link.ts';
import { roundOfVersion } from './official-test.ts';

/**
 * A linked LoadGen as text.
 * @param first Name of the default for --engine cpp; undefined: not mentioned.
 * @param doubts Reasons to doubt that its library belongs to its commit.
 */
export function linkedText(
  linked: LinkedLoadgen,
  doubts: readonly string[],
  first?: string,
): string {
  const name = loadgenNameOf(linked);
  const { manifest, addonPath } = linked;
  const { build, tag, listed, commit, tree, librarySha256, addonSha256 } = manifest;
  const byList = listed === undefined ? '' : ` (${listed.tag} by the user's list ${listed.file})`;
  const ofTag = tag === null ? `no tag that longhaul knows${byList}` : `tag ${tag}`;
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
  if (first !== undefined) {
    const all = first === name ? '' : ` (--engine cpp is ${first})`;
    end.push(`use it by --engine ${first === name ? 'cpp' : `cpp:${name}`}${all}`);
  }
  return [...rows.map(([label, text]) => `${label.padEnd(9)}${text}`), ...end, ''].join('\n');
}

/** The linked LoadGens as text, the default for --engine cpp first. */
export function listText(all: readonly LinkedLoadgen[]): string {
  if (all.length === 0)
    return 'no C++ LoadGen is linked: longhaul loadgen link --inference-dir DIR\n';
  const rows = all.map((linked, i) => {
    const { tag, build, commit, inferenceDir } = linked.manifest;
    const engine = `--engine cpp:${loadgenNameOf(linked)}${i === 0 ? ', and --engine cpp' : ''}`;
    const what = `LoadGen ${build.version}, ${tag === null ? 'no known tag' : `tag ${tag}`}, round ${roundOfVersion(build.version)}`;
    const stale = isOfThisBridge(linked)
      ? ''
      : ' (linked by another version of longhaul: link it again)';
    return `${engine.padEnd(39)}${what}, commit ${commit?.slice(0, 10) ?? 'not known'}, ${inferenceDir}${stale}\n`;
  });
  return rows.join('');
}
