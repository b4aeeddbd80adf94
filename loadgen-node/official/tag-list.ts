import { basename } from 'node:path';
import { z } from 'zod';
import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { readJsonFile } from '../../shared/base/files/read-file.ts';
import { GENERATED_HEADER, isSource, sha1sOfList, sourceDigest } from './known-loadgens.ts';
import { type LinkedLoadgen, rewriteManifest, sha256Of } from './link.ts';

/** A user's list of LoadGens, in the form of longhaul's own table of known tags. */
const TAG_LIST = z.strictObject({
  tags: z.array(
    z.strictObject({
      tag: z.string().min(1),
      version: z.string(),
      /**
       * SHA-1 of each source by its path, as LoadGen logs them (loadgen_file_sha1): `/loadgen.cc`.
       */
      files: z.record(z.string(), z.string().regex(/^[0-9a-f]{40}$/)),
    }),
  ),
});

/**
 * Gives a linked LoadGen of unknown tag the tag from a user's list with the same sources. The list
 * is only the user's statement: the manifest records that, and the LoadGen stays in doubt.
 * @throws MlperfError `ERR_CONFIG_INVALID` if longhaul knows its tag, or if the list has no entry
 *   with these sources
 */
export function nameByList(linked: LinkedLoadgen, path: string): LinkedLoadgen {
  const { tag, build } = linked.manifest;
  if (tag !== null) {
    throw configInvalid(
      `--tag-list is for a LoadGen of no tag that longhaul knows; this one is linked, and is of ${tag}`,
    );
  }
  const { tags } = readJsonFile(path, TAG_LIST);
  const own = sha1sOfList(build.sha1OfFiles);
  const found = tags.find(
    ({ version, files }) =>
      version === build.version &&
      sourceDigest(files) === sourceDigest(own) &&
      [undefined, own[GENERATED_HEADER]].includes(files[GENERATED_HEADER]),
  );
  if (found === undefined) {
    const others = tags.map((one) => `${one.tag} ${differenceOf(one, build.version, own)}`);
    throw configInvalid(
      `LoadGen ${build.version} is linked, and stays without a tag: ${path} has none with its sources (${others.join('; ') || 'it is empty'})`,
    );
  }
  const listed = { tag: found.tag, file: basename(path), sha256: sha256Of(path) };
  return rewriteManifest(linked, { listed });
}

/** Differences between a LoadGen and an entry of the list. */
function differenceOf(
  { version, files }: z.infer<typeof TAG_LIST>['tags'][number],
  ownVersion: string,
  own: Readonly<Record<string, string>>,
): string {
  if (version !== ownVersion) return `is version ${version}`;
  const paths = [...new Set([...Object.keys(files), ...Object.keys(own)])].sort();
  const other = paths.find((name) => isSource(name) && files[name] !== own[name]);
  const path = other ?? GENERATED_HEADER;
  // LoadGen has no SHA-1 of files outside the library, such as tests.
  if (own[path] === undefined) return `has ${path}, which the library does not list`;
  return `${files[path] === undefined ? 'lacks' : 'has another'} ${path}`;
}
