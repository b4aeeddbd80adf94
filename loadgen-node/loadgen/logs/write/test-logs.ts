import { join } from 'node:path';
import { type MlperfError, outputError } from '../../../../shared/base/errors/mlperf-error.ts';
import { makeFolder } from '../../../../shared/base/files/read-file.ts';
import { printText } from '../../../../shared/base/process/terminal.ts';
import { asPlainText } from '../../../../shared/base/text.ts';
import { DetailLog } from './detail-log.ts';
import { AccuracyLog, LogFile, TraceLog } from './log-file.ts';
import { countsText } from './summary-log.ts';

/** All log files of a test, open from before the first query until the end. */
export class TestLogs {
  readonly detail: DetailLog;
  readonly accuracy: AccuracyLog;
  readonly paths: LogFiles;
  /** Date and time of the test, in whole seconds, UTC. */
  readonly datetime: string;
  /** Null without a trace; the trace file is then empty. */
  readonly trace: TraceLog | null;
  readonly #print: (text: string) => void;
  readonly #files: readonly LogFile[];
  readonly #summary: LogFile;
  #isEnded = false;

  /**
   * Creates the folder and opens all files; replaces files of an earlier test.
   * @param elapsedNs Time since logging began, in ns.
   * @throws MlperfError `ERR_OUTPUT` with the path and the reason.
   */
  constructor(settings: LogSettings, elapsedNs: () => number) {
    createFolder(settings.outdir);
    this.datetime = `${new Date().toISOString().slice(0, 19)}Z`;
    this.paths = pathsOf(settings, this.datetime);
    this.#print = settings.print ?? ((text) => printText(process.stdout, text));
    const { copyDetailToStdout = false, copySummaryToStdout = false } = settings;
    const files: LogFile[] = [];
    const open = (path: string, isCopied = false): LogFile => {
      const file = new LogFile(path, isCopied ? this.#print : null);
      files.push(file);
      return file;
    };
    try {
      this.#summary = open(this.paths.summary, copySummaryToStdout);
      this.detail = new DetailLog(open(this.paths.detail, copyDetailToStdout), elapsedNs);
      this.accuracy = new AccuracyLog(open(this.paths.accuracy));
      const traceFile = open(this.paths.trace);
      this.trace =
        settings.enableTrace === true ? new TraceLog(traceFile, Date.now() * 1000) : null;
    } catch (error) {
      for (const file of files) file.close();
      throw error;
    }
    this.#files = files;
  }

  /** Prints a text for people, outside the logs. */
  print(text: string): void {
    this.#print(text);
  }

  appendSummary(text: string): void {
    // Reasons may quote a server: its text must not control the terminal of a reader.
    this.#summary.append(asPlainText(text));
  }

  /** Ends the accuracy log, so that it can be read while the other logs are still open. */
  endAccuracy(): void {
    this.accuracy.end();
    this.flush();
  }

  /** One failure (`ERR_OUTPUT`) per incomplete file. */
  get failures(): MlperfError[] {
    return this.#files.flatMap(({ failure }) => failure ?? []);
  }

  /**
   * Call before the first query: a disk that fills up later costs logs, not the result. @throws
   * MlperfError `ERR_OUTPUT`
   */
  requireWhole(): void {
    for (const failure of this.failures) throw failure;
  }

  /** Writes what is buffered. */
  flush(): void {
    for (const file of this.#files) file.flush();
  }

  /**
   * Writes the closing lines and closes all files, including failed ones. Further calls have no
   * effect.
   */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#summary.append(countsText(this.detail.warningCount, this.detail.errorCount));
    this.accuracy.end();
    this.trace?.end();
    for (const file of this.#files) file.close();
  }
}

function pathsOf(
  { outdir, prefix = 'mlperf_log_', suffix = '', prefixWithDatetime = false }: LogSettings,
  datetime: string,
): LogFiles {
  const begin = prefixWithDatetime ? `${prefix}${datetime}_` : prefix;
  return {
    summary: join(outdir, `${begin}summary${suffix}.txt`),
    detail: join(outdir, `${begin}detail${suffix}.txt`),
    accuracy: join(outdir, `${begin}accuracy${suffix}.json`),
    trace: join(outdir, `${begin}trace${suffix}.json`),
  };
}

/** Paths of the log files of a test. */
export interface LogFiles {
  readonly summary: string;
  readonly detail: string;
  readonly accuracy: string;
  readonly trace: string;
}

function createFolder(path: string): void {
  try {
    makeFolder(path);
  } catch (error) {
    throw outputError(`cannot create the output folder ${path}`, error);
  }
}

/** Where the log files of a test go (LoadGen: LogOutputSettings). */
export interface LogSettings {
  /** Output folder; created if missing. */
  readonly outdir: string;
  /** Prefix of every file name. Default: `mlperf_log_`. */
  readonly prefix?: string;
  /** Suffix of every file name, before its extension. Default: empty. */
  readonly suffix?: string;
  /** True: date and time of the test follow the prefix. Default: false. */
  readonly prefixWithDatetime?: boolean;
  /** True: the detail log is printed as well, outside the timed region. Default: false. */
  readonly copyDetailToStdout?: boolean;
  readonly copySummaryToStdout?: boolean;
  /**
   * True: writes the events of the run to the trace file. Default: false (LoadGen: true), since a
   * trace of a long run is large; the file is then empty.
   */
  readonly enableTrace?: boolean;
  /** Prints copies and timestamps. Default: to stdout. */
  readonly print?: (text: string) => void;
}
