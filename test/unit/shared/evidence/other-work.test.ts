import { describe, expect, it } from 'vitest';
import type { NodeEvidence } from '../../../../shared/evidence/evidence-schema.ts';
import { otherWorkOf } from '../../../../shared/evidence/other-work.ts';

// Goal: what a node did for others is told with its number, and with who they were as far as the
// node knows. Method: evidence by hand.

const evidence = (fields: object): NodeEvidence => fields as NodeEvidence;

describe('work of a node for others', () => {
  it.each([
    [['10.0.0.3'], 'answered 1,200 samples of others meanwhile, among them a LoadGen at 10.0.0.3'],
    [
      ['10.0.0.3', '10.0.0.4'],
      'answered 1,200 samples of others meanwhile, among them LoadGens at 10.0.0.3, 10.0.0.4',
    ],
    [[], 'answered 1,200 samples of others meanwhile'],
    [
      Array.from({ length: 8 }, (_, i) => `10.0.0.${i}`),
      expect.stringMatching(/, 10\.0\.0\.7 and maybe more$/),
    ],
  ])('names the addresses %j', (otherAddresses, text) => {
    const theirs = { otherSampleCount: 1_200, otherAddresses };
    expect(otherWorkOf(evidence({ theirs }))).toEqual({ samples: 1_200, text });
  });

  it('is none where there was none, or where the node does not tell', () => {
    expect(otherWorkOf(evidence({ theirs: { otherSampleCount: 0 } }))).toBeNull();
    expect(otherWorkOf(evidence({ theirs: {} }))).toBeNull();
    expect(otherWorkOf(evidence({ theirs: null }))).toBeNull();
  });

  it('is what the statistics of another server grew by beside the requests of the run', () => {
    // Three of ours failed here; the server answered them, or not.
    const ours = { partCount: 40, completedCount: 37 };
    const server = (count: number) =>
      evidence({ server: { statistics: { success: { count } } }, ours });
    expect(otherWorkOf(server(52))).toEqual({
      samples: 12,
      text: 'answered 12 requests of other clients meanwhile',
    });
    expect(otherWorkOf(server(40))).toBeNull();
    expect(otherWorkOf(evidence({ server: { statistics: null }, ours }))).toBeNull();
  });
});
