import { FILES_AT_ONCE, forEachIndex } from '../../../../shared/base/async/for-each-index.ts';
import { EVALUATION_SET } from '../../../../shared/benchmarks/digits/digit-sets.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import type { PrepareProgress } from '../../data-set/data-set.ts';
import { generatedName, isStandardSet, otherSetMark } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { DigitsDataSet, readLabelFile } from './digits-data-set.ts';
import { ensureGeneratedDataSet } from './generate-data-set.ts';

const rules = benchmarkRules('digits');

/** Images between two reports of progress. */
const PROGRESS_STEP = 100;

/**
 * The embedded example on the LoadGen node: images of digits that longhaul draws itself, or a folder
 * of the user's with the same layout (see label-list.ts). The response is the class (see
 * shared/benchmarks/digits/response.ts); accuracy is the share of right classes.
 */
export const benchmark: LoadgenBenchmark = {
  rules,
  openDataSet: async ({
    dataFolder,
    cacheFolder,
    generated: images = EVALUATION_SET,
    onProgress,
  }) => {
    if (dataFolder !== undefined) return openOwnDataSet(dataFolder, onProgress);
    // Checksums have proven every file of it: nothing needs to be decoded.
    const folder = await ensureGeneratedDataSet({ cacheFolder, onProgress, images });
    return new DigitsDataSet(generatedName('digits', images, EVALUATION_SET), {
      folder,
      images: await readLabelFile(folder),
      metric: rules.quality.metric,
      isManifestChecked: true,
      marks: isStandardSet(images, EVALUATION_SET) ? [] : [otherSetMark(images, EVALUATION_SET)],
    });
  },
};

/** A user's files may never have been looked at: each of them must decode. */
async function openOwnDataSet(folder: string, onProgress: PrepareProgress): Promise<DigitsDataSet> {
  const images = await readLabelFile(folder);
  const { metric } = rules.quality;
  const parts = { folder, images, metric, isManifestChecked: false, marks: [] };
  const dataSet = new DigitsDataSet('digits-own-data', parts);
  await forEachIndex(images.length, FILES_AT_ONCE, async (index) => {
    await dataSet.checkImage(index);
    if (index % PROGRESS_STEP === 0) {
      onProgress(index / images.length, `checking ${images.length} images in ${folder}`);
    }
  });
  return dataSet;
}
