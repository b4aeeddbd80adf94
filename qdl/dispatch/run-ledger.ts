import {
  fieldsOf,
  type HandOvers,
  type LedgerCounts,
  ledgerCounts,
  type NodeEvidence,
} from '../../shared/evidence/evidence-schema.ts';
import { ClaimBook } from '../../shared/evidence/node-claims.ts';

/** The QDL's count for one node: what it sent in a run and got back. Hot path: numbers only. */
export class RunLedgerCounter {
  queryCount = 0;
  partCount = 0;
  sampleCount = 0;
  payloadBytes = 0;
  completedCount = 0;
  failedCount = 0;
  responseBytes = 0;
  /** Parts of a query leave one after another, so the last query number is all that is needed. */
  #lastQuery = -1;

  /**
   * Counts a message of a query.
   * @param sampleCount Samples that begin in it. @param bytes Payload bytes.
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

  /** The counts as they are now; without digests. */
  toCounts(): LedgerCounts {
    return fieldsOf(ledgerCounts, { ...this, digestedSampleCount: 0, payloadDigest: '' });
  }
}

/** Counts what ended on the way to one node, and was replaced at no cost of a sample. */
export class HandOverCounter {
  /** As in {@link HandOvers}. */
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

/** A node that counts nothing: only this end does. @param ledgerMissing Why, for people. */
export function nodeOfOneEnd(address: string, ledgerMissing: string) {
  const counted = { ledger: new RunLedgerCounter(), claims: new ClaimBook() };
  return {
    address,
    ...counted,
    evidence: () => evidenceOfOneEnd(address, counted, ledgerMissing),
  };
}

/** Evidence of a node that counts nothing: only this end does. @param ledgerMissing Why, for people. */
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
