import { choice, duration, type Setting, type SettingValues } from '../../shared/config/setting.ts';
import { LOG_LEVELS, type LogLevel } from '../../shared/process/logger.ts';

/** How the node is operated. */
export interface OperationsSettings {
  /** Longest time that a drain waits for outstanding samples, in ns. */
  readonly drainTimeoutNs: number;
}

/** Settings of operation, by key of the configuration file. */
export const OPERATIONS_OPTIONS: {
  readonly drainTimeout: Setting<number>;
  readonly logLevel: Setting<LogLevel>;
  readonly progress: Setting<'shown' | 'hidden'>;
} = {
  drainTimeout: duration('on SIGTERM: longest wait for outstanding samples', { fallback: '30s' }),
  logLevel: choice(LOG_LEVELS, 'operating log on stderr, one JSON line per event', {
    fallback: 'warn',
  }),
  progress: choice(['shown', 'hidden'], 'what the node is doing, on stderr', { fallback: 'shown' }),
};

/** Effective options as settings of operation; log and progress are the command's own. */
export function toOperationsSettings(
  values: SettingValues<typeof OPERATIONS_OPTIONS>,
): OperationsSettings {
  return { drainTimeoutNs: values.drainTimeout };
}
