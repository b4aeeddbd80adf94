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

/** How {@link slacksOnRepeats} treats a sample that it has seen before. */
interface Slack {
  /** Every how many of the repeats is answered wrongly; default: each. */
  readonly everyNth?: number;
  /** Time of a repeat; default: as long as the model takes. */
  readonly repeatNs?: number;
}

/** Answers each sample rightly the first time, as an accuracy run asks for it, and wrongly when it comes again. */
export function slacksOnRepeats(slack: Slack = {}, serviceNs: number = MODEL_NS): Conduct {
  const { everyNth = 1, repeatNs = serviceNs } = slack;
  return () => {
    const seen = new Set<string>();
    let repeats = 0;
    return (key) => {
      if (!seen.has(key)) {
        seen.add(key);
        return { serviceNs, isRight: true };
      }
      repeats += 1;
      return { serviceNs: repeatNs, isRight: repeats % everyNth !== 0 };
    };
  };
}

/**
 * Not deterministic: now and then another answer, whether the sample was seen before or not.
 * @param share Of the answers that are wrong.
 * @param random From 0 to 1, made anew for a run.
 */
export function wavers(share: number, random: () => number, serviceNs: number = MODEL_NS): Conduct {
  return () => () => ({ serviceNs, isRight: random() >= share });
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
