import assert from 'node:assert';
import { NO_BYTES } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { SamplePayloads } from '../../../shared/domain/query-sample-library.ts';
import type { WirePart } from '../../../shared/wire/part-codec.ts';
import type { OutgoingPart } from '../../dispatch/outgoing-part.ts';

/**
 * The part of a query that the sample library has compressed as a whole: its one sample carries an id
 * only, the payload goes out as it was prepared (rule: inference_rules v4.1, Network division: "in Server
 * mode allow per-Query compression", DLRM).
 * @param prepare SamplePayloads.preparedQueryPayload.
 */
export function wholeQueryPart(
  { query, querySampleCount, samples }: OutgoingPart,
  prepare: NonNullable<SamplePayloads['preparedQueryPayload']>,
): WirePart {
  const [sample] = samples;
  assert(sample !== undefined && querySampleCount === 1, 'only queries of one sample are prepared');
  assert.equal(sample.total, 0);
  const { payload, sampleBytes } = prepare(sample.sampleIndex);
  return {
    query,
    querySampleCount,
    samples: [{ id: sample.id, payload: NO_BYTES, encoding: 0, offset: 0, total: 0 }],
    queryPayload: payload,
    queryEncoding: 0,
    querySampleBytes: sampleBytes,
  };
}
