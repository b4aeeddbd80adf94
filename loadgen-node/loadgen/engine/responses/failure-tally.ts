import type { SampleFailure } from '../../../../shared/domain/system-under-test.ts';

/** Samples that the SUT reported as failed, or that never came back, by the code of the failure. */
export interface FailureCount {
  readonly code: string;
  readonly count: number;
  /** What was said of them, the first one first; of many different texts only the first few. */
  readonly texts: readonly { readonly text: string; readonly count: number }[];
}

/** Codes that are told apart; further ones are counted as one. */
const CODES_MAX = 32;
const OTHER_CODE = 'other';

/** Texts of a code that are told apart; samples with further ones are counted with their code only. */
const TEXTS_MAX = 8;

/** Counts failed samples by the code of the failure, and by its text as long as there are few. */
export class FailureTally {
  readonly #byCode = new Map<string, { count: number; readonly texts: Map<string, number> }>();

  add({ code, text }: SampleFailure, count = 1): void {
    const known = this.#byCode.size < CODES_MAX || this.#byCode.has(code) ? code : OTHER_CODE;
    let entry = this.#byCode.get(known);
    if (entry === undefined) {
      entry = { count: 0, texts: new Map() };
      this.#byCode.set(known, entry);
    }
    entry.count += count;
    const { texts } = entry;
    if (texts.has(text) || texts.size < TEXTS_MAX) texts.set(text, (texts.get(text) ?? 0) + count);
  }

  /** All counts, in the order of their first occurrence. */
  counts(): FailureCount[] {
    return [...this.#byCode].map(([code, { count, texts }]) => ({
      code,
      count,
      texts: [...texts].map(([text, ofText]) => ({ text, count: ofText })),
    }));
  }
}
