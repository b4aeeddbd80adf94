/** Right answers among all. */
export interface Proportion {
  readonly correct: number;
  readonly total: number;
}

/** From the lower to the upper end, both as fractions. */
export interface ShareInterval {
  readonly low: number;
  readonly high: number;
}

/** 99.5 % of a normal distribution lie below: both ends together leave 1 % out. */
const Z_99_PERCENT = 2.575829303548901;

/** Share of right answers. */
export function shareOf({ correct, total }: Proportion): number {
  return correct / total;
}

/**
 * 99 % interval of the difference between the shares `a - b` of two independent samples.
 *
 * Newcombe's hybrid of Wilson's score intervals: unlike the normal approximation it holds for shares near 1, as
 * accuracies are, and for few samples. R. G. Newcombe, *Interval estimation for the difference between independent
 * proportions*, Statistics in Medicine 17 (1998), method 10.
 */
export function differenceInterval(a: Proportion, b: Proportion): ShareInterval {
  const [ofA, ofB] = [wilsonInterval(a), wilsonInterval(b)];
  const [shareA, shareB] = [shareOf(a), shareOf(b)];
  const difference = shareA - shareB;
  return {
    low: difference - Math.hypot(shareA - ofA.low, ofB.high - shareB),
    high: difference + Math.hypot(ofA.high - shareA, shareB - ofB.low),
  };
}

/** 99 % interval of one share: Wilson's score interval. */
function wilsonInterval({ correct, total }: Proportion): ShareInterval {
  const share = correct / total;
  const z2 = Z_99_PERCENT ** 2 / total;
  const middle = (share + z2 / 2) / (1 + z2);
  const half = Math.sqrt(z2 * share * (1 - share) + (z2 / 2) ** 2) / (1 + z2);
  return { low: middle - half, high: middle + half };
}
