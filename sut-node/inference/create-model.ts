import { type Clock, timerClock } from '../../shared/base/clock.ts';
import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import type { Logger } from '../../shared/base/process/logger.ts';
import { codecNamed } from '../../shared/compression/codec.ts';
import { flagOf } from '../../shared/config/setting.ts';
import { SYNTHETIC_RESPONSE_BYTES_DEFAULT } from '../../shared/rules/cards/synthetic.ts';
import { sutBenchmark } from '../benchmarks/registry.ts';
import type { SutBenchmark } from '../benchmarks/sut-benchmark.ts';
import { DELAY_CONCURRENCY_DEFAULT, type DelaySettings } from '../settings/delay-settings.ts';
import { DEFAULT_RUNTIME, runtimeSettings } from '../settings/model-settings.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import { DynamicBatcher } from './batcher/dynamic-batcher.ts';
import type { SutModel } from './batcher/sut-model.ts';
import {
  type DelayedAnswer,
  DelayModel,
  serviceTimes,
  tokenAnswers,
} from './built-in/delay-model.ts';
import {
  createConstantModel,
  createEchoModel,
  createNullModel,
} from './built-in/immediate-model.ts';
import { NappingClock } from './built-in/napping-clock.ts';
import { OnnxModel } from './onnx-model.ts';
import { spawnOrtProcess } from './workers/worker-process.ts';
import { type SpawnWorker, spawnOrtWorker } from './workers/worker-thread.ts';

/** Parts that tests may replace. @internal */
export interface SutNodeParts {
  readonly benchmark: SutBenchmark;
  readonly spawn: SpawnWorker;
  /** A model instead of the configured one. */
  readonly model: SutModel;
}

/** Parts of a model of the settings. */
interface ModelParts extends SutNodeParts {
  /**
   * Clock of the benchmark `delay`, with the node's common origin; without it the thread belongs to
   * the node alone, and sleeps.
   */
  readonly delayClock: Clock;
}

/**
 * The configured model, not loaded yet.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN`, `ERR_CONFIG_INVALID` for a setting that this
 * benchmark would ignore, `ERR_MODEL` for a missing file
 */
export async function createModel(
  settings: SutSettings,
  logger: Logger,
  parts: Partial<ModelParts>,
): Promise<SutModel> {
  if (parts.model !== undefined) return parts.model;
  const builtIn = createBuiltInModel(settings, parts.delayClock);
  if (builtIn !== undefined) return builtIn;
  const benchmark = parts.benchmark ?? (await sutBenchmark(settings.benchmark));
  const spawn = settings.isolation === 'process' ? spawnOrtProcess : spawnOrtWorker;
  const model = new OnnxModel({ settings, benchmark, spawn: parts.spawn ?? spawn, logger });
  // Check before the node announces its address.
  await model.checkFile();
  return model;
}

/** A model without ONNX. */
interface BuiltIn {
  /** True for the keys of {@link saidSettings} that it uses. */
  readonly heeds: (key: string) => boolean;
  readonly create: (settings: SutSettings, delayClock: Clock | undefined) => SutModel;
}

const isDelayKey = (key: string): boolean => key.startsWith('delay');

const BUILT_INS: Readonly<Record<string, BuiltIn>> = {
  null: {
    heeds: (key) => key === 'responseBytes',
    create: ({ responseBytes }) => createNullModel(timerClock, responseBytes),
  },
  echo: { heeds: () => false, create: () => createEchoModel(timerClock) },
  delay: {
    heeds: (key) => key === 'responseBytes' || isDelayKey(key),
    create: createDelayModel,
  },
};

/**
 * The model of a benchmark without ONNX; undefined for other benchmarks.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a setting that the benchmark would ignore
 */
function createBuiltInModel(
  settings: SutSettings,
  delayClock: Clock | undefined,
): SutModel | undefined {
  const { benchmark, model, responseCompression } = settings;
  const builtIn = Object.hasOwn(BUILT_INS, benchmark) ? BUILT_INS[benchmark] : undefined;
  for (const key of saidSettings(settings)) {
    if (builtIn?.heeds(key) === true) continue;
    const heedful = Object.keys(BUILT_INS).filter((name) => BUILT_INS[name]?.heeds(key) === true);
    throw configInvalid(
      `${flagOf(key)} is for ${heedful.join(', ')} only; this one is ${benchmark}`,
    );
  }
  if (builtIn === undefined) return undefined;
  if (model !== undefined)
    throw configInvalid(`--model ${model}: benchmark ${benchmark} has no model`);
  if (responseCompression !== 'identity') {
    throw configInvalid(
      `--response-compression ${responseCompression}: benchmark ${benchmark} has no compression`,
    );
  }
  for (const [key, value] of workerSettings(settings)) {
    throw configInvalid(`${flagOf(key)} ${value}: benchmark ${benchmark} has no workers`);
  }
  if (benchmark === 'delay') refuseBatches(settings);
  return builtIn.create(settings, delayClock);
}

