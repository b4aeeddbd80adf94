import type { DetailLog } from '../logs/write/detail-log.ts';
import { type EndCause, isBrokenEnd } from './issue/issue-threads.ts';
import type { FailureTally } from './response-sink.ts';
import type { IssuedSet } from './test-context.ts';
import type { PhaseOutcome } from './test-outcome.ts';

/** Sums the counts of a phase's sets. */
export class PhaseTotals {
  readonly #counts = {
    issuedQueries: 0,
    completedQueries: 0,
    lostQueries: 0,
    issuedSamples: 0,
    completedSamples: 0,
    lostSamples: 0,
  };
  #beginNs = Number.NaN;
  #endNs = Number.NaN;
  #cause: EndCause = 'all-issued';
  #faultText: string | null = null;
  #faultAtNs: number | null = null;
  #silence: PhaseOutcome['silence'] = null;

  /** Issued samples of all sets so far. */
  get issuedSamples(): number {
    return this.#counts.issuedSamples;
  }

  /** True if the phase cannot go on. */
  get isBroken(): boolean {
    return isBrokenEnd(this.#cause);
  }

  add({ recorder, end }: IssuedSet, failures: FailureTally): void {
    const counts = this.#counts;
    counts.issuedQueries += recorder.issuedQueries;
    counts.completedQueries += recorder.countCompletedQueries();
    counts.lostQueries = counts.issuedQueries - counts.completedQueries;
    counts.issuedSamples += recorder.issuedSamples;
    counts.completedSamples += recorder.completedSamples;
    counts.lostSamples += recorder.lostSamples;
    if (Number.isNaN(this.#beginNs)) this.#beginNs = end.startNs;
    this.#endNs = end.endNs;
    this.#cause = end.cause;
    this.#faultText ??= end.fault?.error.message ?? null;
    if (end.fault !== null) this.#faultAtNs ??= end.fault.atNs - this.#beginNs;
    if (end.silentSinceNs !== null) {
      this.#silence = {
        fromNs: end.silentSinceNs - this.#beginNs,
        lastedNs: end.endNs - end.silentSinceNs,
        waitingSamples: end.abandonedSamples,
      };
    }
    if (end.abandonedSamples > 0) {
      failures.add({ code: 'lost', text: 'no response came' }, end.abandonedSamples);
    }
  }

  /** Records that the phase broke between two sets. */
  breakOff(cause: 'interrupted' | 'fault', faultText: string | null): void {
    this.#cause = cause;
    this.#faultText ??= faultText;
  }

  outcome(contractErrors: number, failures: FailureTally): PhaseOutcome {
    return {
      counts: { ...this.#counts, contractErrors },
      endCause: this.#cause,
      failures: failures.counts(),
      durationNs: Number.isNaN(this.#beginNs) ? 0 : this.#endNs - this.#beginNs,
      faultText: this.#faultText,
      faultAtNs: this.#faultAtNs,
      silence: this.#cause === 'stall' ? this.#silence : null,
    };
  }
}

/** Writes the failed samples of a phase by failure code, with their messages. */
export function writeFailures(log: DetailLog, failures: FailureTally): void {
  for (const { code, count, texts } of failures.counts()) {
    const first = texts[0]?.text ?? '';
    log.error('error_runtime', `${count} samples lost (${code}). First: ${first}`);
    for (const other of texts.slice(1)) {
      log.error('error_runtime', `${other.count} of these samples lost (${code}): ${other.text}`);
    }
  }
}
