import type { Attributes, HrTime, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import { loadOtel, type Otel } from './otel-packages.ts';
import { type EpochTime, later, type QueryTimes, sampledQueries } from './query-times.ts';
import type { QuerySpanIds, SpanIds } from './span-ids.ts';

/** Spans in one request to the receiver. */
const BATCH = 512;

/** Constants of OpenTelemetry's API: SpanKind.INTERNAL and CLIENT, SpanStatusCode.ERROR. */
const INTERNAL = 0;
const CLIENT = 2;
const ERROR = 2;

/** End of a run, for its span. */
export interface RunEnd {
  readonly attributes: Attributes;
  /** Why it broke off; undefined if it completed. */
  readonly failure?: string;
}

/** Number of exported spans; `problem`: why some were not exported. */
export interface ExportedSpans {
  readonly url: string;
  /** Includes the span of the run. */
  readonly spanCount: number;
  readonly exportedCount: number;
  readonly problem: string | undefined;
}

/**
 * Spans of one run: one for the run, and one per sampled query. They are made from the records and
 * exported after the clock has stopped.
 */
export class RunSpans {
  readonly #otel: Otel;
  readonly #ids: QuerySpanIds;
  readonly #nodes: readonly string[];
  readonly #began: HrTime = nowTime();
  readonly #queries: QueryTimes[] = [];

  private constructor(otel: Otel, ids: QuerySpanIds, nodes: readonly string[]) {
    this.#otel = otel;
    this.#ids = ids;
    this.#nodes = nodes;
  }

  /**
   * @param nodes Node addresses, in the order of their numbers.
   * @throws MlperfError as {@link loadOtel}
   */
  static async open(ids: QuerySpanIds, nodes: readonly string[]): Promise<RunSpans> {
    return new RunSpans(await loadOtel(), ids, nodes);
  }

  /** Stores the times of a set's sampled queries, untimed. */
  keep(set: RecordedSet): void {
    for (const times of sampledQueries(set, this.#ids)) this.#queries.push(times);
  }

  /** Exports all spans. Never throws: a missing receiver costs the spans, not the run. */
  async end(end: RunEnd): Promise<ExportedSpans> {
    const { exporter, url } = this.#otel;
    const maker = new SpanMaker(this.#otel);
    let exportedCount = 0;
    let problem: string | undefined;
    const send = async (): Promise<void> => {
      const spans = maker.take();
      if (problem !== undefined || spans.length === 0) return;
      problem = await new Promise<string | undefined>((resolve) => {
        exporter.export(spans, ({ code, error }) =>
          resolve(code === 0 ? undefined : (error?.message ?? 'no reason given')),
        );
      });
      if (problem === undefined) exportedCount += spans.length;
    };
    this.#makeRun(maker, end);
    for (const times of this.#queries) {
      this.#makeQuery(maker, times);
      if (maker.count >= BATCH) await send();
      if (problem !== undefined) break;
    }
    await send();
    await exporter.shutdown();
    return { url, spanCount: this.#queries.length + 1, exportedCount, problem };
  }

  #makeRun(maker: SpanMaker, { attributes, failure }: RunEnd): void {
    const span = maker.begin(this.#ids.ofRun, 'longhaul.run', {
      kind: INTERNAL,
      startTime: this.#began,
      attributes,
    });
    if (failure !== undefined) span.setStatus({ code: ERROR, message: failure });
    span.end(nowTime());
  }

  #makeQuery(maker: SpanMaker, times: QueryTimes): void {
    const at = (ns: number): HrTime => later(times.beganAt, ns);
    const span = maker.begin(times.ids, 'longhaul.query', {
      kind: CLIENT,
      startTime: at(times.scheduledNs),
      attributes: queryAttributes(times, this.#nodes),
      links: [{ context: { ...this.#ids.ofRun, traceFlags: 1 } }],
    });
    span.addEvent('issued', at(times.issuedNs));
    if (!Number.isNaN(times.sentNs)) span.addEvent('sent', at(times.sentNs));
    if (!Number.isNaN(times.firstTokenNs)) span.addEvent('first token', at(times.firstTokenNs));
    const { lostSamples } = times;
    if (lostSamples > 0) {
      span.setStatus({ code: ERROR, message: `no response to ${lostSamples} samples` });
    }
    const isOver = !Number.isNaN(times.completedNs);
    span.end(at(isOver ? times.completedNs : Math.max(times.issuedNs, times.sentNs || 0)));
  }
}

/**
 * Attributes of a query. Times since the start of the part are those of `longhaul_records.arrow`.
 */
function queryAttributes(times: QueryTimes, nodes: readonly string[]): Attributes {
  const node = nodes[times.node];
  const service = Object.entries(times.service).map(
    ([name, ns]) => [`longhaul.sut.${snakeCase(name)}`, Math.round(ns)] as const,
  );
  return {
    'longhaul.query.id': times.query,
    'longhaul.query.part': times.part,
    'longhaul.query.samples': [...times.sampleIndices],
    'longhaul.query.scheduled_ns': times.scheduledNs,
    'longhaul.query.issued_ns': times.issuedNs,
    ...(!Number.isNaN(times.sentNs) && { 'longhaul.query.sent_ns': times.sentNs }),
    ...(!Number.isNaN(times.completedNs) && { 'longhaul.query.completed_ns': times.completedNs }),
    ...(node !== undefined && { 'longhaul.node': node }),
    ...Object.fromEntries(service),
  };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function nowTime(): EpochTime {
  const ms = Date.now();
  const seconds = Math.floor(ms / 1e3);
  return [seconds, (ms - seconds * 1e3) * 1e6];
}

/** Makes spans with given ids through the SDK's tracer, and stores ended ones. */
class SpanMaker {
  #next: SpanIds = { traceId: '', spanId: '' };
  #ended: ReadableSpan[] = [];
  readonly #tracer: Tracer;

  constructor({ sdk, resource }: Otel) {
    const holder: SpanProcessor = {
      onStart: () => {},
      onEnd: (span) => void this.#ended.push(span),
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    const provider = new sdk.BasicTracerProvider({
      resource,
      // Sampling is decided when a query goes out, not by OTEL_TRACES_SAMPLER.
      sampler: new sdk.AlwaysOnSampler(),
      spanProcessors: [holder],
      idGenerator: {
        generateTraceId: () => this.#next.traceId,
        generateSpanId: () => this.#next.spanId,
      },
    });
    this.#tracer = provider.getTracer('longhaul', packageVersion());
  }

  begin(ids: SpanIds, name: string, options: SpanOptions): Span {
    this.#next = ids;
    return this.#tracer.startSpan(name, { ...options, root: true });
  }

  get count(): number {
    return this.#ended.length;
  }

  take(): ReadableSpan[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }
}
