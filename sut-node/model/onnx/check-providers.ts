import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import type { Provider } from '../../settings/model-settings.ts';
import { GraphBuilder } from './graph-builder.ts';
import type { OnnxRuntime } from './onnxruntime.ts';

/**
 * Libraries of the CUDA provider, which the package has no room for: its install script fetches them. This
 * project skips that script, since it makes an installation without internet fail.
 */
const CUDA_LIBRARIES = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'];

/**
 * Checks, before a model is loaded, that ONNX Runtime can compute on each of these providers here: it knows it, its
 * libraries are there, and a session of one operator can be made on it alone.
 * @throws MlperfError `ERR_NOT_INSTALLED` that tells what is missing and how to get it.
 */
export async function checkProviders(
  ort: OnnxRuntime,
  providers: readonly Provider[],
): Promise<void> {
  const known = ort.listSupportedBackends().map(({ name }) => name);
  for (const provider of providers) {
    if (!known.includes(provider)) {
      throw new MlperfError(
        'ERR_NOT_INSTALLED',
        `--providers ${provider}: onnxruntime-node for ${process.platform}-${process.arch} does not ` +
          `have it; there is: ${known.join(', ')}`,
      );
    }
    if (provider === 'cuda') checkCudaLibraries();
    if (provider !== 'cpu') await tryProvider(ort, provider);
  }
}

/** A refusal of the user's model could mean anything; one of the smallest model means the provider. */
async function tryProvider({ InferenceSession }: OnnxRuntime, provider: Provider): Promise<void> {
  const graph = new GraphBuilder('probe');
  const x = graph.input('x', 'float', ['N', 4]);
  graph.output(graph.operator('Abs', [x], {}, 'y'), 'float', ['N', 4]);
  try {
    const session = await InferenceSession.create(graph.build('probe of a provider'), {
      executionProviders: [provider],
      extra: { session: { disable_cpu_ep_fallback: '1' } },
    });
    await session.release();
  } catch (error) {
    throw new MlperfError(
      'ERR_NOT_INSTALLED',
      `--providers ${provider}: ONNX Runtime cannot use it on this machine (${messageOf(error)}); ` +
        NEEDS[provider],
      { cause: error },
    );
  }
}

/** What a provider needs beside ONNX Runtime's own libraries. */
const NEEDS: Readonly<Record<Provider, string>> = {
  cpu: 'it needs nothing else',
  cuda:
    'it needs an NVIDIA GPU with its driver, and CUDA 12 and cuDNN 9 where the loader finds them ' +
    '(LD_LIBRARY_PATH)',
  webgpu: 'it needs a GPU with a Vulkan driver (Linux: libvulkan.so.1 and the driver of the GPU)',
};

function checkCudaLibraries(): void {
  const require = createRequire(import.meta.url);
  const root = dirname(require.resolve('onnxruntime-node/package.json'));
  const folder = join(root, 'bin', 'napi-v6', process.platform, process.arch);
  const missing = CUDA_LIBRARIES.filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return;
  throw new MlperfError(
    'ERR_NOT_INSTALLED',
    `--providers cuda: ${missing.join(' and ')} missing in ${folder}: they are not part of the package. ` +
      `To get them, with internet: node ${join(root, 'script', 'install.js')} ` +
      `--onnxruntime-node-install=cuda12; ${NEEDS.cuda}`,
  );
}
