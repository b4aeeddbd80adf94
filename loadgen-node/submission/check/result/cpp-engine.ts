import type { NetworkAudit } from '../../../observe/network-audit.ts';
import { sourceDigest, tagOfFiles } from '../../../official/known-loadgens.ts';
import { sha256Of } from '../../../official/link.ts';
import type { RunLog } from '../read/run-log.ts';

/** Proof in a tree of the LoadGen that issued a run's queries. */
export type EngineProof =
  /** Evidence and log agree, and the sources are those of a tag. */
  | { readonly kind: 'tag'; readonly tag: string }
  /** Evidence and log agree, but no known tag has these sources. */
  | { readonly kind: 'unknown-sources'; readonly text: string }
  /** Evidence and log contradict each other. */
  | { readonly kind: 'contradiction'; readonly text: string };

/**
 * Compares the evidence of a C++ LoadGen with its log, whose digest is in the evidence. The log
 * lists the SHA-1 of each source at cmake's configuration: a file changed between that and
 * compilation is not detected.
 * @param path Path of the detail log.
 * @returns Undefined if longhaul's own engine issued the queries.
 */
export function proofOfEngine(
  { run: { engine } }: NetworkAudit,
  log: RunLog,
  path: string,
): EngineProof | undefined {
  if (engine === undefined) return undefined;
  const contradiction = (text: string): EngineProof => ({ kind: 'contradiction', text });
  const version = String(log.value('loadgen_version') ?? '');
  const [logged = '', hash = ''] = version.split(' @ ');
  if (logged !== engine.version || !(engine.commit ?? 'NA').startsWith(hash) || hash === '') {
    return contradiction(
      `The evidence names LoadGen ${engine.version} at ${engine.commit ?? 'no commit'}, the log ${version}.`,
    );
  }
  if (sha256Of(path) !== engine.detailLogSha256) {
    return contradiction('The log is not the one that LoadGen wrote: its SHA-256 is another.');
  }
  const sha1s = sha1sOf(log);
  const sources = sha1s && sourceDigest(sha1s);
  if (engine.sourcesSha256 !== sources) {
    return contradiction('The evidence names other sources of LoadGen than the log.');
  }
  const tag = sha1s && tagOfFiles(sha1s);
  if (tag === undefined || tag !== engine.tag) {
    const text = `LoadGen ${version} lists sources of no tag that longhaul knows.`;
    return { kind: 'unknown-sources', text: [text, ...engine.doubts].join(' ') };
  }
  const [doubt] = engine.doubts;
  return doubt === undefined ? { kind: 'tag', tag } : { kind: 'unknown-sources', text: doubt };
}

/** SHA-1 by file path; undefined if the log has no list. */
function sha1sOf(log: RunLog): Readonly<Record<string, unknown>> | undefined {
  const files = log.value('loadgen_file_sha1');
  return typeof files === 'object' && files !== null
    ? (files as Readonly<Record<string, unknown>>)
    : undefined;
}
