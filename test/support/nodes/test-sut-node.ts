import { onTestFinished } from 'vitest';
import type { Open } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import { type Logger, silentLogger } from '../../../shared/base/process/logger.ts';
import { EVALUATION_SET } from '../../../shared/benchmarks/digits/digit-sets.ts';
import { type RenderedDigit, renderDigit } from '../../../shared/benchmarks/digits/draw-digit.ts';
import type { PartSample } from '../../../shared/wire/part-codec.ts';
import type { SutNodeParts } from '../../../sut-node/inference/create-model.ts';
import type { DelaySettings } from '../../../sut-node/settings/delay-settings.ts';
import { DEFAULT_RUNTIME } from '../../../sut-node/settings/model-settings.ts';
import type { SutSettings } from '../../../sut-node/settings/sut-settings.ts';
import { type SutNode, startSutNode } from '../../../sut-node/sut-node.ts';
import { testCacheFolder } from '../../scenes/host/folders.ts';
import { InferClient, wholeSample } from './infer-client.ts';

/** Settings of the benchmark delay where nothing is said. */
export const NO_DELAY: DelaySettings = {
  model: undefined,
  seed: undefined,
  concurrency: undefined,
  tokens: undefined,
  firstTokenNs: undefined,
  tokenNs: undefined,
  tokenType: undefined,
};

/** Settings of a small node on a free port of loopback. */
export const TEST_SETTINGS: SutSettings = {
  benchmark: 'digits',
  listen: { host: '127.0.0.1', port: 0 },
  node: 'sut-a',
  model: undefined,
  responseBytes: undefined,
  delay: NO_DELAY,
  workerCount: 1,
  ...DEFAULT_RUNTIME,
  isolation: 'thread',
  workerStartTimeoutNs: 60e9,
  batchPreset: 'none',
  batchSizeMax: 8,
  batchSizeAsked: undefined,
  batchDelayUsMax: 0,
  batchPreferredSizes: [],
  queueBytesMax: 64 * 1024 * 1024,
  sampleBytesMax: undefined,
  queueSamplesMax: 4_096,
  messageBytesMax: 16 * 1024 * 1024,
  receiveWindowBytes: 4 * 1024 * 1024,
  responseCompression: 'identity',
  drainTimeoutNs: 10e9,
  hasReflection: true,
  hasOip: true,
  tellsSystemFacts: true,
  allowsLinkTest: true,
  healthListen: undefined,
  metricsListen: undefined,
  cacheFolder: testCacheFolder(),
  tlsCert: undefined,
  tlsKey: undefined,
  tlsClientCa: undefined,
  tokenFile: undefined,
  handshakeTimeoutNs: 10e9,
};

/** Opens a stream of JPEG samples. */
export const JPEG_OPEN: Open = {
  protocolVersion: 1,
  runId: 'run-1',
  benchmark: 'digits',
  division: 'DIVISION_NETWORK',
  encodings: [{ form: 'jpeg', compression: 'identity' }],
  responseEncodings: [{ form: 'raw', compression: 'identity' }],
};

/** Opens a stream of raw samples. */
export const RAW_OPEN: Open = {
  ...JPEG_OPEN,
  encodings: [{ form: 'raw', compression: 'identity' }],
};

/** Starts a node of the digits benchmark that is stopped when the running test ends. */
export async function startTestNode(
  settings: Partial<SutSettings> = {},
  parts?: Partial<SutNodeParts>,
  logger: Logger = silentLogger,
): Promise<SutNode> {
  const hooks = { onProgress: () => {}, logger };
  const node = await startSutNode({ ...TEST_SETTINGS, ...settings }, hooks, parts);
  onTestFinished(() => node.stop());
  return node;
}

/** Opens a stream that is cancelled when the running test ends. */
export async function openStream(node: SutNode, open: Open): Promise<InferClient> {
  const client = new InferClient(node.address, open);
  onTestFinished(() => client.cancel());
  await client.opened;
  return client;
}

/** Image `index` of the evaluation set. */
export function digit(index: number): RenderedDigit {
  return renderDigit(EVALUATION_SET, index);
}

/** The first image of the evaluation set, many times, with ids from `firstId` on. */
export function rawSamples(count: number, firstId = 0): PartSample[] {
  const { rgb } = digit(0);
  return Array.from({ length: count }, (_, i) => wholeSample(firstId + i, rgb));
}
