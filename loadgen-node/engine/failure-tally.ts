import type { SampleFailure } from '../../shared/domain/system-under-test.ts';
import type { FailureCount } from './test-outcome.ts';

/** Codes that are told apart; further ones are counted as one. */
const CODES_MAX = 32;
const OTHER_CODE = 'other';

/** Counts failed samples by the code of the failure, and keeps the first text of each. */
export class FailureTally {
  readonly #byCode = new Map<string, { count: number; readonly firstText: string }>();

  add({ code, text }: SampleFailure, count = 1): void {
    const known = this.#byCode.size < CODES_MAX || this.#byCode.has(code) ? code : OTHER_CODE;
    const entry = this.#byCode.get(known);
    if (entry === undefined) this.#byCode.set(known, { count, firstText: text });
    else entry.count += count;
  }

  /** All counts, in the order of their first occurrence. */
  counts(): FailureCount[] {
    return [...this.#byCode].map(([code, { count, firstText }]) => ({ code, count, firstText }));
  }
}
