import { allowedShare } from '../../../loadgen-node/search/peak/full-runs.ts';
import type {
  LoadSearch,
  ProbeOutcome,
  ProbeSpec,
  RunProbe,
} from '../../../loadgen-node/search/peak/peak-search.ts';
import type { ServiceLaw } from './queue-theory.ts';

/** A queue that probes are run on, by Lindley's recursion: no engine, no clock, a million queries in 50 ms. */
export interface SimulatedQueue {
  readonly law: ServiceLaw;
  readonly serviceNs: number;
  /** Every probe has a stream of its own; full runs of one seed share theirs, as those of a round's seeds do. */
  readonly seed: number;
}

const LOOK_NS = 1e8;

/** Probes on the queue. A full run is VALID where as few queries are late as early stopping lets. */
export function queueProbes(queue: SimulatedQueue, search: LoadSearch): RunProbe {
  return async (spec) => outcomeOf(search, spec, runQueue(queue, search, spec));
}

function outcomeOf(search: LoadSearch, spec: ProbeSpec, run: QueueRun): ProbeOutcome {
  const { latenciesNs, endNs } = run;
  const over = latenciesNs.reduce((sum, ns) => sum + (ns > search.boundNs ? 1 : 0), 0);
  const isValid = over / latenciesNs.length <= allowedShare(search, spec.load);
  return {
    latenciesNs,
    end: {
      endCause: run.isDecided ? 'decided' : 'all-issued',
      counts: { lostSamples: 0, issuedSamples: latenciesNs.length },
      durationNs: endNs,
      isGeneratorBound: false,
      generatorBoundReason: '',
      faultText: null,
    },
    samplesPerSecond: (latenciesNs.length / endNs) * 1e9,
    scheduledPerSecond: ((latenciesNs.length - 1) / run.lastArrivalNs) * 1e9,
    isValid,
    reasons: isValid
      ? []
      : [
          {
            rule: 'latency-bound',
            text: 'The latency bound was missed.',
            needed: '',
            seen: '',
            key: null,
          },
        ],
    explanation: undefined,
    folder: undefined,
  };
}

interface QueueRun {
  readonly latenciesNs: Float64Array;
  readonly lastArrivalNs: number;
  readonly endNs: number;
  readonly isDecided: boolean;
}

function runQueue(queue: SimulatedQueue, search: LoadSearch, spec: ProbeSpec): QueueRun {
  const stream = spec.kind === 'full' ? 0 : spec.number + 1;
  const random = randomStream(queue.seed * 1009 + stream);
  const { serviceNs, law } = queue;
  const gapNs = spec.kind === 'unloaded' ? 0 : 1e9 / spec.load;
  const isPlanned = planEnd(search, spec);
  const looks = new Looks(spec, search.boundNs);
  let latenciesNs = new Float64Array(1 << 12);
  let arrivalNs = 0;
  let lastArrivalNs = 0;
  let freeNs = 0;
  let count = 0;
  while (isPlanned(count, arrivalNs, lastArrivalNs) && !looks.isDecided(arrivalNs, count)) {
    const timeNs = law === 'M/M/1' ? -Math.log(1 - random()) * serviceNs : serviceNs;
    freeNs = Math.max(freeNs, arrivalNs) + timeNs;
    if (count === latenciesNs.length) {
      const grown = new Float64Array(count * 2);
      grown.set(latenciesNs);
      latenciesNs = grown;
    }
    latenciesNs[count] = freeNs - arrivalNs;
    looks.add(arrivalNs, freeNs);
    count += 1;
    lastArrivalNs = arrivalNs;
    arrivalNs = gapNs === 0 ? freeNs : arrivalNs - Math.log(1 - random()) * gapNs;
  }
  return {
    latenciesNs: latenciesNs.subarray(0, count),
    lastArrivalNs,
    endNs: freeNs,
    isDecided: looks.wasDecided,
  };
}

/** Whether a query is in the plan. A full run has queries up to the first one behind its duration, and its least count (LoadGen's rule). */
function planEnd(
  { full: { minDurationNs, minQueryCount } }: LoadSearch,
  {
    kind,
    queriesMax = Number.POSITIVE_INFINITY,
    durationNsMax = Number.POSITIVE_INFINITY,
  }: ProbeSpec,
): (count: number, arrivalNs: number, lastArrivalNs: number) => boolean {
  return kind === 'full'
    ? (count, _arrivalNs, lastArrivalNs) => count < minQueryCount || lastArrivalNs < minDurationNs
    : (count, arrivalNs) => count < queriesMax && arrivalNs <= durationNsMax;
}

interface Waiting {
  readonly arrivalNs: number;
  readonly doneNs: number;
}

/** Looks at the queue every 100 ms of its time, as the engine does. */
class Looks {
  readonly #spec: ProbeSpec;
  readonly #boundNs: number;
  readonly #waiting: Waiting[] = [];
  #head = 0;
  #over = 0;
  #nextNs = LOOK_NS;
  wasDecided = false;

  constructor(spec: ProbeSpec, boundNs: number) {
    this.#spec = spec;
    this.#boundNs = boundNs;
  }

  add(arrivalNs: number, doneNs: number): void {
    if (this.#spec.isDecided !== undefined) this.#waiting.push({ arrivalNs, doneNs });
  }

  isDecided(nowNs: number, issuedQueries: number): boolean {
    const { isDecided } = this.#spec;
    if (isDecided === undefined || nowNs < this.#nextNs) return false;
    this.#nextNs = nowNs + LOOK_NS;
    while (this.#head < this.#waiting.length) {
      const { arrivalNs, doneNs } = this.#waiting[this.#head] as Waiting;
      if (doneNs > nowNs) break;
      if (doneNs - arrivalNs > this.#boundNs) this.#over += 1;
      this.#head += 1;
    }
    const overdue = this.#waiting
      .slice(this.#head)
      .filter(({ arrivalNs }) => nowNs - arrivalNs > this.#boundNs).length;
    this.wasDecided = isDecided({
      elapsedNs: nowNs,
      issuedQueries,
      completedQueries: this.#head,
      overlatencyQueries: this.#over,
      overdueQueries: overdue,
    });
    return this.wasDecided;
  }
}

/** Uniform numbers in [0, 1) (sfc32). */
function randomStream(seed: number): () => number {
  let a = seed | 0;
  let b = (seed ^ 0x9e3779b9) | 0;
  let c = 0x243f6a88;
  let counter = 1;
  const next = (): number => {
    const t = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return (t >>> 0) / 4294967296;
  };
  for (let i = 0; i < 16; i += 1) next();
  return next;
}
