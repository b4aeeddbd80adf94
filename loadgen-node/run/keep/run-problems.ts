import { asMlperfError, type MlperfError } from '../../../shared/base/errors/mlperf-error.ts';

/**
 * Work that a result does not depend on, such as writing its files: errors are reported after the
 * result.
 */
export class RunProblems {
  readonly all: MlperfError[] = [];

  /** Runs `work` and stores an error that it throws. */
  attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.all.push(asMlperfError(error));
    }
  }

  /** Like `attempt`, for asynchronous work. */
  async attemptLong(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.all.push(asMlperfError(error));
    }
  }
}
