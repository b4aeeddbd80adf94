import { describe, expect, it } from 'vitest';
import { QuerySpanIds } from '../../../../../loadgen-node/observe/spans/span-ids.ts';

// Goal: the header of a query's calls and the span that is made after the run have the same ids,
// and as many queries are sampled as were asked for. Method: ids of many queries.

const QUERIES = Array.from({ length: 20_000 }, (_, query) => query);

function idsOf(share: number): QuerySpanIds {
  const ids = new QuerySpanIds(share);
  ids.turn(true);
  return ids;
}

describe('QuerySpanIds', () => {
  it.each([0, 0.01, 0.5, 1])('samples a share of %s', (share) => {
    const ids = idsOf(share);
    const seen = QUERIES.filter((query) => ids.isSampled(query)).length / QUERIES.length;
    // Five standard deviations: the seed differs from run to run.
    expect(Math.abs(seen - share)).toBeLessThanOrEqual(
      5 * Math.sqrt((share * (1 - share)) / QUERIES.length),
    );
  });

  it('gives each sampled query the header of its own span, and others none', () => {
    const ids = idsOf(0.1);
    const headers = QUERIES.map(ids.traceparentOf);
    for (const [query, header] of headers.entries()) {
      const { traceId, spanId } = ids.idsOf(query);
      expect(header).toBe(ids.isSampled(query) ? `00-${traceId}-${spanId}-01` : undefined);
      if (header !== undefined) expect(header).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    }
    const given = headers.filter((header) => header !== undefined);
    expect(new Set(given).size).toBe(given.length);
  });

  it('gives none in the accuracy run, and other ones in the next run', () => {
    const ids = idsOf(1);
    expect(ids.traceparentOf(7)).not.toBe(idsOf(1).traceparentOf(7));
    ids.turn(false);
    expect(ids.traceparentOf(7)).toBeUndefined();
  });
});
