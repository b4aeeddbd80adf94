import { asMlperfError, type MlperfError } from '../../../shared/base/errors/mlperf-error.ts';

/** Work that a result does not depend on, such as writing its files: what fails is told behind the result. */
export class RunProblems {
  readonly all: MlperfError[] = [];

  /** Does it, and keeps what it throws. */
  attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.all.push(asMlperfError(error));
    }
  }

  /** The same, of work that takes time. */
  async attemptLong(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.all.push(asMlperfError(error));
    }
  }
}
