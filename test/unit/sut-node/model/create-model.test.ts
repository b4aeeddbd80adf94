import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../shared/process/logger.ts';
import { createModel } from '../../../../sut-node/model/create-model.ts';
import type { SutSettings } from '../../../../sut-node/settings/sut-settings.ts';
import { TEST_SETTINGS } from '../../../support/test-sut-node.ts';

// Goal: every benchmark that can be chosen has a model on the SUT node, and a setting that it would
// ignore is refused. Method: settings in, model or error out.

const create = (settings: Partial<SutSettings>) =>
  createModel({ ...TEST_SETTINGS, ...settings }, silentLogger, {});

describe('createModel', () => {
  it.each(['digits', 'null'])('finds %s', async (benchmark) => {
    expect((await create({ benchmark })).rules.key).toBe(benchmark);
  });

  it.each<[string, Partial<SutSettings>, RegExp]>([
    ['a model file for null', { benchmark: 'null', model: 'a.onnx' }, /--model a\.onnx.*null/],
    [
      'worker processes for null',
      { benchmark: 'null', isolation: 'process' },
      /--isolation process.*no workers/,
    ],
    ['a response size for digits', { responseBytes: 9 }, /--response-bytes 9.*null only.*digits/],
  ])('refuses %s', async (_case, settings, message) => {
    await expect(create(settings)).rejects.toThrow(
      expect.objectContaining({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringMatching(message),
      }),
    );
  });
});
