/** How a SUT treats one sample. */
export interface Treatment {
  /** Time that it takes, in ns. */
  readonly serviceNs: number;
  /** False: it answers something cheap in place of what the model would say. */
  readonly isRight: boolean;
}

/**
 * How a SUT treats the samples of one run, in the order in which they come; a sample is told by a key: its index, or
 * a digest of its payload. Made anew for each run.
 */
export type Conduct = () => (key: string) => Treatment;

/** Time of a sample that the model really sees, unless a test says otherwise. */
const MODEL_NS = 5e6;

/** What a hit in a cache costs. */
const HIT_NS = 10_000;

/** Repeated samples after which {@link tiresOfRepeats} stops working. */
const PATIENCE = 8;

/** Asks the model every time. */
export function honest(serviceNs: number = MODEL_NS): Conduct {
  return () => () => ({ serviceNs, isRight: true });
}

/** Keeps the answers of a run: a sample that it has seen before costs nothing. */
export function caches(serviceNs: number = MODEL_NS): Conduct {
  return () => {
    const seen = new Set<string>();
    return (key) => {
      if (seen.has(key)) return { serviceNs: HIT_NS, isRight: true };
      seen.add(key);
      return { serviceNs, isRight: true };
    };
  };
}

/**
 * Sees from repeated samples that accuracy is not looked at, and answers anything from then on: an accuracy run
 * asks for every sample once.
 */
export function tiresOfRepeats(serviceNs: number = MODEL_NS): Conduct {
  return () => {
    const seen = new Set<string>();
    let repeats = 0;
    return (key) => {
      if (seen.has(key)) repeats += 1;
      seen.add(key);
      return { serviceNs, isRight: repeats < PATIENCE };
    };
  };
}

/** The same state in all runs: what a node remembers from one to the next. */
export function acrossRuns(conduct: Conduct): Conduct {
  const treat = conduct();
  return () => treat;
}

/** Knows the answers to the benchmark's own samples by heart; others go through the model. */
export function knowsByHeart(
  known: ReadonlySet<string>,
  knownNs: number = HIT_NS,
  serviceNs: number = MODEL_NS,
): Conduct {
  return () => (key) => ({ serviceNs: known.has(key) ? knownNs : serviceNs, isRight: true });
}
