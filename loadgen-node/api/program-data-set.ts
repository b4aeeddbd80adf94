import { scoreEach } from '../samples/benchmarks/score-each.ts';
import type {
  AccuracyEntry,
  AccuracyReport,
  DataSet,
  NamedQuality,
} from '../samples/data-set/data-set.ts';

const METRIC = 'answered';

/** Samples of the calling program. Which answers are right only it knows: its accuracy is the share that was answered. */
export class ProgramDataSet implements DataSet {
  readonly name: string;
  readonly totalSampleCount: number;
  /** There are no files. */
  readonly folder = '';
  readonly quality: NamedQuality = {
    metric: METRIC,
    target: 1,
    source: 'nobody but the calling program knows the right answers',
  };
  readonly marks: readonly string[] = [
    'the samples are those of the calling program, no data set of a benchmark: its accuracy is the share that was answered',
  ];
  readonly #payloadOf: (sampleIndex: number) => Uint8Array;

  constructor(
    name: string,
    totalSampleCount: number,
    payloadOf: (sampleIndex: number) => Uint8Array,
  ) {
    this.name = name;
    this.totalSampleCount = totalSampleCount;
    this.#payloadOf = payloadOf;
  }

  readPayload(sampleIndex: number): Promise<Uint8Array> {
    return Promise.resolve(this.#payloadOf(sampleIndex));
  }

  scoreAccuracy(entries: Iterable<AccuracyEntry>): AccuracyReport {
    const isAnswered = ({ response }: AccuracyEntry): boolean => response.length > 0;
    return { metric: METRIC, ...scoreEach(entries, this.totalSampleCount, isAnswered) };
  }
}
