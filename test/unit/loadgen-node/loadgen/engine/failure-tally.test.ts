import { describe, expect, it } from 'vitest';
import { FailureTally } from '../../../../../loadgen-node/loadgen/engine/response-sink.ts';

// Goal: no failure hides behind another, and no peer can fill the memory with texts.
describe('FailureTally', () => {
  it('counts by code, and by text within it', () => {
    const tally = new FailureTally();
    tally.add({ code: 'bad-sample', text: 'not a JPEG' });
    tally.add({ code: 'limit', text: 'too large' }, 3);
    tally.add({ code: 'bad-sample', text: 'not a number' });
    tally.add({ code: 'bad-sample', text: 'not a JPEG' });
    expect(tally.counts()).toEqual([
      {
        code: 'bad-sample',
        count: 3,
        texts: [
          { text: 'not a JPEG', count: 2 },
          { text: 'not a number', count: 1 },
        ],
      },
      { code: 'limit', count: 3, texts: [{ text: 'too large', count: 3 }] },
    ]);
  });

  it('keeps eight texts and thirty-two codes, and counts all', () => {
    const tally = new FailureTally();
    for (let i = 0; i < 100; i += 1) tally.add({ code: 'bad-sample', text: `text ${i}` });
    for (let i = 0; i < 100; i += 1) tally.add({ code: `code ${i}`, text: 'same' });
    const [first, ...others] = tally.counts();
    expect(first).toMatchObject({ count: 100 });
    expect(first?.texts).toHaveLength(8);
    expect(others).toHaveLength(32);
    expect(others.at(-1)).toMatchObject({ code: 'other', count: 69 });
  });
});
