import { describe, expect, it } from 'vitest';
import { loadOnnxRuntime } from '../../../../../sut-node/model/onnx/onnxruntime.ts';

// Goal: ONNX Runtime is never loaded with its telemetry on.
// Method: look at the variable that it reads, after loading it here.
describe('loadOnnxRuntime', () => {
  it('turns the telemetry off, whatever the environment said before', async () => {
    process.env['ORT_DISABLE_TELEMETRY'] = '0';
    const { InferenceSession } = await loadOnnxRuntime();
    expect(process.env['ORT_DISABLE_TELEMETRY']).toBe('1');
    expect(InferenceSession.create).toBeTypeOf('function');
  });
});
