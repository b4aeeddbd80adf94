import assert from 'node:assert';
import { benchmarkUnknown } from '../base/errors/mlperf-error.ts';
import { nearest } from '../base/text.ts';
import type { PayloadEncoding } from '../domain/system-under-test.ts';
import { numberOfRound, type Round } from './rounds/rounds.ts';
import type {
  BenchmarkDefault,
  BenchmarkRules,
  MetricBounds,
  Quality,
} from './rows/benchmark-row.ts';
import { BERT_ENCODINGS, BERT_RESPONSE_TENSOR, BERT_TENSORS } from './rows/bert.ts';
import { detectionRow } from './rows/detection.ts';
import { DIGITS } from './rows/digits.ts';
import { DLRM_ENCODINGS, DLRM_RESPONSE_TENSOR, DLRM_TENSORS } from './rows/dlrm-v2.ts';
import { GNMT_ENCODINGS, GNMT_RESPONSE_TENSOR, GNMT_TENSORS } from './rows/gnmt.ts';
import { IMAGENET_ENCODINGS, IMAGENET_RESPONSE_TENSOR, IMAGENET_TENSORS } from './rows/imagenet.ts';
import { PICTURE_ROW } from './rows/stable-diffusion-xl.ts';
import { SYNTHETIC_SAMPLE_COUNT_MAX } from './rows/synthetic-samples.ts';
import { TOKENS_ROW } from './rows/tokens.ts';
import { VOLUME_ROW } from './rows/volume.ts';

/** A benchmark of MLPerf, with the values of `round`'s mlperf.conf. */
function officialRow(
  key: string,
  round: Round,
  row: Pick<
    BenchmarkRules,
    | 'title'
    | 'rounds'
    | 'quality'
    | 'qualityOfRound'
    | 'encodings'
    | 'sampleTensors'
    | 'responseTensor'
    | 'defaults'
  >,
): BenchmarkRules {
  return {
    key,
    isOfficial: true,
    // LoadGen: 0 is all of the data set.
    performanceSampleCount:
      numberOfRound(round, `${key}.*.performance_sample_count_override`) ||
      SYNTHETIC_SAMPLE_COUNT_MAX,
    hasServer: numberOfRound(round, `${key}.Server.target_latency`) !== undefined,
    serverTargetLatencyNs: serverNumber(round, key, 'target_latency') * 1e6,
    serverTargetLatencyPercentile: serverNumber(round, key, 'target_latency_percentile') / 100,
    ...row,
  };
}

/** A key of the Server scenario: the benchmark's own, else every benchmark's. */
function serverNumber(round: Round, benchmark: string, key: string): number {
  const found =
    numberOfRound(round, `${benchmark}.Server.${key}`) ?? numberOfRound(round, `*.Server.${key}`);
  assert(found !== undefined, key);
  return found;
}

const IMAGENET_ROW = {
  encodings: IMAGENET_ENCODINGS,
  sampleTensors: IMAGENET_TENSORS,
  responseTensor: IMAGENET_RESPONSE_TENSOR,
};

/**
 * A target as a share of the reference in FP32.
 * @param value The reference, from 0 to 1.
 */
function shareOfReference(value: number, share: number, metric = 'top-1'): Quality {
  return { metric, target: value * share, reference: { value, share } };
}

/**
 * Targets of a language model: shares of what the reference reaches, and bounds on how much it writes.
 * @param references In percent, the first one as the quality's own metric.
 */
function textQuality(
  references: Readonly<Record<string, number>>,
  bounds: readonly MetricBounds[],
  share = 0.99,
): Quality {
  const [[metric, value] = ['', 0], ...others] = Object.entries(references);
  const targets = others.map(([name, reference]) => ({ metric: name, target: reference * share }));
  return { ...shareOfReference(value / 100, share, metric), more: [...targets, ...bounds] };
}

const TOKENS_PER_SAMPLE = 'TOKENS_PER_SAMPLE';

const LLAMA2_REFERENCES = { ROUGE1: 44.4312, ROUGE2: 22.0352, ROUGEL: 28.6162 };
const LLAMA2_BOUNDS = [{ metric: TOKENS_PER_SAMPLE, target: 294.45 * 0.9, max: 294.45 * 1.1 }];

const MIXTRAL_V5 = textQuality(
  {
    ROUGE1: 45.5989,
    ROUGE2: 23.3526,
    ROUGEL: 30.4608,
    gsm8k_accuracy: 73.66,
    mbxp_accuracy: 60.16,
  },
  [{ metric: TOKENS_PER_SAMPLE, target: 144.84 * 0.9, max: 145.9 * 1.1 }],
);

