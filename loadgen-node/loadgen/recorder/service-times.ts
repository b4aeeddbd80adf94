import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';

/** Lengths of time that are kept of a sample, in the order in which they follow one another. */
export const SERVICE_TIMES: readonly (keyof ServiceTimes)[] = [
  'receiveNs',
  'queueNs',
  'batchWaitNs',
  'preprocessNs',
  'computeNs',
  'postprocessNs',
  'sendNs',
];

/** Values of one sample: {@link SERVICE_TIMES}, and the decompression on this side. */
const VALUES = SERVICE_TIMES.length + 1;
const DECODE = SERVICE_TIMES.length;

/** Flag beside the number of a node: it reported its times. */
const HAS_TIMES = 0x8000;

/**
 * The SUT's own times, by sample: 34 bytes each, taken in the constructor; pages of samples that
 * are never answered stay untouched. Numbers are float32: 7 digits of a length of time, which no
 * clock here exceeds.
 */
export class ServiceTimeRecorder {
  /** 0: unknown. Else the node's number plus one, and perhaps {@link HAS_TIMES}. */
  readonly #nodes: Uint16Array;
  readonly #values: Float32Array;

  constructor(sampleCount: number) {
    this.#nodes = new Uint16Array(sampleCount);
    this.#values = new Float32Array(sampleCount * VALUES);
  }

  /**
   * Notes what is known of a sample's service. Hot path.
   * @param sample Number in the set; one that there is not has no effect.
   * @param node Number of the part of the SUT that answered, 0 to 32,766.
   * @param times Undefined where the node reported none.
   * @param decodeNs Time that reading the response took on this side, above all decompression.
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

  /** One of {@link SERVICE_TIMES} by its index, in ns; NaN where the node reported none. */
  timeOf(sample: number, index: number): number {
    const isKnown = ((this.#nodes[sample] ?? 0) & HAS_TIMES) !== 0;
    return isKnown ? (this.#values[sample * VALUES + index] as number) : Number.NaN;
  }

  /** Time that reading the response took on this side, in ns; NaN if unknown. */
  decodeOf(sample: number): number {
    if (this.nodeOf(sample) < 0) return Number.NaN;
    return this.#values[sample * VALUES + DECODE] as number;
  }
}
