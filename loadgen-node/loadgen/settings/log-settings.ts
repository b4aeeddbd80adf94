/** Where the log files of a test go (LoadGen: LogOutputSettings). */
export interface LogSettings {
  /** Folder; it is created if it is not there. */
  readonly outdir: string;
  /** Beginning of every file name. Default: `mlperf_log_`. */
  readonly prefix?: string;
  /** End of every file name, before its extension. Default: empty. */
  readonly suffix?: string;
  /** True: the date and time of the test follow the prefix. Default: false. */
  readonly prefixWithDatetime?: boolean;
  /** True: what goes to the file is printed as well, outside the timed region. Default: false. */
  readonly copyDetailToStdout?: boolean;
  readonly copySummaryToStdout?: boolean;
  /**
   * True: the events of the run go to the trace file. Default: false, unlike LoadGen's, since a trace of
   * a long run is large; the file is empty then.
   */
  readonly enableTrace?: boolean;
  /** Where copies and timestamps are printed. Default: stdout. */
  readonly print?: (text: string) => void;
}
