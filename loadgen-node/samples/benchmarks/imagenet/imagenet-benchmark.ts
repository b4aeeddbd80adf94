import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { IMAGENET_PREPARATIONS } from '../../../../shared/benchmarks/image/imagenet.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import { IMAGENET_COUNT, STANDIN_EVALUATION_SET } from '../../../../shared/rules/cards/imagenet.ts';
import type { BenchmarkRules, GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import type { DataSet, PrepareProgress } from '../../data-set/data-set.ts';
import { ensureDrawnDataSet } from '../drawn-data-set.ts';
import { findFiles } from '../find-files.ts';
import { standinSource } from '../generated-data.ts';
import { type LabelledImage, readImageList } from '../labelled-images.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { standinBenchmark } from '../standin-benchmark.ts';
import { STANDIN_IMAGES, STANDIN_TOP1 } from './draw-class.ts';
import { imagenetDataSet, VAL_MAP } from './imagenet-data-set.ts';

/** File names of the validation set, in any folder. */
const VALIDATION_FILE = /(^|\/)ILSVRC2012_val_\d{8}\.JPEG$/;

/** Name of generated data in the logs. */
const STAND_IN_NAME = 'imagenet-standin';

/** Names of generated images. */
const STAND_IN_FILE = /(^|\/)standin_[^/]*$/;

/**
 * An ImageNet classification benchmark on the LoadGen node: a folder with `val_map.txt` and images,
 * or generated images in the same layout. The response is the class; see imagenet-data-set.ts.
 */
export function imagenetBenchmark(key: keyof typeof IMAGENET_PREPARATIONS): LoadgenBenchmark {
  const rules = benchmarkRules(key);
  return standinBenchmark(key, {
    holds: `the validation images of ImageNet 2012 (image-net.org asks for a registration) and ${VAL_MAP.file}`,
    makes: 'generated images',
    openOwn: (folder, { isScoreOnly = false, onProgress }) =>
      openOwnFolder(folder, rules, isScoreOnly, onProgress),
    openStandin: async (set, options) => {
      const folder = await ensureDrawnDataSet(STANDIN_IMAGES, set, options);
      const images = await readImageList(VAL_MAP, folder);
      const source = drawnSource(key, set);
      return imagenetDataSet(rules, { ...source, folder, images, isManifestChecked: true });
    },
  });
}

async function openOwnFolder(
  folder: string,
  rules: BenchmarkRules,
  isScoreOnly: boolean,
  onProgress: PrepareProgress,
): Promise<DataSet> {
  const images = await readImageList(VAL_MAP, folder);
  const files = {
    folder,
    list: join(folder, VAL_MAP.file),
    paths: images.map(({ path }) => path),
    placeOf: (index: number) => `line ${index + 1}`,
    // In many copies ImageNet's archive was unpacked to a subfolder `val`.
    hint: existsSync(join(folder, 'val'))
      ? '; they may be in its folder val: put val_map.txt there, or "val/" before each file in it'
      : '',
  };
  if (!isScoreOnly) await findFiles(files, onProgress);
  const parts = { folder, images, isManifestChecked: false };
  // Copies of generated images are recognised by their names.
  if (images.some(({ path }) => STAND_IN_FILE.test(path))) {
    const set = { ...STANDIN_EVALUATION_SET, sampleCount: images.length };
    return imagenetDataSet(rules, {
      ...parts,
      ...drawnSource(rules.key, set),
      name: STAND_IN_NAME,
    });
  }
  const marks = foreignMarks(images);
  // Only the whole validation set gets the official name.
  const name = marks.length === 0 ? 'imagenet-2012-val' : 'imagenet-own-data';
  return imagenetDataSet(rules, { ...parts, name, quality: undefined, marks });
}

function drawnSource(key: string, set: GeneratedSet) {
  const samples = `${set.sampleCount} images drawn by longhaul, not ImageNet`;
  return standinSource(key, { name: STAND_IN_NAME, set, value: STANDIN_TOP1, samples });
}

/** Mark of a folder that is not exactly the validation set; empty for the set itself. */
function foreignMarks(images: readonly LabelledImage[]): string[] {
  const namedCount = images.filter(({ path }) => VALIDATION_FILE.test(path)).length;
  if (images.length === IMAGENET_COUNT && namedCount === IMAGENET_COUNT) return [];
  return [
    `the data set is not the validation set of ImageNet 2012: ${images.length} images, ${namedCount} of them with ` +
      `names of its ${IMAGENET_COUNT}; an official run needs all of these`,
  ];
}