/** Measures the wire. */
const NULL: BenchmarkRules = {
  key: 'null',
  title: 'no model: the node answers every sample at once, so that the wire itself is measured',
  isOfficial: false,
  isSynthetic: true,
  // All that there are.
  performanceSampleCount: SYNTHETIC_SAMPLE_COUNT_MAX,
  serverTargetLatencyNs: 100_000_000,
  serverTargetLatencyPercentile: 0.99,
  encodings: { raw: { form: 'raw', compression: 'identity' } },
  sampleTensors: { raw: { datatype: 'UINT8', shape: [-1] } },
  responseTensor: { datatype: 'UINT8', shape: [-1] },
  quality: { metric: 'answered', target: 1 },
};

/** In the order in which they are listed to people. */
const BENCHMARKS: readonly BenchmarkRules[] = [
  DIGITS,
  // Rules: inference_rules v4.1, table of datacenter benchmarks (QSL size 1024, 99 % of FP32 = 76.46 %, Server 15 ms);
  // paper of round v0.5, table 1 (99 % of 76.456 %). Rounds after v5.0 do not have it in the datacenter suite.
  officialRow('resnet50', 'v4.1', {
    ...IMAGENET_ROW,
    title: 'image classification: ResNet-50 v1.5 on ImageNet 2012',
    rounds: ['v0.5', 'v4.1', 'v5.0'],
    quality: shareOfReference(0.7646, 0.99),
    qualityOfRound: { 'v0.5': shareOfReference(0.76456, 0.99) },
  }),
  // Only round v0.5 has it. Rule: paper of that round, table 1 (98 % of 71.676 %, Server 10 ms).
  officialRow('mobilenet', 'v0.5', {
    ...IMAGENET_ROW,
    title: 'image classification of round v0.5: MobileNet v1 1.0 224 on ImageNet 2012',
    rounds: ['v0.5'],
    quality: shareOfReference(0.71676, 0.98),
  }),
  // Rules: checker and Network division of v4.1 (QSL size 10833, 99 % of FP32 = 90.874 %, Server 130 ms); bert-99.9 is chosen
  // when a submission is built. Rounds after v4.1 do not have it in the datacenter suite.
  officialRow('bert', 'v4.1', {
    title: 'question answering: BERT-large on SQuAD v1.1',
    rounds: ['v4.1'],
    quality: shareOfReference(0.90874, 0.99, 'F1'),
    encodings: BERT_ENCODINGS,
    sampleTensors: BERT_TENSORS,
    responseTensor: BERT_RESPONSE_TENSOR,
  }),
  // Rule: inference_rules v4.1, table of datacenter benchmarks (QSL size 64, 99 % of FP32 = mAP 37.55 %, Server 100 ms).
  officialRow('retinanet', 'v4.1', {
    title: 'object detection: RetinaNet ResNeXt50 800x800 on Open Images v6',
    rounds: ['v4.1', 'v5.0', 'v5.1'],
    quality: shareOfReference(0.3755, 0.99, 'mAP'),
    ...detectionRow('retinanet'),
  }),
  // Only round v0.5 has these two. Rule: paper of that round, table 1 and section on quality (22.0 mAP itself, and 99 % of 0.20;
  // Server 10 and 100 ms).
  officialRow('ssd-mobilenet', 'v0.5', {
    title: 'object detection of round v0.5: SSD MobileNet v1 300x300 on COCO 2017',
    rounds: ['v0.5'],
    quality: { metric: 'mAP', target: 0.22 },
    ...detectionRow('ssd-mobilenet'),
  }),
  officialRow('ssd-resnet34', 'v0.5', {
    title: 'object detection of round v0.5: SSD ResNet34 1200x1200 on COCO 2017',
    rounds: ['v0.5'],
    quality: shareOfReference(0.2, 0.99, 'mAP'),
    ...detectionRow('ssd-resnet34'),
    // A sample of fp32 has 17 MB, and a node takes a 32nd of its queue.
    defaults: { queueBytesMax: 1024 ** 3 },
  }),
  // Offline and SingleStream only. The rules' text has 42 cases and a mean of 0.86330; mlperf.conf and the official checker have
  // 43 cases and 0.86170, which hold here.
  officialRow('3d-unet', 'v4.1', {
    ...VOLUME_ROW,
    title: 'segmentation of scans: 3D U-Net on KiTS19',
    rounds: ['v4.1', 'v5.0', 'v5.1', 'v6.0', 'v6.1'],
    quality: shareOfReference(0.8617, 0.99, 'DICE'),
  }),
  // Rules: inference_rules v4.1, table of datacenter benchmarks (QSL size 204800, 99 % or 99.9 % of FP32, AUC = 80.31 %, Server
  // 60 ms). Rounds after v5.1 have another model of recommendation.
  officialRow('dlrm-v2', 'v4.1', {
    title: 'recommendation: DLRM-DCNv2 on the multi-hot Criteo 1TB click logs',
    rounds: ['v4.1', 'v5.0', 'v5.1'],
    encodings: DLRM_ENCODINGS,
    sampleTensors: DLRM_TENSORS,
    responseTensor: DLRM_RESPONSE_TENSOR,
    quality: shareOfReference(0.8031, 0.99, 'AUC'),
  }),
  // Rules: inference_rules v4.1, table of datacenter benchmarks (QSL size 5000, ranges of FID and CLIP, Server 20 s). Rounds
  // after v5.1 do not have it in the datacenter suite.
  officialRow('stable-diffusion-xl', 'v4.1', {
    ...PICTURE_ROW,
    title: 'pictures from text: Stable Diffusion XL base 1.0, 1024x1024, on captions of COCO 2014',
    rounds: ['v4.1', 'v5.0', 'v5.1'],
    // CLIP_SCORE is 100 times a cosine.
    quality: {
      metric: 'CLIP_SCORE',
      ...{ target: 0.316_863_187_3, max: 0.318_133_180_1 },
      more: [{ metric: 'FID_SCORE', target: 23.010_857_58, max: 23.950_076_26 }],
    },
  }),
  // Only round v0.5 has it. Rule: paper of that round, table 1 (99 % of 23.9 BLEU, Server 250 ms at the 97th percentile).
  officialRow('gnmt', 'v0.5', {
    title: 'translation of round v0.5: GNMT, English to German, on newstest2014',
    rounds: ['v0.5'],
    encodings: GNMT_ENCODINGS,
    sampleTensors: GNMT_TENSORS,
    responseTensor: GNMT_RESPONSE_TENSOR,
    quality: shareOfReference(0.239, 0.99, 'BLEU'),
  }),
  // Rules: checkers of v4.1 and v5.0 (QSL size 13368, Server 20 s); gptj-99.9 is chosen when a submission is built.
  officialRow('gptj', 'v4.1', {
    ...TOKENS_ROW,
    title: 'summaries: GPT-J 6B on CNN/DailyMail',
    rounds: ['v4.1', 'v5.0'],
    quality: textQuality({ ROUGE1: 42.9865, ROUGE2: 20.1235, ROUGEL: 29.9881 }, [
      { metric: 'GEN_LEN', target: 4_016_878 * 0.9 },
    ]),
  }),
  // Rules: checkers of v4.1 to v6.1 (QSL size 24576, Server: bounds on tokens); the last round has llama2-70b-99.9 alone.
  officialRow('llama2-70b', 'v4.1', {
    ...TOKENS_ROW,
    title: 'answers to questions: Llama 2 70B chat on OpenOrca',
    rounds: ['v4.1', 'v5.0', 'v5.1', 'v6.0', 'v6.1'],
    quality: textQuality(LLAMA2_REFERENCES, LLAMA2_BOUNDS),
    qualityOfRound: { 'v6.1': textQuality(LLAMA2_REFERENCES, LLAMA2_BOUNDS, 0.999) },
  }),
  // Rules: checkers of v4.1 to v6.0. Checker and text of v4.1's rules have different references: of each the stricter one holds.
  officialRow('mixtral-8x7b', 'v4.1', {
    ...TOKENS_ROW,
    title: 'questions, sums and programs: Mixtral 8x7B on OpenOrca, GSM8K and MBXP',
    rounds: ['v4.1', 'v5.0', 'v5.1', 'v6.0'],
    quality: textQuality(
      {
        ROUGE1: 45.5989,
        ROUGE2: 23.3526,
        ROUGEL: 30.4608,
        gsm8k_accuracy: 73.78,
        mbxp_accuracy: 60.16,
      },
      [{ metric: TOKENS_PER_SAMPLE, target: 145.9 * 0.9, max: 145.9 * 1.1 }],
    ),
    qualityOfRound: { 'v5.0': MIXTRAL_V5, 'v5.1': MIXTRAL_V5, 'v6.0': MIXTRAL_V5 },
  }),
  {
    key: 'custom',
    title: 'your own: any ONNX model, and a folder of which each file is the payload of a sample',
    isOfficial: false,
    performanceSampleCount: 1024,
    serverTargetLatencyNs: 100_000_000,
    serverTargetLatencyPercentile: 0.99,
    encodings: NULL.encodings,
    hasTokens: true,
    // Only the user knows which answers are right.
    quality: NULL.quality,
  },
  NULL,
  {
    // Measures the wire with as many bytes back as there.
    ...NULL,
    key: 'echo',
    title: 'no model: the node answers every sample with its own bytes, which come back unchanged',
    quality: { metric: 'echoed', target: 1 },
  },
  {
    // Tests LoadGen against service times, and token latencies, that are known.
    ...NULL,
    key: 'delay',
    title: 'no model: the node answers every sample after a time that its settings say',
    hasTokens: true,
  },
];

