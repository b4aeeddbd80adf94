/** How busy a SUT node is, over all its streams. Hot path: numbers only. */
export class NodeLoad {
  /** Samples that are on the wire to the node. */
  outstanding = 0;
  /** Share of the node in comparison with the others, above 0. */
  readonly weight: number;
  /** Most samples outstanding at once, 1 or more. */
  readonly outstandingMax: number;

  constructor(weight: number, outstandingMax: number) {
    this.weight = weight;
    this.outstandingMax = outstandingMax;
  }

  /** True when so many samples more are within the limit. */
  canTake(sampleCount: number): boolean {
    return this.outstanding + sampleCount <= this.outstandingMax;
  }
}
