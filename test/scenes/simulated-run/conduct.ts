import { float32, labelOf, type SimulatedRun } from './simulated-run.ts';

/** How a SUT treats one sample. */
export interface Treatment {
  /** Time that it takes, in ns. */
  readonly serviceNs: number;
  /** False: it answers something cheap in place of what the model would say. */
  readonly isRight: boolean;
}

/**
 * How a SUT treats the samples of one run, in the order in which they come; a sample is told by a
 * key: its index, or a digest of its payload. Made anew for each run.
 */
export type Conduct = () => (key: string) => Treatment;

/** Time of a sample that the model really sees, unless a test says otherwise. */
const MODEL_NS = 5e6;

/** Time of a cache hit. */
const HIT_NS = 10_000;

/** Repeated samples after which {@link tiresOfRepeats} stops working. */
const PATIENCE = 8;

/** Treats a sample by what it saw before: whether this one, and how many repeats with it. */
function byMemory(treat: (isRepeat: boolean, repeats: number) => Treatment): Conduct {
  return () => {
    const seen = new Set<string>();
    let repeats = 0;
    return (key) => {
      const isRepeat = seen.has(key);
      if (isRepeat) repeats += 1;
      seen.add(key);
      return treat(isRepeat, repeats);
    };
  };
}

/** Asks the model every time. */
export function honest(serviceNs = MODEL_NS): Conduct {
  return () => () => ({ serviceNs, isRight: true });
}

/** Keeps the answers of a run: a sample that it has seen before costs nothing. */
export function caches(serviceNs = MODEL_NS): Conduct {
  return byMemory((isRepeat) => ({ serviceNs: isRepeat ? HIT_NS : serviceNs, isRight: true }));
}

/**
 * Sees from repeated samples that accuracy is not looked at, and answers anything from then on: an
 * accuracy run asks for every sample once.
 */
export function tiresOfRepeats(serviceNs = MODEL_NS): Conduct {
  return byMemory((_isRepeat, repeats) => ({ serviceNs, isRight: repeats < PATIENCE }));
}

/**
 * Answers each sample rightly the first time, as an accuracy run asks for it, and wrongly when it
 * comes again.
 * @param slack.everyNth Every how many of the repeats is answered wrongly.
 */
export function slacksOnRepeats(
  slack: { readonly everyNth?: number; readonly repeatNs?: number } = {},
  serviceNs = MODEL_NS,
): Conduct {
  const { everyNth = 1, repeatNs = serviceNs } = slack;
  return byMemory((isRepeat, repeats) => ({
    serviceNs: isRepeat ? repeatNs : serviceNs,
    isRight: !isRepeat || repeats % everyNth !== 0,
  }));
}

/**
 * Not deterministic: now and then another answer, whether the sample was seen before or not.
 * @param share Of the answers that are wrong.
 * @param random From 0 to 1, made anew for a run.
 */
export function wavers(share: number, random: () => number, serviceNs = MODEL_NS): Conduct {
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
  knownNs = HIT_NS,
  serviceNs = MODEL_NS,
): Conduct {
  return () => (key) => ({ serviceNs: known.has(key) ? knownNs : serviceNs, isRight: true });
}

/**
 * The parts of a simulated run that a conduct decides; its keys are sample indices. Of one run
 * only.
 */
export function conducted(conduct: Conduct): Pick<SimulatedRun, 'serviceNs' | 'responseOf'> {
  const treat = conduct();
  // The one worker answers in the order in which samples came.
  const waiting: Treatment[] = [];
  let answered = 0;
  return {
    serviceNs: (sampleIndex) => {
      const treatment = treat(String(sampleIndex));
      waiting.push(treatment);
      return treatment.serviceNs;
    },
    responseOf: (sampleIndex) => {
      const isRight = waiting[answered]?.isRight === true;
      answered += 1;
      return float32(isRight ? labelOf(sampleIndex) : 0);
    },
  };
}
