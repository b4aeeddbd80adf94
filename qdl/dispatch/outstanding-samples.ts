import type { ChannelPlace } from './dispatch-channel.ts';
import { NOT_OUTSTANDING, OutstandingTable } from './outstanding-table.ts';

/** Most samples outstanding on one stream, whatever a node takes. */
const OUTSTANDING_MAX = 65_536;

/** Samples of a channel that are on the wire: their ids, and their share of what the node has to do. */
export class OutstandingSamples {
  readonly #table: OutstandingTable;
  readonly #load: ChannelPlace['load'];

  constructor({ load, streamIndex, streamCount }: ChannelPlace) {
    this.#load = load;
    this.#table = new OutstandingTable({ slotCount: OUTSTANDING_MAX, streamIndex, streamCount });
  }

  get count(): number {
    return this.#table.outstandingCount;
  }

  /** True when so many more are within the limits of node and channel. Hot path. */
  canTake(sampleCount: number): boolean {
    return this.#load.canTake(sampleCount) && this.#table.freeCount >= sampleCount;
  }

  /** Takes a wire id. After {@link canTake} only. */
  acquire(responseId: number): number {
    this.#load.outstanding += 1;
    return this.#table.acquire(responseId);
  }

  /** Response id of a wire id, which is free from now on; -1 when it is not outstanding here. */
  release(wireId: number): number {
    const responseId = this.#table.release(wireId);
    if (responseId !== NOT_OUTSTANDING) this.#load.outstanding -= 1;
    return responseId;
  }

  /** Response id of a wire id that stays outstanding; -1 when it is not outstanding here. */
  find(wireId: number): number {
    return this.#table.find(wireId);
  }

  /** Frees all; returns the response ids. */
  releaseAll(): Float64Array {
    this.#load.outstanding -= this.#table.outstandingCount;
    return this.#table.releaseAll();
  }
}
