import { loadgenBenchmark } from '../../../loadgen-node/samples/benchmarks/registry.ts';
import type { ResponseScorer } from '../../../loadgen-node/submission/compliance/responses/answers-by-sight.ts';
import {
  longStandinTextsOf,
  type StandinTexts,
  standinText,
  standinTextsOf,
} from '../../../shared/benchmarks/standin/standin-text.ts';
import type { SubmissionScenario } from '../../../shared/rules/rows/model-row.ts';
import { float32, labelOf } from '../simulated-run/simulated-run.ts';
import type { SutOptions } from '../simulated-run/simulated-sut.ts';
import { scorerOf } from './compliance-scene.ts';

/** The model whose runs a scene has, with answers for the whole data set. */
export interface SceneModel extends Pick<SutOptions, 'responseOf' | 'hasTokens'> {
  /** Folder of its results. */
  readonly folder: string;
  readonly benchmark: string;
  readonly totalSamples: number;
  readonly payloadBytes: number;
  readonly responseBytes: number;
  readonly form: string;
  readonly inputDataTypes: string;
  /** Flags of its scenarios, and times of a sample with which runs take 600 s in few queries. */
  readonly scenarios: Partial<
    Readonly<
      Record<SubmissionScenario, { flags: Readonly<Record<string, string>>; serviceNs: number }>
    >
  >;
  readonly openScorer: () => Promise<ResponseScorer>;
}

const IMAGES = 50_000;

/**
 * Right for 38,250 of the 50,000 images, which lie among the others: 7,919 shares no factor with
 * 50,000.
 */
export const RESNET50: SceneModel = {
  folder: 'resnet50',
  benchmark: 'resnet50',
  totalSamples: IMAGES,
  // Of a JPEG of the data set, and of a label.
  payloadBytes: 110_003,
  responseBytes: 4,
  form: 'jpeg',
  inputDataTypes: 'uint8',
  scenarios: {
    Server: { flags: { targetQps: '20' }, serviceNs: 5e6 },
    Offline: { flags: { targetQps: '50' }, serviceNs: 20e6 },
    SingleStream: { flags: {}, serviceNs: 50e6 },
    MultiStream: { flags: { samplesPerQuery: '8' }, serviceNs: 10e6 },
  },
  responseOf: (sample) => float32(labelOf(sample)),
  openScorer: async () =>
    scorerOf(IMAGES, (sample) =>
      (sample * 7_919) % IMAGES < 38_250 ? labelOf(sample) : (labelOf(sample) + 1) % 1_000,
    ),
};

/** A model that answers as many made-up texts as its data set has as their prompts say. */
export function languageModel(folder: string, benchmark: string, count: number): SceneModel {
  const long = longStandinTextsOf(benchmark);
  const texts = long ?? standinTextsOf(benchmark);
  const generated = { seed: texts.set.seed, sampleCount: count };
  const answers = new Map<number, Uint8Array>();
  return {
    ...{ folder, benchmark, totalSamples: count, form: 'ids', inputDataTypes: 'int32' },
    payloadBytes: 1_600,
    responseBytes: 1_200,
    scenarios: {
      Server: { flags: { targetQps: '5' }, serviceNs: 20e6 },
      Interactive: { flags: { targetQps: '5', ttft: '450ms', tpot: '40ms' }, serviceNs: 20e6 },
      Offline: { flags: { targetQps: '38' }, serviceNs: 26e6 },
    },
    responseOf: (sample) => {
      const answer = answers.get(sample) ?? answerTo(texts, sample);
      answers.set(sample, answer);
      return answer;
    },
    hasTokens: true,
    openScorer: async () => {
      const { openDataSet } = await loadgenBenchmark(benchmark);
      const dataSet = await openDataSet({
        dataFolder: long === undefined ? 'standin' : 'standin-long',
        ...{ cacheFolder: '', generated, onProgress: () => undefined },
      });
      return { score: (entries) => dataSet.scoreAccuracy(entries), marks: () => [] };
    },
  };
}

function answerTo(texts: StandinTexts, sample: number): Uint8Array {
  const { prompt, kind } = standinText(texts, texts.set.seed, sample);
  const begin = prompt.indexOf(texts.askId) + 1;
  const end = prompt.indexOf(texts.endId, begin);
  // Programs end two tokens before.
  const answer = prompt.subarray(begin, kind === 'code' ? end - 2 : end);
  return new Uint8Array(Int32Array.of(...answer, texts.endId).buffer);
}
