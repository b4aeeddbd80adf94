/**
 * A token model behind a queue, with Poisson arrivals: what theory says of its two times, and
 * probes that run on it.
 */
import TinyQueue from 'tinyqueue';
import { percentileOf } from '../../../loadgen-node/loadgen/results/latency-statistics.ts';
import {
  allocateRecords,
  type SampleRecords,
} from '../../../loadgen-node/observe/records/sample-records.ts';
import { allowedShare } from '../../../loadgen-node/search/peak/full-runs.ts';
import type {
  LoadSearch,
  ProbeSpec,
  RunProbe,
} from '../../../loadgen-node/search/peak/peak-search.ts';
import { randomStream } from './queue.ts';

/**
 * The SUT of `--delay-tokens`: so many sequences at once, others wait in the order in which they
 * came.
 */
export interface TokenQueue {
  readonly sequences: number;
  /** From the begin of a sequence to its first token. */
  readonly firstTokenNs: number;
  /**
   * From a token to the next, and what each sequence that generates beside it, itself included,
   * adds.
   */
  readonly tokenNs: number;
  readonly perSequenceNs: number;
  /**
   * Tokens after the first: all alike, or geometric with this mean, which makes a service nearly
   * exponential.
   */
  readonly length: { readonly law: 'fixed' | 'geometric'; readonly mean: number };
  readonly seed: number;
}

/**
 * M/M/c: chance to wait longer than `wait`, by Erlang's C formula. Rates per second, times in
 * seconds.
 * @param service Mean service time of one of the `servers`.
 */
export function shareWaiting(
  arrivalRate: number,
  { servers, service }: { readonly servers: number; readonly service: number },
  wait: number,
): number {
  const load = arrivalRate * service;
  if (load >= servers) return 1;
  // Erlang B by its recursion, then C.
  let blocked = 1;
  for (let k = 1; k <= servers; k += 1) blocked = (load * blocked) / (k + load * blocked);
  const waits = blocked / (1 - (load / servers) * (1 - blocked));
  return waits * Math.exp(-(servers / service - arrivalRate) * wait);
}

