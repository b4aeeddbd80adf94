import type { TestSettings } from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import {
  DISPATCH_POLICIES,
  type DispatchPolicy,
  NODE_LOSS_POLICIES,
  type NodeLossPolicy,
} from '../../../qdl/index.ts';

/** Faults that end a stream or spoil a message; each strikes once. */
export const FAULT_KINDS = [
  'none',
  // Harmless: they cost time, nothing else.
  'slow-link',
  'busy-loadgen',
  // The connection or the node goes.
  'cut',
  'silent-link',
  'hung-model',
  'drain',
  // One message of the node is spoilt.
  'forgotten-response',
  'repeated-response',
  'unknown-id',
  'failed-sample',
  'random-bytes',
  'cut-message',
  'second-opened',
  // One part is spoilt on its way.
  'lost-part',
  'repeated-part',
  'changed-payload',
  // Before and after the run.
  'refused-open',
  'no-credit',
  'late-response',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** Faults that change no result: whatever the run asks for, it gets. */
export const HARMLESS: ReadonlySet<FaultKind> = new Set(['none', 'slow-link', 'busy-loadgen']);

/** A fault at one of the nodes. */
export interface Fault {
  readonly kind: FaultKind;
  readonly node: number;
  /** When it strikes, in ns after the start. */
  readonly atNs: number;
  /** Which message of those that it could spoil, from 0. */
  readonly nth: number;
}

/** A run over a simulated network: all that a seed decides. */
export interface NetworkPlan {
  readonly seed: number;
  readonly settings: Partial<TestSettings> & Pick<TestSettings, 'scenario'>;
  readonly sampleCount: number;
  readonly nodeCount: number;
  readonly streamsPerNode: number;
  readonly policy: DispatchPolicy;
  readonly onNodeLoss: NodeLossPolicy;
  readonly nodeOutstandingMax: number;
  /** Smaller than some samples in some runs: they go in pieces. */
  readonly partBytesMax: number;
  readonly sampleBytesMin: number;
  readonly sampleBytesMax: number;
  /** Of a node: its credit is at most that. */
  readonly queueSamplesMax: number;
  readonly workerCount: number;
  readonly batchSizeMax: number;
  readonly batchDelayNs: number;
  /** Time of a batch in a worker, in ns. */
  readonly serviceNs: number;
  /** One way, in ns, and ns per byte. */
  readonly linkNs: number;
  readonly nsPerByte: number;
  readonly fault: Fault;
}

/** The plan of a seed. */
export function planOfSeed(seed: number): NetworkPlan {
  const random = new SeededRandom(seed);
  const nodeCount = random.int(1, 3);
  const sampleBytesMin = Math.round(random.magnitude(8, 2_000));
  return {
    seed,
    settings: settingsOf(random),
    sampleCount: random.int(1, 60),
    nodeCount,
    streamsPerNode: random.int(1, 3),
    policy: random.pick(DISPATCH_POLICIES),
    onNodeLoss: random.pick(NODE_LOSS_POLICIES),
    nodeOutstandingMax: random.pick([1, 4, 64, Number.POSITIVE_INFINITY]),
    partBytesMax: random.pick([512, 4_096, 1 << 20]),
    sampleBytesMin,
    sampleBytesMax: sampleBytesMin + random.int(0, 3_000),
    queueSamplesMax: random.pick([32, 320, 4_096]),
    workerCount: random.int(1, 3),
    batchSizeMax: random.pick([1, 2, 8, 32]),
    batchDelayNs: random.pick([0, 100_000, 2_000_000]),
    serviceNs: Math.round(random.magnitude(5_000, 3_000_000)),
    linkNs: Math.round(random.magnitude(10_000, 20_000_000)),
    nsPerByte: random.pick([0, 0.08, 8, 80]),
    fault: {
      kind: random.pick(FAULT_KINDS),
      node: random.int(0, nodeCount - 1),
      atNs: Math.round(random.magnitude(1e5, 1e9)),
      nth: random.int(0, 40),
    },
  };
}

function settingsOf(random: SeededRandom): NetworkPlan['settings'] {
  const scenario = random.pick(['SingleStream', 'MultiStream', 'Server', 'Offline'] as const);
  return {
    scenario,
    minDurationMs: random.pick([0, 100, 500]),
    minQueryCount: random.int(1, 120),
    maxQueryCount: 300,
    singleStreamExpectedLatencyNs: 5_000_000,
    multiStreamExpectedLatencyNs: 20_000_000,
    multiStreamSamplesPerQuery: random.int(1, 9),
    serverTargetQps: random.magnitude(20, 2_000),
    serverTargetLatencyNs: 1_000_000_000,
    offlineExpectedQps: random.int(10, 1_000),
  };
}

/** Random numbers that a seed repeats: mulberry32. */
class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** Spread evenly over orders of magnitude. */
  magnitude(min: number, max: number): number {
    return min * (max / min) ** this.next();
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)] as T;
  }
}
