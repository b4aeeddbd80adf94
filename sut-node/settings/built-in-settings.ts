import {
  NULL_BYTES_MAX,
  NULL_RESPONSE_BYTES_DEFAULT,
} from '../../shared/benchmarks/null-benchmark.ts';
import { count, optional, type Setting, type SettingValues } from '../../shared/config/setting.ts';

/** What models without ONNX do: null, ... */
export interface BuiltInSettings {
  /** Bytes of each response of the benchmark `null`; undefined: its default. */
  readonly responseBytes: number | undefined;
}

/** Settings of models without ONNX, by key of the configuration file. */
export const BUILT_IN_OPTIONS: {
  readonly responseBytes: Setting<number | undefined>;
} = {
  responseBytes: optional(
    count(
      { min: 0, max: NULL_BYTES_MAX },
      `benchmark null: bytes of each response (default: ${NULL_RESPONSE_BYTES_DEFAULT})`,
    ),
  ),
};

/** Effective options as settings of models without ONNX. */
export function toBuiltInSettings(values: SettingValues<typeof BUILT_IN_OPTIONS>): BuiltInSettings {
  return { responseBytes: values.responseBytes };
}
