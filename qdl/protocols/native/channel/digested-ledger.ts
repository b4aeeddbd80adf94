import type { SamplePayloads } from '../../../../shared/domain/system-under-test.ts';
import type { LedgerCounts } from '../../../../shared/evidence/evidence-schema.ts';
import { PayloadDigestSum } from '../../../../shared/evidence/payload-digest.ts';
import { RunLedgerCounter } from '../../../dispatch/run-ledger.ts';

/** The QDL's count for one SUT node, with a digest of the payloads. */
export class DigestedLedger extends RunLedgerCounter {
  /** Replaced before the run by the sum that both ends agreed on. */
  digest: PayloadDigestSum = new PayloadDigestSum(0);

  /** Adds the digest of a sample whose last byte was handed to the socket. Hot path. */
  addSample(id: number, sampleIndex: number, { digestOf }: SamplePayloads): void {
    if (this.digest.perMillion === 0 || digestOf === undefined) return;
    this.digest.add(id, digestOf(sampleIndex));
  }

  override toCounts(): LedgerCounts {
    const payloadDigest = this.digest.toBytes().toString('hex');
    return { ...super.toCounts(), digestedSampleCount: this.digest.count, payloadDigest };
  }
}
