import { onTestFinished } from 'vitest';
import type { Open } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import { type Logger, silentLogger } from '../../../shared/base/process/logger.ts';
import { type RenderedDigit, renderDigit } from '../../../shared/benchmarks/digits/draw-digit.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import { EVALUATION_SET } from '../../../shared/rules/cards/digits.ts';
import type { PartSample } from '../../../shared/wire/part-codec.ts';
import type { SutNodeParts } from '../../../sut-node/inference/create-model.ts';
import { GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';
import {
  SUT_OPTIONS,
  type SutSettings,
  toSutSettings,
} from '../../../sut-node/settings/sut-settings.ts';
import { type SutNode, startSutNode } from '../../../sut-node/sut-node.ts';
import { testCacheFolder } from '../host/folders.ts';
import { InferClient, wholeSample } from './sut-client.ts';

const { values } = resolveSettings(SUT_OPTIONS, {
  section: 'sut',
  file: undefined,
  flags: { benchmark: 'digits', node: 'sut-a', listen: '127.0.0.1:0', workers: '1' },
});

/**
 * Settings of a small node on a free port of loopback: the program's defaults with less room and
 * shorter waits.
 */
export const TEST_SETTINGS: SutSettings = {
  ...toSutSettings(values),
  workerStartTimeoutNs: 60e9,
  batchSizeMax: 8,
  queueBytesMax: 64 * 1024 * 1024,
  queueSamplesMax: 4_096,
  messageBytesMax: 16 * 1024 * 1024,
  receiveWindowBytes: 4 * 1024 * 1024,
  drainTimeoutNs: 10e9,
  cacheFolder: testCacheFolder(),
};

/** The benchmark delay without any. */
export const { delay: NO_DELAY } = TEST_SETTINGS;

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

/**
 * A real ONNX model that has nothing to do with any benchmark: 4 pixels in, their absolute values
 * out.
 */
export function otherModel(): Uint8Array {
  const graph = new GraphBuilder('other');
  const pixels = graph.input('pixels', 'float', ['N', 4]);
  graph.output(graph.operator('Abs', [pixels], {}, 'absolute'), 'float', ['N', 4]);
  return graph.build('not a benchmark');
}
