import { type BorrowedBytes, copyOf } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type {
  ResponseSink,
  SampleFailure,
  ServiceTimes,
} from '../../../shared/domain/system-under-test.ts';

/** A {@link ResponseSink} that keeps everything, and lets a test wait for it. */
export class RecordingSink implements ResponseSink {
  readonly completed: { readonly id: number; readonly payload: Uint8Array }[] = [];
  readonly failed: { readonly id: number; readonly failure: SampleFailure }[] = [];
  /** Ids that were given up and completed then. */
  readonly late: number[] = [];
  readonly faults: MlperfError[] = [];
  readonly handedOverIds: number[] = [];
  readonly servedBy: {
    readonly id: number;
    readonly node: number;
    readonly times: ServiceTimes | undefined;
    readonly decodeNs: number;
  }[] = [];
  readonly #waiters: (() => void)[] = [];

  nowNs(): number {
    return Math.round(performance.now() * 1e6);
  }

  handedOver(id: number): void {
    this.handedOverIds.push(id);
  }

  served(id: number, node: number, times: ServiceTimes | undefined, decodeNs: number): void {
    this.servedBy.push({ id, node, times, decodeNs });
  }

  firstToken(): void {}

  tokens(_id?: number, _count?: number): void {}

  complete(id: number, payload: BorrowedBytes): void {
    const isLate = this.failed.some((one) => one.id === id && one.failure.isGivenUp);
    if (isLate) this.late.push(id);
    else this.completed.push({ id, payload: copyOf(payload) });
    this.#wake();
  }

  fail(id: number, failure: SampleFailure): void {
    this.failed.push({ id, failure });
    this.#wake();
  }

  fault(error: MlperfError): void {
    this.faults.push(error);
    this.#wake();
  }

  /** Resolves once so many samples have completed or failed. */
  answered(count: number): Promise<void> {
    return this.#when(() => this.completed.length + this.failed.length >= count);
  }

  /** Resolves at the first fault. */
  faulted(): Promise<void> {
    return this.#when(() => this.faults.length > 0);
  }

  #when(isMet: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(() => isMet() && resolve());
      this.#wake();
    });
  }

  #wake(): void {
    for (const look of this.#waiters) look();
  }
}
