import type { BuildProgress } from '../../shared/base/cache/artifact-cache.ts';
import { timerClock } from '../../shared/base/clock.ts';
import { modelError } from '../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import { counted, upperMedian } from '../../shared/base/text.ts';
import type { PayloadEncoding } from '../../shared/domain/system-under-test.ts';
import { settingsAsText } from '../../shared/evidence/settings-text.ts';
import { componentVersions } from '../../shared/host/component-versions.ts';
import { batchingInWords, samplesAtOnce } from '../inference/batcher/dynamic-batcher.ts';
import type {
  SampleAnswer,
  SampleOwner,
  SutModel,
  WaitingSample,
} from '../inference/batcher/sut-model.ts';
import { FREE, type LoadedModel } from '../model/model-facts.ts';
import { listTensors } from '../pipeline/model-fit.ts';
import { readServerSecurity } from '../server/connection/server-security.ts';
import {
  configurationName,
  nodeOffer,
  payloadContext,
  providerOf,
  readBy,
  servedName,
} from '../server/describe/node-offer.ts';
import type { SutSettings } from '../settings/sut-settings.ts';

/** Repetitions per batch size; the report has their median. */
const REPEATS = 5;

/** Report of `longhaul sut --check`. */
type NodeCheckReport = Awaited<ReturnType<typeof checkNode>>;

/**
 * Loads the model, warms it up and measures it as a node would use it, without serving. The files
 * of TLS and token are read as well. The caller must stop the model afterwards, also after an
 * error.
 * @throws MlperfError as the start of a node; `ERR_MODEL` when the model fails on the benchmark's
 *   own sample.
 */
export async function checkNode(settings: SutSettings, model: SutModel, onProgress: BuildProgress) {
  readServerSecurity(settings);
  servedName(settings, model);
  const offer = nodeOffer(settings, model);
  const loaded = await model.load({
    ...payloadContext(settings, model),
    onProgress,
    onRoom: () => {},
    onFatal: () => {},
  });
  onProgress(0, `warming up ${model.name}`);
  await model.warmUp();
  const sample = model.samplePayload?.();
  const measured = {
    // A model without a sample does not read payloads.
    payload: sample?.payload ?? new Uint8Array(4),
    form: formOf(sample?.form, offer.encodings, loaded),
  };
  const inferences: InferenceTimes[] = [];
  const batchSizeMax = samplesAtOnce(settings, loaded);
  const isGenerating = loaded.sequencesMax !== undefined;
  const workers = model.workerCounts?.count ?? 0;
  for (const batchSize of new Set([1, batchSizeMax])) {
    onProgress(0, `measuring ${whatOf(isGenerating, batchSize)}`);
    // Sequences are sent one by one, and the worker with the fewest gets the next one. So all
    // workers get the same number of sequences, or one worker gets a single sequence.
    const sequences = batchSize === 1 ? 1 : batchSize * workers;
    const sizes = isGenerating ? Array.from({ length: sequences }, () => 1) : [batchSize];
    inferences.push({ batchSize, ...(await measure(model, { ...measured, sizes })) });
  }
  return {
    configuration: configurationName({ settings, offer }, loaded),
    benchmark: offer.benchmark,
    /** False for an example of this project. */
    isOfficial: model.rules.isOfficial,
    model: describe(model.name, loaded),
    provider: providerOf(settings),
    workers,
    /** Samples that a worker runs at once: a batch, or sequences side by side. */
    batchSizeMax,
    /** True if a batch is a number of sequences that a worker generates side by side. */
    isGenerating,
    /** How the server batches, for the documents of a submission. */
    batching: batchingInWords(settings, loaded),
    /** Form and bytes of every sample of the inferences; null where the model reads no payload. */
    sample: sample === undefined ? null : { form: sample.form, bytes: sample.payload.length },
    inferences,
    /** Memory of this process with all its threads. */
    rssBytes: process.memoryUsage().rss,
    longhaul: packageVersion(),
    components: componentVersions(),
    settings: settingsAsText(settings),
  };
}

/** The file is null for a model without one. */
function describe(name: string, loaded: LoadedModel) {
  const { file = null, sha256, isStandIn, tensors, layout } = loaded;
  const lengths = (layout?.inputs ?? []).flatMap(({ sampleShape }) => sampleShape);
  /** Axes of one sample that take any length. */
  const freeAxes = lengths.filter((length) => length === FREE).length;
  const { inputs, outputs } = tensors;
  return { name, file, sha256, isStandIn, inputs, outputs, freeAxes };
}

