import type { Logger } from '../../shared/base/process/logger.ts';
import { sutBenchmark } from '../benchmarks/registry.ts';
import type { SutBenchmark } from '../benchmarks/sut-benchmark.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import type { SutModel } from './batcher/sut-model.ts';
import { createBuiltInModel } from './built-in/built-in-models.ts';
import { OnnxModel } from './onnx-model.ts';
import { spawnOrtProcess } from './workers/worker-process.ts';
import { type SpawnWorker, spawnOrtWorker } from './workers/worker-thread.ts';

/** Parts that tests exchange. @internal */
export interface SutNodeParts {
  readonly benchmark: SutBenchmark;
  readonly spawn: SpawnWorker;
  /** A model in place of the one that the settings ask for. */
  readonly model: SutModel;
}

/**
 * The model that the settings ask for; nothing is loaded yet.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN`, `ERR_CONFIG_INVALID` for a setting that this benchmark
 *   would ignore
 */
export async function createModel(
  settings: SutSettings,
  logger: Logger,
  parts: Partial<SutNodeParts>,
): Promise<SutModel> {
  if (parts.model !== undefined) return parts.model;
  const builtIn = createBuiltInModel(settings);
  if (builtIn !== undefined) return builtIn;
  const benchmark = parts.benchmark ?? (await sutBenchmark(settings.benchmark));
  const spawn = settings.isolation === 'process' ? spawnOrtProcess : spawnOrtWorker;
  return new OnnxModel({ settings, benchmark, spawn: parts.spawn ?? spawn, logger });
}
