import type { LogFile } from './log-file.ts';

/** Values that an event says more of itself with. */
type TraceArguments = Readonly<Record<string, number>>;

/** Event of a chrome trace; times in ns since the origin. */
interface TraceEvent {
  readonly name: string;
  readonly phase: 'X' | 'b' | 'e' | 'C';
  readonly atNs: number;
  readonly durationNs?: number;
  /** Brings the two ends of a span together. */
  readonly id?: number;
  readonly args?: TraceArguments;
}

/**
 * `mlperf_log_trace.json`: events for chrome://tracing (LoadGen: logging.cc). Unlike LoadGen's it is
 * valid JSON; it is made from the records after a set, so that it costs the timed region nothing.
 */
export class TraceLog {
  readonly #file: LogFile;
  readonly #epochUs: number;

  /** @param epochUs Wall clock at the origin of all times, in us. */
  constructor(file: LogFile, epochUs: number) {
    this.#file = file;
    this.#epochUs = epochUs;
    file.append('{"traceEvents":[\n');
  }

  /** Work of LoadGen from `beginNs` on. */
  span(name: string, beginNs: number, durationNs: number, args: TraceArguments = {}): void {
    this.#event({ name, phase: 'X', atNs: beginNs, durationNs, args });
  }

  /** What a sample went through, beside other samples. */
  sampleSpan(name: string, beginNs: number, endNs: number, args: TraceArguments): void {
    const id = args['sample_seq'] ?? 0;
    this.#event({ name, phase: 'b', atNs: beginNs, id });
    this.#event({ name, phase: 'e', atNs: endNs, id, args });
  }

  /** Values that are drawn over time. */
  counter(name: string, atNs: number, args: TraceArguments): void {
    this.#event({ name, phase: 'C', atNs, args });
  }

  /** Ends the document; nothing may be written afterwards. */
  end(): void {
    this.#file.append(
      '{"name":"LastTrace"}\n],\n"displayTimeUnit":"ns",\n"otherData":{' +
        `"ts":${this.#epochUs},"version":"MLPerf LoadGen v1.0"}\n}\n`,
    );
  }

  #event({ name, phase, atNs, durationNs, id, args }: TraceEvent): void {
    const span = durationNs === undefined ? '' : `,"dur":${microseconds(durationNs)}`;
    const identity = id === undefined ? '' : `,"cat":"default","id":${id}`;
    const values = args === undefined ? '' : `,"args":${JSON.stringify(args)}`;
    this.#file.append(
      `{"name":"${name}","ph":"${phase}"${identity},"pid":${process.pid},"tid":${process.pid},` +
        `"ts":${microseconds(atNs)}${span}${values}},\n`,
    );
  }
}

/** Three decimals, as LoadGen. */
function microseconds(ns: number): string {
  return (ns / 1000).toFixed(3);
}
