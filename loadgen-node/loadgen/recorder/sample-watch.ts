import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';

/** Looks on while samples are recorded. All of it is timed: a few stores, no allocation, and it never throws. */
export interface SampleWatch {
  /** A query of so many samples goes out, `lagNs` after it was due. */
  issued(lagNs: number, samples: number): void;
  /**
   * What is known of the sample whose completion is told next, unless that one is refused.
   * @param node Number of the part of the SUT that answered, from 0.
   * @param times Undefined where that part told none.
   * @param lagNs Issued - scheduled of its query; NaN for a sample that there is not.
   * @param sendNs Taken by the transport - issued; 0 where nobody said.
   */
  served(
    node: number,
    times: ServiceTimes | undefined,
    decodeNs: number,
    lagNs: number,
    sendNs: number,
  ): void;
  /** A sample is complete: completed - scheduled, in ns. */
  completed(latencyNs: number): void;
}
