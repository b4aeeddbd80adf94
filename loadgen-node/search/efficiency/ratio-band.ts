/** A value and the interval that holds it; both ends above 0. */
export interface Banded {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Quotient of two values that lie in intervals: as far as both ends may be off at once. Wider than the interval of the quotient
 * would be at the confidence of the two, and never too narrow.
 */
export function quotientOf(above: Banded, below: Banded): Banded {
  return {
    value: above.value / below.value,
    low: above.low / below.high,
    high: above.high / below.low,
  };
}

/** What paired runs say of a quotient. */
export interface PairedQuotient extends Banded {
  /**
   * How sure it is that the interval from the smallest to the largest quotient holds the median of all that such runs could
   * have, 0 to 1: 1 - 2^(1 - n) for n pairs, whatever their distribution.
   */
  readonly confidence: number;
  readonly pairs: number;
}

/**
 * Median of the quotients of runs that were made in turns, with the smallest and the largest: what drifts on the machine
 * meets both runs of a pair.
 * @param above One entry or more; as many as `below`.
 */
export function pairedQuotient(above: readonly number[], below: readonly number[]): PairedQuotient {
  const quotients = above.map((value, i) => value / (below[i] as number)).sort((a, b) => a - b);
  return {
    value: medianOf(quotients),
    low: quotients[0] as number,
    high: quotients.at(-1) as number,
    confidence: 1 - 2 ** (1 - quotients.length),
    pairs: quotients.length,
  };
}

/** Median; of an even number of values the mean of the middle two. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}
