import {
  fieldsOf,
  type HandOvers,
  type LedgerCounts,
  ledgerCounts,
  type NodeEvidence,
} from '../../shared/evidence/evidence-schema.ts';
import { ClaimBook } from '../../shared/evidence/node-claims.ts';

/** The QDL's counts for one node: sent and received in a run. Hot path: numbers only. */
export class RunLedgerCounter {
  queryCount = 0;
  partCount = 0;
  sampleCount = 0;
  payloadBytes = 0;
  completedCount = 0;
  failedCount = 0;
  responseBytes = 0;
  /** Parts of a query are sent consecutively, so the last query number is enough. */
  #lastQuery = -1;

  /**
   * Counts a message of a query.
   * @param sampleCount Samples that begin in the message. @param bytes Payload bytes.
   */
  countPart(query: number, sampleCount: number, bytes: number): void {
    if (query !== this.#lastQuery) {
      this.#lastQuery = query;
      this.queryCount += 1;
    }
    this.partCount += 1;
    this.sampleCount += sampleCount;
    this.payloadBytes += bytes;
  }

  /** The current counts; without digests. */
  toCounts(): LedgerCounts {
    return fieldsOf(ledgerCounts, { ...this, digestedSampleCount: 0, payloadDigest: '' });
  }
}

/**
 * Counts calls, streams and connections to a node that ended and were replaced without losing a
 * sample.
 */
export class HandOverCounter {
  /** See {@link HandOvers}. */
  callCount = 0;
  #connectionCount = 0;
  #streamCount = 0;
  #connectionReason = '';
  #streamReason = '';

  addConnection(reason: string): void {
    this.#connectionCount += 1;
    this.#connectionReason = reason;
  }

  addStream(reason: string): void {
    this.#streamCount += 1;
    this.#streamReason = reason;
  }

  evidence(): { readonly handOvers?: HandOvers } {
    if (this.#connectionCount + this.#streamCount === 0) return {};
    return {
      handOvers: {
        connectionCount: this.#connectionCount,
        callCount: this.callCount,
        streamCount: this.#streamCount,
        connectionReason: this.#connectionReason,
        streamReason: this.#streamReason,
      },
    };
  }
}

/** A node without counts of its own: only this end counts. @param ledgerMissing Why, for people. */
export function nodeOfOneEnd(address: string, ledgerMissing: string) {
  const counted = { ledger: new RunLedgerCounter(), claims: new ClaimBook() };
  return {
    address,
    ...counted,
    evidence: () => evidenceOfOneEnd(address, counted, ledgerMissing),
  };
}

/**
 * Evidence of a node without counts of its own: only this end counts. @param ledgerMissing Why, for
 * people.
 */
export function evidenceOfOneEnd(
  address: string,
  counted: { readonly ledger: RunLedgerCounter; readonly claims: ClaimBook },
  ledgerMissing: string,
): NodeEvidence {
  return {
    address,
    description: null,
    streams: [],
    digestPerMillion: 0,
    ours: counted.ledger.toCounts(),
    theirs: null,
    ledgerMissing,
    ledgerIdentity: '',
    claims: counted.claims.toClaims(),
    differences: [],
  };
}