/**
 * The node's number of an encoding in which the sample can come: where the benchmark has no such
 * form, a tensor goes by another name (`raw`, `fp32`), which its pre-processor reads as well.
 */
function formOf(
  form: string | undefined,
  encodings: readonly PayloadEncoding[],
  loaded: LoadedModel,
): number {
  const plain = encodings.map((one) => one.compression === 'identity' && readBy(loaded)(one));
  const same = encodings.findIndex((one, i) => plain[i] && one.form === form);
  return same < 0 ? plain.indexOf(true) : same;
}

/** Batches of equal samples. */
interface TestBatches {
  readonly payload: Uint8Array;
  /** The node's number of the payload's encoding. */
  readonly form: number;
  /** Sizes of the batches that are sent at once. */
  readonly sizes: readonly number[];
}

/** Median times of one batch size. */
type InferenceTimes = Awaited<ReturnType<typeof measure>> & { readonly batchSize: number };

/**
 * Times of such batches: for each number, the median of {@link REPEATS} repetitions. `computeNs` is
 * the time of the model alone, for the slowest sample; `totalNs` is the time from the way to the
 * worker to the last answer, with pre- and post-processing. `tokenCount` is the number of tokens of
 * each answer; null if the model has no tokens.
 */
async function measure(model: SutModel, batches: TestBatches) {
  const computeNs: number[] = [];
  const totalNs: number[] = [];
  let tokenCount: number | null = null;
  for (let i = 0; i < REPEATS; i += 1) {
    const beganAtNs = timerClock.nowNs();
    const answers = await run(model, batches);
    totalNs.push(timerClock.nowNs() - beganAtNs);
    computeNs.push(answers.reduce((most, { times }) => Math.max(most, times?.computeNs ?? 0), 0));
    // The samples are equal, and so are their answers.
    tokenCount = answers[0]?.tokenCount ?? null;
  }
  const medians = { computeNs: upperMedian(computeNs) ?? 0, totalNs: upperMedian(totalNs) ?? 0 };
  return { ...medians, tokenCount };
}

function run(
  model: SutModel,
  { payload, form, sizes }: TestBatches,
): Promise<readonly SampleAnswer[]> {
  return new Promise((resolve, reject) => {
    const all: SampleAnswer[] = [];
    const sampleCount = sizes.reduce((sum, size) => sum + size, 0);
    const owner: SampleOwner = {
      answer: (answers) => {
        const fault = answers.find((one) => one.fault !== undefined)?.fault;
        if (fault !== undefined) reject(modelError(`a batch of ${sizes[0]}: ${fault.text}`));
        all.push(...answers);
        if (all.length === sampleCount) resolve(all);
      },
      firstTokens: () => {},
      takesTokens: false,
      tokens: () => {},
    };
    const takenAtNs = timerClock.nowNs();
    for (const size of sizes) {
      const samples = Array.from({ length: size }, (_, id): WaitingSample => {
        const pieces = [payload];
        const times = { arrivedAtNs: takenAtNs, queuedAtNs: takenAtNs };
        return { id, pieces, bytes: payload.length, form, slice: undefined, owner, ...times };
      });
      model.run({ samples, takenAtNs });
    }
  });
}

const MIB = 1024 ** 2;
const LABEL_WIDTH = 15;
/** Benchmark for the user's own models and data. */
const OWN_BENCHMARK = 'custom';

/** The report for people: a label and its values in each paragraph. */
export function checkReportText(report: NodeCheckReport): string {
  const { model, inferences } = report;
  const versions = report.components.map(({ name = '', version = '' }) => `${name} ${version}`);
  const paragraphs: readonly [label: string, lines: readonly string[]][] = [
    ['Configuration', [report.configuration]],
    ['Benchmark', [`${report.benchmark}, ${whoseBenchmark(report)}`]],
    ['Model', [model.name, ...fileLines(report)]],
    ['Inputs', [...model.inputs.map((one) => listTensors([one])), ...freeAxesLines(model)]],
    ['Outputs', model.outputs.map((one) => listTensors([one]))],
    ['Provider', [report.provider]],
    ['Workers', hasModel(report) ? [`${report.workers}`] : []],
    ['Batching', [`${batchingText(report)} at most (--json says how)`]],
    ['Inference', [...sampleLines(report), ...inferences.map((one) => timesText(report, one))]],
    ['Memory', [`${(report.rssBytes / MIB).toFixed(0)} MiB resident, all threads together`]],
    ['Versions', [`longhaul ${report.longhaul}`, ...versions]],
    ['Settings', settingLines(report)],
  ];
  return paragraphs
    .filter(([, lines]) => lines.length > 0)
    .flatMap(([label, lines]) =>
      lines.map((line, i) => `${(i === 0 ? label : '').padEnd(LABEL_WIDTH)}${line}\n`),
    )
    .join('');
}

