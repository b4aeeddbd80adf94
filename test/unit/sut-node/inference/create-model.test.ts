import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../shared/base/process/logger.ts';
import { SYNTHETIC_BENCHMARKS } from '../../../../shared/rules/benchmark-rules.ts';
import { createModel } from '../../../../sut-node/inference/create-model.ts';
import type { SutSettings } from '../../../../sut-node/settings/sut-settings.ts';
import { NO_DELAY, TEST_SETTINGS } from '../../../scenes/sut-node/sut-node.ts';

// Goal: every benchmark that can be chosen has a model on the SUT node, and a setting that it would
// ignore is refused. Method: settings in, model or error out.

const create = (settings: Partial<SutSettings>) =>
  createModel({ ...TEST_SETTINGS, ...settings }, silentLogger, {});

const TOKENS = { tokens: { kind: 'fixed', count: 3 }, firstTokenNs: 5, tokenNs: 1 } as const;

const DELAY_REFUSALS = (
  [
    ['two kinds of time', { ...TOKENS, model: { kind: 'fixed', ns: 1 } }, /choose one/],
    ['tokens without their times', { ...TOKENS, tokenNs: undefined }, /needs --delay-first-token/],
    ['token times without tokens', { tokenNs: 1 }, /need --delay-tokens <n>/],
    ['slower tokens without tokens', { perSequenceNs: 1 }, /need --delay-tokens <n>/],
    ['a token type without tokens', { tokenType: 'int32' }, /need --delay-tokens <n>/],
    ['a seed of nothing', { seed: 3 }, /--delay-seed 3 has no effect/],
    ['a seed of a fixed number of tokens', { ...TOKENS, seed: 3 }, /--delay-seed 3 has no effect/],
  ] as const
).map(([what, delay, message]): [string, Partial<SutSettings>, RegExp] => [
  `${what} for delay`,
  { benchmark: 'delay', delay: { ...NO_DELAY, ...delay } },
  message,
]);

describe('createModel', () => {
  it.each(['digits', ...SYNTHETIC_BENCHMARKS])('finds %s', async (benchmark) => {
    expect((await create({ benchmark })).rules.key).toBe(benchmark);
  });

  it('refuses a file that is not there before anything listens', async () => {
    await expect(create({ benchmark: 'digits', model: 'gone.onnx' })).rejects.toThrow(
      /gone\.onnx: there is no such file/,
    );
  });

  it('refuses a response size beside tokens', async () => {
    const delay = { ...NO_DELAY, ...TOKENS };
    await expect(create({ benchmark: 'delay', delay, responseBytes: 9 })).rejects.toThrow(
      /--response-bytes has no effect with --delay-tokens/,
    );
  });

  it.each<[string, Partial<SutSettings>, RegExp]>([
    ['a model file for null', { benchmark: 'null', model: 'a.onnx' }, /--model a\.onnx.*null/],
    [
      'compressed echoes',
      { benchmark: 'echo', responseCompression: 'lz4' },
      /echo has no compression/,
    ],
    [
      'worker processes for null',
      { benchmark: 'null', isolation: 'process' },
      /--isolation process.*no workers/,
    ],
    ['a provider for null', { benchmark: 'null', providers: ['cuda'] }, /--providers cuda.*null/],
    [
      'threads for echo',
      { benchmark: 'echo', threadsPerWorker: 2 },
      /--threads-per-worker 2.*no w/,
    ],
    ['batches for delay', { benchmark: 'delay', batchSizeAsked: 8 }, /--batch-size-max 8.*delay/],
    [
      'a preset of batches for delay',
      { benchmark: 'delay', batchPreset: 'offline', batchSizeMax: 32 },
      /--batch-preset offline.*no batch/,
    ],
    [
      'a wait for batches for delay',
      { benchmark: 'delay', batchDelayUsMax: 9 },
      /--batch-delay-us-max 9.*no batch/,
    ],
    [
      'sizes of batches for delay',
      { benchmark: 'delay', batchPreferredSizes: [2, 4] },
      /--batch-preferred-sizes 2,4.*no batch/,
    ],
    ['several workers for delay', { benchmark: 'delay', workerCount: 2 }, /--workers 2.*delay/],
    [
      'a response size for digits',
      { responseBytes: 9 },
      /--response-bytes is for null, delay only; this one is digits/,
    ],
    ['a response size for echo', { benchmark: 'echo', responseBytes: 9 }, /this one is echo/],
    [
      'a delay for null',
      { benchmark: 'null', delay: { ...NO_DELAY, concurrency: 2 } },
      /delay only/,
    ],
    ...DELAY_REFUSALS,
  ])('refuses %s', async (_case, settings, message) => {
    await expect(create(settings)).rejects.toThrow(
      expect.objectContaining({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringMatching(message),
      }),
    );
  });
});
