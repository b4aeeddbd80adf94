import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildProgress, ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { encodeModel } from '../../model/onnx/graph-builder.ts';
import { standinModel } from './standin-graph.ts';

/** Name of the stand-in in its file's name, in logs and on the wire, unlike any model of MLPerf. */
export const STANDIN_NAME = 'retinanet-standin-fp32';

/** Share of the real model's operations where none is asked for. */
const COST_DEFAULT = 0.01;

/** Raise with every change of the graph: no model of the old way is found in the cache then. */
const GRAPH_REVISION = 2;

/**
 * Finds the stand-in in the cache, checked against its checksum, or makes it: in a second, or in three at full cost.
 * @param cost Operations as a share of the real model's; undefined: {@link COST_DEFAULT}.
 * @returns Path of its file.
 * @throws MlperfError `ERR_CACHE`
 */
export async function ensureStandin({
  cost = COST_DEFAULT,
  cacheFolder,
  onProgress,
}: {
  readonly cost?: number | undefined;
  readonly cacheFolder: string;
  readonly onProgress: BuildProgress;
}): Promise<string> {
  const file = `${STANDIN_NAME}.onnx`;
  const folder = await ensureArtifact({
    cacheFolder,
    name: 'retinanet-standin-model',
    recipe: { cost, graphRevision: GRAPH_REVISION },
    build: async (building, onBuildProgress) => {
      onBuildProgress(0, `making the stand-in for RetinaNet at ${cost} of its cost`);
      await writeFile(join(building, file), encodeModel(standinModel(cost)));
    },
    onProgress,
  });
  return join(folder, file);
}