/** Highest arrival rate at which a share that rises with it is no more than `share`. */
export function highestRate(
  shareAt: (rate: number) => number,
  rateMax: number,
  share: number,
): number {
  let low = 0;
  let high = rateMax;
  for (let i = 0; i < 60; i += 1) {
    const middle = (low + high) / 2;
    if (shareAt(middle) <= share) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Mean time per output token of sequences that share the time of a step: processor sharing whose
 * rate depends on how many there are, so that their number is negative binomial whatever the law of
 * their lengths (Kelly 1979, symmetric queues). In ns.
 */
export function meanTokenTime(
  { tokenNs, perSequenceNs, length: { mean } }: TokenQueue,
  arrivalRate: number,
): number {
  const load = (arrivalRate * mean * perSequenceNs) / 1e9;
  return load >= 1 ? Number.POSITIVE_INFINITY : (tokenNs + perSequenceNs) / (1 - load);
}

/**
 * Records of sequences at a load, whose first token waits for a prefill of 60 µs for each token of
 * a prompt of 20 to 1,500.
 */
export function tokenRecords(queue: TokenQueue, load: number, rowCount: number): SampleRecords {
  const search: LoadSearch = {
    ...{ kind: 'rate', boundNs: 1e9, tpotNs: 1e9, percentile: 0.99, startLoad: undefined },
    ...{ loadMax: load, precision: 1, confidence: 0.95, screeningNsMax: 0 },
    full: {
      ...{ runs: 0, minDurationNs: 0, minQueryCount: 0, hasEarlyStopping: true, loadsMax: 1 },
    },
  };
  const run = new TokenRun(queue, search, {
    kind: 'screening',
    load,
    number: 1,
    queriesMax: rowCount,
  });
  run.simulate();
  const random = randomStream(queue.seed + 7);
  const records = allocateRecords(rowCount, {
    ...{ hasTokens: true, hasFirstTokens: true, hasPrompts: true },
  });
  for (const column of Object.values(records.service)) column.fill(Number.NaN);
  run.sequences.forEach(({ arrivalNs, length, firstAtNs, doneAtNs }, row) => {
    const prompt = Math.round(20 * 75 ** random());
    const prefillNs = prompt * 60_000;
    const issuedNs = Math.round(arrivalNs + 20_000 * random());
    records.query[row] = row;
    records.sampleIndex[row] = row;
    records.scheduledNs[row] = Math.round(arrivalNs);
    records.issuedNs[row] = issuedNs;
    records.handedNs[row] = issuedNs + 10_000;
    records.completedNs[row] = Math.round(doneAtNs + prefillNs);
    records.tokenCount?.set([length + 1], row);
    records.firstTokenNs?.set([Math.round(firstAtNs + prefillNs)], row);
    records.promptTokens?.set([prompt], row);
  });
  return records;
}

/** A query of the simulation; times are ns since the start. */
interface Sequence {
  readonly arrivalNs: number;
  readonly length: number;
  firstAtNs: number;
  doneAtNs: number;
  /** Progress of a step's time at which it ends: one per token. */
  endsAt: number;
}

/**
 * Probes on the queue. A full run is VALID where as few queries miss each bound as early stopping
 * lets.
 */
export function tokenProbes(queue: TokenQueue, search: LoadSearch): RunProbe {
  return async (spec) => {
    const run = new TokenRun(queue, search, spec);
    const isDecided = run.simulate();
    const all = run.sequences;
    const count = all.length;
    const timesOf = (of: (one: Sequence) => number) => Float64Array.from(all, of);
    const firstNs = timesOf((one) => one.firstAtNs - one.arrivalNs);
    const perOutputNs = timesOf((one) => Math.trunc((one.doneAtNs - one.firstAtNs) / one.length));
    const endNs = all.reduce((latest, { doneAtNs }) => Math.max(latest, doneAtNs), 0);
    const lastNs = all.at(-1)?.arrivalNs ?? 0;
    const minDurationNs = spec.durationNsMin ?? search.full.minDurationNs;
    const full = { ...search.full, minDurationNs };
    const allowed = allowedShare({ ...search, full }, spec.load) * count;
    const { boundNs, tpotNs = 0 } = search;
    const isLate = firstNs.map((ns) => (ns > boundNs ? 1 : 0));
    const isSlow = perOutputNs.map((ns) => (ns > tpotNs ? 1 : 0));
    const sum = (values: Float64Array): number => values.reduce((a, b) => a + b, 0);
    const isValid = sum(isLate) <= allowed && sum(isSlow) <= allowed;
    const text = 'The latency bound was missed.';
    const tokens = sum(timesOf(({ length }) => length + 1));
    const isGood = isLate.map((late, i) => (late + (isSlow[i] as number) === 0 ? 1 : 0));
    const perS = (amount: number): number => (amount / endNs) * 1e9;
    return {
      latenciesNs: timesOf((one) => one.doneAtNs - one.arrivalNs),
      tokens: { firstNs, perOutputNs, perSecond: perS(tokens) },
      goodput: {
        share: sum(isGood) / count,
        samplesPerSecond: perS(sum(isGood)),
        tokensPerSecond: perS(sum(isGood.map((good, i) => good * ((all[i]?.length ?? 0) + 1)))),
      },
      end: {
        endCause: isDecided ? 'decided' : 'all-issued',
        counts: { lostSamples: 0, issuedSamples: count },
        ...{ durationNs: endNs, isGeneratorBound: false, generatorBoundReason: '' },
        faultText: null,
      },
      samplesPerSecond: perS(count),
      scheduledPerSecond: ((count - 1) / lastNs) * 1e9,
      ...{ lagP99Ns: 0, isValid, explanation: undefined, folder: undefined },
      reasons: isValid
        ? []
        : [{ rule: 'latency-bound', text, needed: '', seen: '', key: 'server_target_qps' }],
    };
  };
}

const LOOK_NS = 1e8;

/** One probe, event by event. */
class TokenRun {
  readonly sequences: Sequence[] = [];
  readonly #queue: TokenQueue;
  readonly #search: LoadSearch;
  readonly #spec: ProbeSpec;
  readonly #random: () => number;
  readonly #generating = new TinyQueue<Sequence>([], (a, b) => a.endsAt - b.endsAt);
  /** Of `sequences`, those before have begun, and those before have their first token. */
  #begun = 0;
  #withFirst = 0;
  #doneCount = 0;
  #slowCount = 0;
  #lateCount = 0;
  #nowNs = 0;
  #progress = 0;
  #nextLookNs = LOOK_NS;

  constructor(queue: TokenQueue, search: LoadSearch, spec: ProbeSpec) {
    this.#queue = queue;
    this.#search = search;
    this.#spec = spec;
    // Full runs of one seed share their arrivals, as those of a round's seeds do.
    const stream = spec.kind === 'full' ? 0 : spec.number + 1;
    this.#random = randomStream(queue.seed * 1009 + stream);
  }

  /** @returns Whether it ended because it was decided. */
  simulate(): boolean {
    const { kind, load } = this.#spec;
    let arrivalNs = 0;
    while (this.#isPlanned(arrivalNs)) {
      this.#goTo(arrivalNs);
      if (this.#isDecided(arrivalNs)) {
        this.#goTo(Number.POSITIVE_INFINITY);
        return true;
      }
      this.#arrive(arrivalNs);
      if (kind === 'unloaded') {
        this.#goTo(Number.POSITIVE_INFINITY);
        arrivalNs = this.#nowNs;
      } else arrivalNs -= (Math.log(1 - this.#random()) * 1e9) / load;
    }
    this.#goTo(Number.POSITIVE_INFINITY);
    return false;
  }

  #arrive(arrivalNs: number): void {
    const { law, mean } = this.#queue.length;
    const drawn = Math.ceil(Math.log(1 - this.#random()) / Math.log(1 - 1 / mean));
    const length = law === 'fixed' ? mean : Math.max(1, drawn);
    const times = { firstAtNs: Number.NaN, doneAtNs: Number.NaN, endsAt: Number.NaN };
    this.sequences.push({ arrivalNs, length, ...times });
    this.#begin(arrivalNs);
  }

  /** Takes those that wait, as far as there is room. */
  #begin(nowNs: number): void {
    while (
      this.#begun < this.sequences.length &&
      this.#begun - this.#doneCount < this.#queue.sequences
    ) {
      const one = this.sequences[this.#begun] as Sequence;
      one.firstAtNs = nowNs + this.#queue.firstTokenNs;
      this.#begun += 1;
    }
  }

  /** All that happens up to an instant, one after the other. */
  #goTo(untilNs: number): void {
    for (;;) {
      const first = this.#withFirst < this.#begun ? this.sequences[this.#withFirst] : undefined;
      const firstAtNs = first?.firstAtNs ?? Number.POSITIVE_INFINITY;
      const stepNs = this.#queue.tokenNs + this.#queue.perSequenceNs * this.#generating.length;
      const doneAtNs = this.#nextEndNs(stepNs);
      const nextNs = Math.min(firstAtNs, doneAtNs);
      if (nextNs > untilNs || !Number.isFinite(nextNs)) {
        if (Number.isFinite(untilNs)) this.#pass(untilNs, stepNs);
        return;
      }
      this.#pass(nextNs, stepNs);
      if (first !== undefined && firstAtNs <= doneAtNs) this.#startTokens(first);
      else this.#end(nextNs);
    }
  }

  #nextEndNs(stepNs: number): number {
    const ending = this.#generating.peek();
    if (ending === undefined) return Number.POSITIVE_INFINITY;
    return this.#nowNs + (ending.endsAt - this.#progress) * stepNs;
  }

  #pass(toNs: number, stepNs: number): void {
    this.#progress += (toNs - this.#nowNs) / stepNs;
    this.#nowNs = toNs;
  }

  #startTokens(one: Sequence): void {
    this.#withFirst += 1;
    if (one.firstAtNs - one.arrivalNs > this.#search.boundNs) this.#lateCount += 1;
    one.endsAt = this.#progress + one.length;
    this.#generating.push(one);
  }

  #end(nowNs: number): void {
    const one = this.#generating.pop() as Sequence;
    one.doneAtNs = nowNs;
    this.#doneCount += 1;
    if ((nowNs - one.firstAtNs) / one.length > (this.#search.tpotNs ?? 0)) this.#slowCount += 1;
    this.#begin(nowNs);
  }

  /** Whether a query that arrives now is in the plan (LoadGen's rule for a full run). */
  #isPlanned(nowNs: number): boolean {
    const { kind, queriesMax = Infinity, durationNsMax = Infinity } = this.#spec;
    const { durationNsMin: minDurationNs = this.#search.full.minDurationNs } = this.#spec;
    const { minQueryCount } = this.#search.full;
    const count = this.sequences.length;
    return kind === 'full'
      ? count < minQueryCount || (this.sequences.at(-1)?.arrivalNs ?? 0) < minDurationNs
      : count < queriesMax && nowNs <= durationNsMax;
  }

  #isDecided(nowNs: number): boolean {
    const { isDecided } = this.#spec;
    if (isDecided === undefined || nowNs < this.#nextLookNs) return false;
    this.#nextLookNs = nowNs + LOOK_NS;
    const waiting = this.sequences.slice(this.#withFirst);
    const overdue = waiting.filter((one) => nowNs - one.arrivalNs > this.#search.boundNs).length;
    return isDecided({
      elapsedNs: nowNs,
      issuedQueries: this.sequences.length,
      waitingQueries: waiting.length,
      bounds: [
        { known: this.#withFirst + overdue, over: this.#lateCount + overdue },
        { known: this.#doneCount, over: this.#slowCount },
      ],
    });
  }
}

/** Largest load of a long run at which the time per token is within the bound at the percentile. */
export async function limitOfTokens(
  queue: TokenQueue,
  search: LoadSearch,
  rateMax: number,
  durationNsMax = 2000e9,
): Promise<number> {
  const spec = { kind: 'screening', number: 900, durationNsMax } as const;
  let low = 0;
  let high = rateMax;
  for (let i = 0; i < 10; i += 1) {
    const load = (low + high) / 2;
    const { tokens } = await tokenProbes(queue, search)({ ...spec, load });
    const sorted = (tokens?.perOutputNs ?? new Float64Array()).slice().sort();
    if (percentileOf(sorted, search.percentile) <= (search.tpotNs ?? 0)) low = load;
    else high = load;
  }
  return low;
}
