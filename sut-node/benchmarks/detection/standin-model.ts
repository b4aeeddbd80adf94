import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildProgress, ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { encodeModel } from '../../model/onnx/graph-builder.ts';
import { type StandinForm, standinModel } from './standin-graph.ts';

/** Raise with every change of the graph: no model of the old way is found in the cache then. */
const GRAPH_REVISION = 3;

/** Name of a stand-in in its file's name, in logs and on the wire, unlike any model of MLPerf. */
export function standinName({ benchmark }: Pick<StandinForm, 'benchmark'>): string {
  return `${benchmark}-standin-fp32`;
}

/**
 * Finds the stand-in in the cache, checked against its checksum, or makes it: in a second, or in three at full cost.
 * @param cost Operations as a share of the real model's; undefined: {@link StandinForm.costDefault}.
 * @returns Path of its file.
 * @throws MlperfError `ERR_CACHE`
 */
export async function ensureStandin(
  form: StandinForm,
  {
    cost = form.costDefault,
    cacheFolder,
    onProgress,
  }: {
    readonly cost?: number | undefined;
    readonly cacheFolder: string;
    readonly onProgress: BuildProgress;
  },
): Promise<string> {
  const file = `${standinName(form)}.onnx`;
  const folder = await ensureArtifact({
    cacheFolder,
    name: `${form.benchmark}-standin-model`,
    recipe: { cost, graphRevision: GRAPH_REVISION },
    build: async (building, onBuildProgress) => {
      onBuildProgress(0, `making the stand-in for ${form.title} at ${cost} of its cost`);
      await writeFile(join(building, file), encodeModel(standinModel(form, cost)));
    },
    onProgress,
  });
  return join(folder, file);
}
