import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { notInstalled } from '../base/errors/mlperf-error.ts';
import { installableName } from '../base/files/package-files.ts';

/** The package that runs models: an optional peer, so that a LoadGen node is installed without it (deploy/README.md). */
const ONNX_RUNTIME = 'onnxruntime-node';

/**
 * How it is installed here. On this one platform the package fetches CUDA libraries when it is installed, and cannot be
 * installed where their server is out of reach; inference on the processor needs none of them.
 */
export function onnxRuntimeInstallCommand(): string {
  const isFetching = process.platform === 'linux' && process.arch === 'x64';
  const skip = isFetching ? 'ONNXRUNTIME_NODE_INSTALL=skip ' : '';
  return `${skip}npm install ${installableName(ONNX_RUNTIME)}`;
}

/** What is said where it is absent. */
export function absentOnnxRuntimeText(): string {
  return `the package ${ONNX_RUNTIME} is not installed: run "${onnxRuntimeInstallCommand()}"`;
}

/**
 * For a verb that starts a SUT node of a model itself: said before the node is started, whose end would only be told.
 * @throws MlperfError `ERR_NOT_INSTALLED`
 */
export function requireOnnxRuntime(): void {
  const folders = createRequire(import.meta.url).resolve.paths(ONNX_RUNTIME) ?? [];
  if (folders.some((folder) => existsSync(join(folder, ONNX_RUNTIME, 'package.json')))) return;
  throw notInstalled(absentOnnxRuntimeText());
}
