/** Where the log files of a test go (LoadGen: LogOutputSettings). */
export interface LogSettings {
  /** Folder; it is created if it is not there. */
  readonly outdir: string;
  /** Beginning of every file name. Default: `mlperf_log_`. */
  readonly prefix?: string;
  /** End of every file name, before its extension. Default: empty. */
  readonly suffix?: string;
}