/** A payload has no shapes: only one length follows from its number of bytes. */
function freeAxesLines({ freeAxes }: NodeCheckReport['model']): string[] {
  if (freeAxes < 2) return [];
  return [
    `a sample has one length in its ${freeAxes} free axes: it follows from the bytes of its payload`,
  ];
}

/** The settings that have a value and an effect. */
function settingLines({ settings, benchmark }: NodeCheckReport): string[] {
  return Object.entries(settings)
    .filter(
      ([name, value]) => value !== '' && (benchmark === 'delay' || !name.startsWith('delay.')),
    )
    .map(([name, value]) => `${name} = ${value}`);
}

function sampleLines({ sample, inferences }: NodeCheckReport): string[] {
  if (sample === null) return [];
  const tokens = inferences[0]?.tokenCount ?? null;
  // The model itself ends its answers. If they have few tokens, prompts take most of the time.
  const answer = tokens === null ? '' : `, answered with ${counted(tokens, 'output token')} each`;
  return [`samples: ${sample.form}, ${sample.bytes} bytes each${answer}`];
}

/**
 * False for the benchmarks without a model: they have no file and no workers, and their rate
 * follows from the settings.
 */
function hasModel({ model }: NodeCheckReport): boolean {
  return model.file !== null;
}

function fileLines(report: NodeCheckReport): string[] {
  const { file, sha256 } = report.model;
  if (file === null) return [];
  return [file, ...(sha256 === '' ? [] : [`SHA-256 ${sha256}`]), kindOf(report)];
}

function whoseBenchmark({ benchmark, isOfficial }: NodeCheckReport): string {
  if (benchmark === OWN_BENCHMARK) return 'a model and data of your own';
  return isOfficial ? 'of MLPerf' : 'an example of this project';
}

/** Kind of the model; the name of a run's result depends on it. */
function kindOf({ benchmark, isOfficial, model }: NodeCheckReport): string {
  if (benchmark === OWN_BENCHMARK)
    return 'your own model: there is no reference to compare it with';
  if (model.isStandIn) return "a stand-in: not known to be the benchmark's own model";
  return isOfficial
    ? 'the reference model of the benchmark, known by its checksum'
    : "the benchmark's own model";
}

function batchingText({ isGenerating, batchSizeMax }: NodeCheckReport): string {
  return isGenerating
    ? `${counted(batchSizeMax, 'sequence')} side by side in a worker`
    : `${counted(batchSizeMax, 'sample')} in one inference`;
}

/** The samples of a worker at once, in words. */
function whatOf(isGenerating: boolean, batchSize: number): string {
  return isGenerating ? counted(batchSize, 'sequence') : `batch of ${batchSize}`;
}

function timesText(
  report: NodeCheckReport,
  { batchSize, computeNs, totalNs, tokenCount }: InferenceTimes,
): string {
  const ms = (ns: number): string =>
    `${ns < 1e9 ? (ns / 1e6).toPrecision(3) : Math.round(ns / 1e6)} ms`;
  const { isGenerating } = report;
  if (!hasModel(report)) return `${whatOf(isGenerating, batchSize)}: ${ms(totalNs)} in all`;
  const perSecond = (count: number): number => Number(((count * 1e9) / totalNs).toPrecision(3));
  const tokens =
    tokenCount === null
      ? ''
      : ` and ${perSecond(batchSize * tokenCount)} output tokens/s (prompts included)`;
  return `${whatOf(isGenerating, batchSize)}: ${ms(computeNs)} in the model, ${ms(totalNs)} in all, ${perSecond(batchSize)} samples/s${tokens} of one worker`;
}
