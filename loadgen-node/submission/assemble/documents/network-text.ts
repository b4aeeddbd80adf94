import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion, protoFolder } from '../../../../shared/base/files/package-files.ts';
import { document } from './markdown.ts';

/** What follows is about files that are not in a tree. */
const DEVELOPERS = '\n## For developers';

/**
 * network.md: what is marshalled and sent for each query, and where the QDL's source stands in the tree.
 * Source: inference_rules v4.1, "QDL implementation" (source above the session layer, session layer API).
 * @param sources Folder of longhaul's sources, relative to network.md.
 */
export function networkText(sources: string): string {
  const [story = ''] = readFileSync(join(protoFolder(), 'README.md'), 'utf8').split(DEVELOPERS);
  return document(
    '# How LoadGen node and SUT nodes talk',
    `The Query Dispatch Library (QDL) is that of longhaul ${packageVersion()}. Its source lies in ` +
      `[${sources}/qdl](${sources}/qdl), from LoadGen's calls (\`query-dispatch-library\`) down to gRPC, which is the ` +
      `session layer; what it shares with a SUT node in [${sources}/shared](${sources}/shared). The session layer's ` +
      `API is the gRPC service of [${sources}/proto/mlperf/network/v1/sut.proto](${sources}/proto/mlperf/network/v1/sut.proto): ` +
      'every message and field is explained there. What follows tells the same as a story.',
    // One level down, so that this document has one title.
    story.replace(/^#/gm, '##'),
  );
}