/** Keys of all benchmarks, in the order in which they are listed to people. */
export const BENCHMARK_KEYS: readonly string[] = BENCHMARKS.map((benchmark) => benchmark.key);

/** Benchmarks that rounds bound more tightly in their scenario Interactive, by LoadGen's name of them. */
const INTERACTIVE_NAMES: readonly string[] = ['llama2-70b-interactive'];

/** {@link BENCHMARK_KEYS} and what else `longhaul run` takes, see {@link benchmarkOfRun}: each behind the benchmark that its SUT nodes serve. */
export const RUN_BENCHMARKS: readonly string[] = BENCHMARK_KEYS.flatMap((key) => [
  key,
  ...INTERACTIVE_NAMES.filter((name) => name === `${key}-interactive`),
]);

/** Keys of the benchmarks without a model; see {@link BenchmarkRules.isSynthetic}. */
export const SYNTHETIC_BENCHMARKS: readonly string[] = BENCHMARKS.filter(
  ({ isSynthetic }) => isSynthetic,
).map(({ key }) => key);

/**
 * @param names Those that may be meant.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that names the one that was meant, or lists what there is.
 */
export function benchmarkRules(key: string, names = BENCHMARK_KEYS): BenchmarkRules {
  const rules = BENCHMARKS.find((benchmark) => benchmark.key === key);
  if (rules === undefined) {
    const ofRuns = interactiveRules(key);
    const plain = key.replace(/(-interactive)?(-99(\.9)?)?$/, '');
    const near = nearest(key, names);
    const known = near === undefined ? `there is: ${names.join(', ')}` : `did you mean "${near}"?`;
    const hint = BENCHMARK_KEYS.includes(plain)
      ? `${key} is a model of a submission, whose benchmark is ${plain}`
      : known;
    throw benchmarkUnknown(
      ofRuns === undefined
        ? `unknown benchmark "${key}"; ${hint}`
        : `"${key}" is a benchmark of runs, whose SUT nodes serve ${ofRuns.key}`,
    );
  }
  return rules;
}

