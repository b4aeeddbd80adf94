import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../../../../shared/config/resolve-settings.ts';
import { MODEL_OPTIONS, toModelSettings } from '../../../../sut-node/settings/model-settings.ts';

function settings(flags: Record<string, string>) {
  const sources = { section: undefined, file: undefined, flags };
  const { values } = resolveSettings(MODEL_OPTIONS, sources);
  return toModelSettings({ ...values, benchmark: 'digits', batchPreset: 'none' });
}

// Goal: ONNX Runtime ignores threads for operators side by side unless it runs them so; the node
// does not.
describe('toModelSettings', () => {
  it('takes threads for operators side by side where there are any', () => {
    expect(settings({ interThreads: '2', executionMode: 'parallel' }).interThreads).toBe(2);
    expect(settings({ interThreads: '1' }).interThreads).toBe(1);
  });

  it('refuses them otherwise', () => {
    expect(() => settings({ interThreads: '2' })).toThrow(
      '--inter-threads 2 has no effect without --execution-mode parallel',
    );
  });
});