/** Each server of `delay` takes a single sample, so no sample waits for another. */
function refuseBatches(settings: SutSettings): void {
  const { batchSizeAsked, batchPreset, batchSizeMax, batchDelayUsMax, batchPreferredSizes } =
    settings;
  const isOfPreset = batchSizeAsked === undefined && batchSizeMax > 1 && batchPreset !== 'none';
  const said =
    ((batchSizeAsked ?? 1) > 1 && `--batch-size-max ${batchSizeAsked}`) ||
    (isOfPreset && `--batch-preset ${batchPreset}`) ||
    (batchPreferredSizes.length > 0 &&
      `--batch-preferred-sizes ${batchPreferredSizes.join(',')}`) ||
    (batchDelayUsMax > 0 && `--batch-delay-us-max ${batchDelayUsMax}`);
  if (said === false) return;
  throw configInvalid(`${said}: benchmark delay serves each sample by itself, in no batch`);
}

/** Keys of the built-in models' settings that are set. */
function saidSettings({ responseBytes, delay }: SutSettings): readonly string[] {
  const entries = [
    ['responseBytes', responseBytes],
    ['delayModel', delay.model],
    ['delaySeed', delay.seed],
    ['delayConcurrency', delay.concurrency],
    ['delayTokens', delay.tokens],
    ['delayFirstToken', delay.firstTokenNs],
    ['delayToken', delay.tokenNs],
    ['delayTokenPerSequence', delay.perSequenceNs],
    ['delayTokenType', delay.tokenType],
  ] as const;
  return entries.filter(([, value]) => value !== undefined).map(([key]) => key);
}

/** Keys and values of worker and ONNX Runtime settings that differ from their defaults. */
function workerSettings(settings: SutSettings): readonly (readonly [string, string])[] {
  const { workerCount, isolation } = settings;
  const said = { workers: workerCount, isolation, ...runtimeSettings(settings) };
  const unsaid = { workers: 1, isolation: 'thread', ...DEFAULT_RUNTIME };
  const textsUnsaid = new Map(Object.entries(unsaid).map(([key, value]) => [key, String(value)]));
  return Object.entries(said)
    .map(([key, value]) => [key, String(value)] as const)
    .filter(([key, text]) => text !== textsUnsaid.get(key));
}

function createDelayModel(
  { delay, responseBytes }: SutSettings,
  clock: Clock = new NappingClock(),
): DelayModel {
  const shared = {
    clock,
    concurrency: delay.concurrency ?? DELAY_CONCURRENCY_DEFAULT,
  };
  const { tokens: counts } = delay;
  if (counts === undefined) {
    const bytes = responseBytes ?? SYNTHETIC_RESPONSE_BYTES_DEFAULT;
    const answers = plainAnswers(delay, bytes);
    return new DelayModel({ ...shared, answers });
  }
  if (responseBytes !== undefined) {
    throw configInvalid(
      '--response-bytes has no effect with --delay-tokens: tokens are the response',
    );
  }
  const answers = withTokens(delay, counts);
  const { perSequenceNs = 0 } = delay;
  return new DelayModel({ ...shared, perSequenceNs, answers });
}

/** Answers of zeros, after a time. */
function plainAnswers(
  { model = { kind: 'fixed', ns: 10_000_000 }, seed, ...tokens }: DelaySettings,
  responseBytes: number,
): () => Promise<() => DelayedAnswer> {
  const { firstTokenNs, tokenNs, perSequenceNs, tokenType } = tokens;
  if ((firstTokenNs ?? tokenNs ?? perSequenceNs ?? tokenType) !== undefined) {
    throw configInvalid(
      '--delay-first-token, --delay-token, --delay-token-per-sequence and --delay-token-type need --delay-tokens <n>',
    );
  }
  refuseSeed(seed, model.kind === 'exponential');
  const payload = new Uint8Array(responseBytes);
  return async () => {
    const next = await serviceTimes(model, seed ?? 0);
    return () => ({ atNs: next(), payload, tokens: undefined });
  };
}

function withTokens(
  { model, seed, firstTokenNs, tokenNs, tokenType: type = 'int64' }: DelaySettings,
  counts: NonNullable<DelaySettings['tokens']>,
): () => Promise<() => DelayedAnswer> {
  if (model !== undefined) {
    throw configInvalid(
      '--delay-model and --delay-tokens: choose one; with tokens, --delay-first-token and --delay-token are the time',
    );
  }
  if (firstTokenNs === undefined || tokenNs === undefined) {
    throw configInvalid(
      '--delay-tokens needs --delay-first-token <duration> and --delay-token <duration>',
    );
  }
  refuseSeed(seed, counts.kind === 'uniform');
  return () => tokenAnswers({ counts, seed: seed ?? 0, firstTokenNs, tokenNs, type });
}

function refuseSeed(seed: number | undefined, isRandom: boolean): void {
  if (seed === undefined || isRandom) return;
  throw configInvalid(
    `--delay-seed ${seed} has no effect: only exponential times and uniform token counts are random`,
  );
}

/** Bytes of the response to a sample of a warm-up, before compression. */
const WARM_UP_RESPONSE_BYTES = 16;

/** Answers warm-up samples at once: model, queue and workers are not involved. */
export function warmUpBatcher(settings: SutSettings, queueSamplesMax: number): DynamicBatcher {
  const codec = codecNamed(settings.responseCompression);
  const response = codec.compress(new Uint8Array(WARM_UP_RESPONSE_BYTES));
  return new DynamicBatcher({
    policy: { batchSizeMax: 1, batchDelayNsMax: 0, preferredSizes: [1] },
    queueSamplesMax,
    clock: timerClock,
    workers: createConstantModel(timerClock, response),
  });
}
