import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';

/** Durations recorded per sample, in the order in which they occur. */
export const SERVICE_TIMES: readonly (keyof ServiceTimes)[] = [
  'receiveNs',
  'queueNs',
  'batchWaitNs',
  'preprocessNs',
  'computeNs',
  'postprocessNs',
  'sendNs',
];

/** Values per sample: {@link SERVICE_TIMES}, and the decompression on this side. */
const VALUES = SERVICE_TIMES.length + 1;
const DECODE = SERVICE_TIMES.length;

/** Flag beside a node's number: the node reported its times. */
const HAS_TIMES = 0x8000;

/**
 * The SUT's own times, 34 bytes per sample, allocated in the constructor; pages of unanswered
 * samples stay untouched. Values are float32: 7 digits, more precise than any clock here.
 */
export class ServiceTimeRecorder {
  /** 0: unknown. Otherwise the node's number + 1, and {@link HAS_TIMES} if set. */
  readonly #nodes: Uint16Array;
  readonly #values: Float32Array;

  constructor(sampleCount: number) {
    this.#nodes = new Uint16Array(sampleCount);
    this.#values = new Float32Array(sampleCount * VALUES);
  }

  /**
   * Records the service of a sample. Hot path.
   * @param sample Number in the set; an unknown one has no effect.
   * @param node Number of the SUT part that answered, 0 to 32,766.
   * @param times Undefined if the node reported no times.
   * @param decodeNs Time to read the response on this side, mostly decompression.
   */
  note(sample: number, node: number, times: ServiceTimes | undefined, decodeNs: number): void {
    const values = this.#values;
    const at = sample * VALUES;
    values[at + DECODE] = decodeNs;
    if (times === undefined) {
      this.#nodes[sample] = node + 1;
      return;
    }
    this.#nodes[sample] = (node + 1) | HAS_TIMES;
    values[at] = times.receiveNs;
    values[at + 1] = times.queueNs;
    values[at + 2] = times.batchWaitNs;
    values[at + 3] = times.preprocessNs;
    values[at + 4] = times.computeNs;
    values[at + 5] = times.postprocessNs;
    values[at + 6] = times.sendNs;
  }

  /** Number of the node that answered; -1 if unknown. */
  nodeOf(sample: number): number {
    return ((this.#nodes[sample] ?? 0) & ~HAS_TIMES) - 1;
  }

  /** One of {@link SERVICE_TIMES} by its index, in ns; NaN if the node reported none. */
  timeOf(sample: number, index: number): number {
    const isKnown = ((this.#nodes[sample] ?? 0) & HAS_TIMES) !== 0;
    return isKnown ? (this.#values[sample * VALUES + index] as number) : Number.NaN;
  }

  /** Time to read the response on this side, in ns; NaN if unknown. */
  decodeOf(sample: number): number {
    if (this.nodeOf(sample) < 0) return Number.NaN;
    return this.#values[sample * VALUES + DECODE] as number;
  }
}
