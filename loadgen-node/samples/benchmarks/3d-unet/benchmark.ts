import assert from 'node:assert';
import { drawStandinVolume } from '../../../../shared/benchmarks/volume/standin-volume.ts';
import { newVolume } from '../../../../shared/benchmarks/volume/volume.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import { VOLUME_FORM } from '../../../../shared/rules/cards/3d-unet.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import type {
  AccuracyEntries,
  AccuracyReport,
  DataSet,
  PrepareProgress,
} from '../../data-set/data-set.ts';
import { firstOfEachSample } from '../../data-set/first-of-each.ts';
import { changedEntries } from '../../data-set/wire-data-set.ts';
import { standinSource } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { standinBenchmark } from '../standin-benchmark.ts';
import { type CaseDice, diceOfCase, diceSummary } from './dice.ts';
import {
  findKitsCases,
  INFERENCE_CASES,
  type KitsCase,
  readImage,
  readTruth,
} from './kits-cases.ts';
import type { Scan } from './prepare-scan.ts';

const rules = benchmarkRules('3d-unet');

/** Mean Dice of the stand-in model on the standard volumes: a test measures it. */
export const STANDIN_DICE = 0.92795;

/**
 * 3D U-Net on the LoadGen node: cases of KiTS19, or volumes that longhaul draws. The response has
 * one byte per voxel: 0, 1 kidney, 2 tumour.
 */
export const benchmark: LoadgenBenchmark = standinBenchmark(rules.key, {
  holds: 'the cases of KiTS19, pre-processed or as they are',
  makes: 'generated volumes',
  openOwn: openCases,
  openStandin: async (set) => drawnVolumes(set),
});

async function openCases(
  path: string,
  {
    cacheFolder,
    onProgress,
  }: { readonly cacheFolder: string; readonly onProgress: PrepareProgress },
): Promise<DataSet> {
  const { folder, cases, isMade } = await findKitsCases(path, cacheFolder, onProgress);
  const isOfficial = cases.every(({ name }, i) => name === INFERENCE_CASES[i]);
  const isWhole = isOfficial && cases.length === INFERENCE_CASES.length;
  return volumeDataSet({
    name: isWhole ? 'kits19-inference' : 'kits19-own-cases',
    folder,
    files: cases.flatMap(({ image, truth }) => (image === undefined ? [truth] : [image, truth])),
    isManifestChecked: isMade,
    marks: isWhole ? [] : [foreignMark(cases)],
    names: cases.map(({ name }) => name),
    readImage: (index) => readImage(folder, cases[index] as KitsCase),
    readTruth: (index) => readTruth(folder, cases[index] as KitsCase),
  });
}

function foreignMark(cases: readonly KitsCase[]): string {
  const count = cases.filter(({ name }) => INFERENCE_CASES.includes(name)).length;
  return (
    `the data set is not that of the benchmark: ${cases.length} cases, ${count} of them among the ${INFERENCE_CASES.length} ` +
    'of KiTS19 that inference is measured with; an official run needs all of these'
  );
}

/** Volumes are drawn when they are loaded, and again when they are scored: no files needed. */
function drawnVolumes(set: GeneratedSet): DataSet {
  const names = Array.from({ length: set.sampleCount }, (_, i) => `standin_${i}`);
  return volumeDataSet({
    ...standinSource(rules.key, {
      name: 'kits19-standin',
      set,
      value: STANDIN_DICE,
      samples: `${set.sampleCount} volumes drawn by longhaul, not KiTS19`,
    }),
    folder: '',
    names,
    readImage: async (index) => {
      const { shape, paint } = drawStandinVolume(set, index);
      const { payload, voxels } = newVolume(shape);
      paint(voxels);
      return payload;
    },
    readTruth: async (index) => drawStandinVolume(set, index),
  });
}

/** Volumes and their ground truth, by sample index. */
interface VolumeSource extends Omit<DataSet, 'totalSampleCount' | 'readPayload' | 'scoreAccuracy'> {
  readonly names: readonly string[];
  readImage(index: number): Promise<Uint8Array>;
  readTruth(index: number): Promise<Pick<Scan, 'shape' | 'labels'>>;
}

function volumeDataSet({ names, readImage, readTruth, ...parts }: VolumeSource): DataSet {
  return {
    ...parts,
    totalSampleCount: names.length,
    readPayload: (index, form) => {
      assert(form === VOLUME_FORM, form);
      return readImage(index);
    },
    scoreAccuracy: (entries) => scoreVolumes(entries, names, readTruth),
  };
}

/**
 * Mean Dice, as in accuracy_kits.py; only one response and one truth are in memory. The script
 * refuses a log with missing or repeated cases, so its lines are given only for a complete log.
 */
async function scoreVolumes(
  entries: AccuracyEntries,
  names: readonly string[],
  readTruth: VolumeSource['readTruth'],
): Promise<AccuracyReport> {
  const scores: (CaseDice | undefined)[] = names.map(() => undefined);
  let entryCount = 0;
  const counted = changedEntries(entries, (entry) => {
    entryCount += 1;
    return entry;
  });
  for await (const { sampleIndex, response } of firstOfEachSample(counted, names.length)) {
    const truth = await readTruth(sampleIndex);
    scores[sampleIndex] = diceOfCase(names[sampleIndex] as string, response, truth);
  }
  const scored = scores.filter((score) => score !== undefined);
  const { metric } = rules.quality;
  if (scored.length === 0) return { metric, value: 0, sampleCount: 0 };
  const { table, line, value } = diceSummary(scored);
  const report = { metric, value, sampleCount: scored.length };
  const isWhole = scored.length === names.length && entryCount === names.length;
  return isWhole ? { ...report, scriptLine: [...table, line].join('\n') } : report;
}