/**
 * Benchmark of a run: one of the table, or one that rounds bound more tightly in their scenario Interactive. LoadGen knows that
 * scenario as Server of a model of its own, `llama2-70b-interactive`; a submission's name of it (`-99`, `-99.9`) is taken as well.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` as {@link benchmarkRules}
 */
export function benchmarkOfRun(name: string): BenchmarkRules {
  return interactiveRules(name) ?? benchmarkRules(name, RUN_BENCHMARKS);
}

/** Key of the benchmark that a run by this name has; the name itself where it is another one. */
export function keyOfRun(name: string): string {
  return interactiveRules(name)?.key ?? name;
}

/** Name of a benchmark in LoadGen's files, and in all that tells people of a run. */
export function confNameOf({ confName, key }: BenchmarkRules): string {
  return confName ?? key;
}

/** The rounds' own files have the bounds; undefined for a name that none of them has. */
function interactiveRules(name: string): BenchmarkRules | undefined {
  const [, confName = '', key] = /^((.+)-interactive)(?:-99(?:\.9)?)?$/.exec(name) ?? [];
  const rules = BENCHMARKS.find((benchmark) => benchmark.key === key);
  const rounds = rules?.rounds?.filter(
    (round) => numberOfRound(round, `${confName}.Server.ttft_latency`) !== undefined,
  );
  if (rules === undefined || rounds === undefined || rounds.length === 0) return undefined;
  return { ...rules, confName, rounds, title: `${rules.title}, in Interactive` };
}

/** @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that lists the encodings of the benchmark. */
export function benchmarkEncoding(rules: BenchmarkRules, name: string): PayloadEncoding {
  const encoding = Object.hasOwn(rules.encodings, name) ? rules.encodings[name] : undefined;
  if (encoding === undefined) {
    const known = Object.keys(rules.encodings).join(', ');
    throw benchmarkUnknown(`benchmark ${rules.key} has no encoding "${name}"; there is: ${known}`);
  }
  return encoding;
}

/** Default of a setting that follows from the setting `benchmark`; undefined where that has none ({@link BenchmarkRules.defaults}). */
export function benchmarkDefault(setting: BenchmarkDefault) {
  return (rawOf: (key: string) => unknown): number | string | undefined => {
    const key = rawOf('benchmark');
    return BENCHMARKS.find((benchmark) => benchmark.key === key)?.defaults?.[setting];
  };
}

/** Quality that a benchmark demands in a round. */
export function qualityOf(rules: BenchmarkRules, round: Round | undefined): Quality {
  return (round === undefined ? undefined : rules.qualityOfRound?.[round]) ?? rules.quality;
}
