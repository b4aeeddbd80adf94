import { at } from '../../shared/base/at.ts';
import type { ServiceTimes } from '../../shared/domain/system-under-test.ts';

/** Phases of a sample's residence in the node, as the metrics name them. */
const PHASES = {
  receive: 'receiveNs',
  queue: 'queueNs',
  batch_wait: 'batchWaitNs',
  preprocess: 'preprocessNs',
  compute: 'computeNs',
  postprocess: 'postprocessNs',
  send: 'sendNs',
} as const satisfies Record<string, keyof ServiceTimes>;

type Phase = keyof typeof PHASES;

/** Upper bounds of durations in ns: 10 µs to 10 s, three bounds per decade. */
const DURATION_BOUNDS_NS: readonly number[] = [4, 5, 6, 7, 8, 9]
  .flatMap((decade) => [1, 2, 5].map((digit) => digit * 10 ** decade))
  .concat(10e9);

/** Upper bounds of batch sizes, in samples. */
const BATCH_BOUNDS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/** Distributions of a node's values; they exist only if metrics are requested. */
export class Observations {
  readonly batchSizes: BucketCounts = new BucketCounts(BATCH_BOUNDS);
  /** Durations by phase, in ns. */
  readonly durations: ReadonlyMap<Phase, BucketCounts> = new Map(
    Object.keys(PHASES).map((phase) => [phase as Phase, new BucketCounts(DURATION_BOUNDS_NS)]),
  );
  readonly #counted: readonly (readonly [keyof ServiceTimes, BucketCounts])[] = [
    ...this.durations,
  ].map(([phase, counts]) => [PHASES[phase], counts]);

  /** Counts the durations of an answered sample. Hot path. */
  readonly sample = (durations: ServiceTimes): void => {
    for (const [field, counts] of this.#counted) counts.add(durations[field]);
  };

  /** Counts a batch that the workers take. */
  readonly batch = (sampleCount: number): void => this.batchSizes.add(sampleCount);
}

/**
 * Counts of values by range, as in a Prometheus histogram. This class is part of the hot path, so
 * it has typed arrays: a histogram of the metrics package takes about 300 ns per value, and a
 * sample has seven values.
 */
export class BucketCounts {
  /** Upper bound of each range, included, ascending. */
  readonly bounds: readonly number[];
  /** Number of values per range; the last number is for values above all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > at(this.bounds, index)) index += 1;
    // In range: one count more than bounds.
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += value;
  }
}
