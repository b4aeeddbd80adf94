import { NULL_RESPONSE_BYTES_DEFAULT } from '../../shared/benchmarks/null-benchmark.ts';
import { timerClock } from '../../shared/clock/timer-clock.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { sutBenchmark } from '../benchmarks/registry.ts';
import type { SutBenchmark } from '../benchmarks/sut-benchmark.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import { spawnOrtProcess } from '../workers/worker-process.ts';
import { type SpawnWorker, spawnOrtWorker } from '../workers/worker-thread.ts';
import { NullModel } from './null-model.ts';
import { OnnxModel } from './onnx-model.ts';
import type { SutModel } from './sut-model.ts';

/** Parts that tests exchange. @internal */
export interface SutNodeParts {
  readonly benchmark: SutBenchmark;
  readonly spawn: SpawnWorker;
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
  const { model, responseBytes, responseCompression } = settings;
  if (settings.benchmark === 'null') {
    if (model !== undefined) {
      throw new MlperfError('ERR_CONFIG_INVALID', `--model ${model}: benchmark null has no model`);
    }
    if (responseCompression !== 'identity') {
      throw new MlperfError(
        'ERR_CONFIG_INVALID',
        `--response-compression ${responseCompression}: benchmark null compresses nothing`,
      );
    }
    if (settings.isolation !== 'thread') {
      throw new MlperfError(
        'ERR_CONFIG_INVALID',
        `--isolation ${settings.isolation}: benchmark null has no workers`,
      );
    }
    return new NullModel(timerClock, responseBytes ?? NULL_RESPONSE_BYTES_DEFAULT);
  }
  const benchmark = parts.benchmark ?? (await sutBenchmark(settings.benchmark));
  if (responseBytes !== undefined) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `--response-bytes ${responseBytes} is for the benchmark null only; this one is ${benchmark.rules.key}`,
    );
  }
  const spawn = settings.isolation === 'process' ? spawnOrtProcess : spawnOrtWorker;
  return new OnnxModel({ settings, benchmark, spawn: parts.spawn ?? spawn, logger });
}
