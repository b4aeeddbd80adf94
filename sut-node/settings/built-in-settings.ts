import { count, optional, type SettingValues } from '../../shared/config/setting.ts';
import {
  SYNTHETIC_BYTES_MAX,
  SYNTHETIC_RESPONSE_BYTES_DEFAULT,
} from '../../shared/rules/rows/synthetic-samples.ts';
import { DELAY_OPTIONS, type DelaySettings, toDelaySettings } from './delay-settings.ts';

/** What models without ONNX do: null, echo, delay. */
export interface BuiltInSettings {
  /** Bytes of each response of the benchmarks `null` and `delay`; undefined: their default. */
  readonly responseBytes: number | undefined;
  readonly delay: DelaySettings;
}

/** Settings of models without ONNX, by key of the configuration file. */
export const BUILT_IN_OPTIONS = {
  responseBytes: optional(
    count(
      { min: 0, max: SYNTHETIC_BYTES_MAX },
      `benchmarks null, delay: bytes of each response (default: ${SYNTHETIC_RESPONSE_BYTES_DEFAULT})`,
    ),
  ),
  ...DELAY_OPTIONS,
};

/** Effective options as settings of models without ONNX. */
export function toBuiltInSettings(values: SettingValues<typeof BUILT_IN_OPTIONS>): BuiltInSettings {
  return { responseBytes: values.responseBytes, delay: toDelaySettings(values) };
}
