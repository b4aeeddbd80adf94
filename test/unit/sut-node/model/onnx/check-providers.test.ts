import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OnnxRuntime } from '../../../../../sut-node/model/onnx/onnxruntime.ts';
import { checkProviders } from '../../../../../sut-node/model/onnx/ort-session.ts';
import type { Provider } from '../../../../../sut-node/settings/model-settings.ts';

// Goal: a provider that cannot be used is refused before a model is loaded, in words that help.
// Method: ONNX Runtime as it is on machines with and without it.

function runtime(names: readonly string[], failure?: string) {
  const seen: unknown[] = [];
  const fake = {
    listSupportedBackends: () => names.map((name) => ({ name, bundled: true })),
    InferenceSession: {
      create: async (_model: Uint8Array, options: unknown) => {
        seen.push(options);
        if (failure !== undefined) throw new Error(failure);
        return { release: async () => {} };
      },
    },
  } as unknown as OnnxRuntime; // The two of its functions that are called.
  return { fake, seen };
}

const check = (providers: Provider[], ...[names, failure]: Parameters<typeof runtime>) =>
  checkProviders(runtime(names, failure).fake, providers);

afterEach(() => vi.unstubAllEnvs());

describe('checkProviders', () => {
  it('needs nothing for the CPU', async () => {
    const { fake, seen } = runtime(['cpu']);
    await checkProviders(fake, ['cpu']);
    expect(seen).toEqual([]);
  });

  it('tries a provider alone, without the CPU to fall back to', async () => {
    const { fake, seen } = runtime(['cpu', 'webgpu']);
    await checkProviders(fake, ['webgpu', 'cpu']);
    expect(seen).toEqual([
      { executionProviders: ['webgpu'], extra: { session: { disable_cpu_ep_fallback: '1' } } },
    ]);
  });

  it('refuses a provider that this binary does not have', async () => {
    await expect(check(['cuda'], ['cpu', 'webgpu'])).rejects.toMatchObject({
      code: 'ERR_NOT_INSTALLED',
      message: expect.stringMatching(
        /--providers cuda: .* does not have it; there is: cpu, webgpu/,
      ),
    });
  });

  it('refuses a provider that does not work here, with what it needs', async () => {
    await expect(check(['webgpu'], ['cpu', 'webgpu'], 'No adapters')).rejects.toMatchObject({
      code: 'ERR_NOT_INSTALLED',
      message: expect.stringMatching(/cannot use it on this machine \(No adapters\); .*Vulkan/),
    });
  });

  it('tells how to get TensorRT, whether its libraries are missing or do not load', async () => {
    await expect(check(['tensorrt'], ['cpu', 'tensorrt'], 'not loaded')).rejects.toMatchObject({
      code: 'ERR_NOT_INSTALLED',
      message: expect.stringMatching(
        /--providers tensorrt: .*(--onnxruntime-node-install=cuda12|\(not loaded\)); it needs .* TensorRT 10/,
      ),
    });
  });

  it('refuses variables of TensorRT that ONNX Runtime would not read', async () => {
    vi.stubEnv('ORT_TENSORRT_ENGINE_CACHE_ENABLE', '1');
    await expect(check(['tensorrt'], ['cpu', 'tensorrt'])).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(
        /ORT_TENSORRT_ENGINE_CACHE_ENABLE would have no effect\. onnxruntime-node passes no options/,
      ),
    });
  });

  it('tells how to get CUDA, whether its libraries are missing or do not load', async () => {
    await expect(check(['cuda'], ['cpu', 'cuda'], 'not loaded')).rejects.toMatchObject({
      code: 'ERR_NOT_INSTALLED',
      message: expect.stringMatching(
        /(--onnxruntime-node-install=cuda12|\(not loaded\)); it needs .* CUDA 12 and cuDNN 9/,
      ),
    });
  });
});
