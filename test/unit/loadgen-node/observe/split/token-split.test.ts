import { describe, expect, it } from 'vitest';
import { AnswersUnderWay } from '../../../../../loadgen-node/observe/split/answers-under-way.ts';
import { latencySplit } from '../../../../../loadgen-node/observe/split/latency-split.ts';
import { textsOfBounds, whyInShort } from '../../../../../loadgen-node/observe/split/split-text.ts';
import { type PartRow, partRecords } from '../../../../scenes/simulated-run/records.ts';

// Goal: where a run times first tokens, its slowest samples are those of late first tokens and slow
// tokens, not those of long answers. Method: records made from parts that are known.

const MS = 1e6;

/**
 * Every 200th answer is 50 times as long; of the last ten of 1,000 the prompt waited 300 ms in the
 * queue.
 */
function longAnswers(): PartRow[] {
  return Array.from({ length: 1000 }, (_, i): PartRow => {
    const tokens = i % 200 === 0 ? 501 : 11;
    const queue = i < 990 ? 0 : 300 * MS;
    const decodingNs = (tokens - 1) * 10 * MS;
    return {
      ...{ scheduledNs: i * 1000 * MS, queue, preprocess: 1 * MS, network: 2 * MS, tokens },
      ...{ compute: 40 * MS + decodingNs, firstTokenNs: queue + 42 * MS },
    };
  });
}

describe('the split of a run that times first tokens', () => {
  it('is of the time to the first token: long answers are not slow', () => {
    const split = latencySplit(partRecords(longAnswers()));
    const { tokens } = split ?? {};
    expect(tokens).toMatchObject({ sampleCount: 1000, growsMost: 'queue' });
    const figures = new Map(tokens?.parts.map((one) => [one.part, one]));
    expect(figures.get('queue')).toMatchObject({ typicalNs: 0, tailNs: 300 * MS });
    expect(figures.get('prompt')).toMatchObject({ typicalNs: 41 * MS, tailNs: 41 * MS });
    expect(split?.text).toContain(
      'Typical first tokens took 42 ms, the slowest 1 % 342 ms, 300 ms more. Of that, queue (',
    );
    expect(split?.text).toContain('No place was free in the SUT');
    expect(split?.text).not.toContain('Typical samples');
  });

  it('parts sum to the time to the first token', () => {
    const parts = latencySplit(partRecords(longAnswers()))?.tokens?.parts ?? [];
    const meanNs = parts.reduce((sum, part) => sum + part.meanNs, 0);
    expect(meanNs).toBeCloseTo(45 * MS, 0);
  });

  it('tells the time per token with the answers that were under way', () => {
    const alone = longAnswers();
    // The last ten are under way together, and their tokens take three times as long.
    const crowd = alone.map((row, i) =>
      i < 990 ? row : { ...row, scheduledNs: 1e12, compute: 40 * MS + 300 * MS },
    );
    const split = latencySplit(partRecords(crowd));
    expect(split?.tokens?.perToken?.tailAnswers).toBe(10);
    // A long answer is under way beside five others.
    expect(split?.tokens?.perToken?.typicalAnswers).toBeCloseTo(1, 1);
    expect(split?.text).toContain('each, with 1 answer of the node under way meanwhile;');
    expect(split && whyInShort(split, { isOffline: false, hasModel: true })).toMatch(
      /^first token: 98 % is the model and the network; the slowest 1 % add 300 ms of queueing in the SUT; per token: 10\.1 ms with 1 under way, slowest 1 % 30\.1 ms with 10$/,
    );
  });

  it('tells apart what its text says of the two bounded times', () => {
    const split = latencySplit(partRecords(longAnswers()));
    if (split === null) throw new Error('no split');
    const { ttft = '', tpot = '' } = textsOfBounds(split);
    expect(ttft).toMatch(/^Typical first tokens took 42 ms/);
    expect(ttft).not.toContain('Tokens behind the first');
    expect(tpot).toMatch(/^Tokens behind the first typically took 10\.1 ms each, .*\.$/);
    expect(textsOfBounds({ ...split, tokens: undefined as never })).toEqual({});
  });

  it('counts for a node only its own answers', () => {
    const rows = longAnswers().map((row, i) => ({
      ...{ ...row, node: i % 2, tokens: 11, compute: 140 * MS },
      scheduledNs: Math.floor(i / 2) * 1000 * MS,
    }));
    expect(latencySplit(partRecords(rows))?.tokens?.perToken?.typicalAnswers).toBe(1);
    const ofOne = rows.map((row) => ({ ...row, node: 0 }));
    expect(latencySplit(partRecords(ofOne))?.tokens?.perToken?.typicalAnswers).toBe(2);
  });

  it.each([
    ['at a rate', { dispatch: 1000 }, true],
    ['each when another is answered', {}, false],
    ['all at once', { dispatch: 1000, query: 0, scheduledNs: 0 }, false],
  ])(
    'tells no more of the prompt than is known, and advises on a rate only where there is one: due %s',
    (_, when, hasRate) => {
      const rows = Array.from(
        { length: 200 },
        (__, i): PartRow => ({
          ...{ scheduledNs: i * MS, compute: 60 * MS, network: MS, tokens: 2, ...when },
          firstTokenNs: 40 * MS,
        }),
      );
      const records = partRecords(rows);
      const text = latencySplit(records)?.text ?? '';
      expect(text).toContain('The time to the first token is model and network together');
      expect(text.includes('a lower rate')).toBe(hasRate);
      expect(text.includes('side by side')).toBe(hasRate);
      const here = latencySplit(records, { isOneMachine: true })?.text ?? '';
      expect(here).toContain('no network is between them: what precedes the first token is');
      expect(here).not.toContain('network together');
      expect(here.includes('a lower rate')).toBe(hasRate);
    },
  );

  it('says of a queue that places are missing, not batches', () => {
    const text = latencySplit(partRecords(longAnswers()))?.text;
    expect(text).toContain('queue (waiting in the SUT for a place among the sequences under way)');
    expect(text).not.toContain('batch');
    expect(text).not.toContain('a lower rate');
    const atRate = longAnswers().map((row) => ({ ...row, dispatch: 1000 }));
    expect(latencySplit(partRecords(atRate))?.text).toContain('a lower rate');
  });

  it('names the node that has the slow first tokens', () => {
    // The answers of the first node are as slow by their length.
    const rows = Array.from({ length: 2000 }, (_, i): PartRow => {
      const queue = i % 40 === 1 ? 300 * MS : 0;
      const tokens = i % 40 === 0 ? 41 : 11;
      return {
        ...{ node: i % 2, queue, tokens, compute: (30 + 10 * tokens) * MS },
        firstTokenNs: queue + 40 * MS,
      };
    });
    const text = latencySplit(partRecords(rows), { nodeNames: ['sut-a', 'sut-b'] })?.text;
    expect(text).toContain(
      'SUT node sut-b answered 50 % of the samples and 100 % of those with the slowest first tokens: queue is 15 ms in the mean there, 0 ns elsewhere.',
    );
  });

  it('says how many samples have no first token, or an impossible one', () => {
    const rows = longAnswers().map((row, i) => {
      if (i < 3) return { ...row, firstTokenNs: Number.NaN };
      return i < 5 ? { ...row, preprocess: 41 * MS, firstTokenNs: 40 * MS } : row;
    });
    const split = latencySplit(partRecords(rows));
    expect(split?.sampleCount).toBe(1000);
    expect(split?.tokens?.sampleCount).toBe(995);
    expect(split?.text).toContain('5 samples are not in it: no first token came, or it came');
    expect(latencySplit(partRecords(longAnswers()))?.text).not.toContain('not in it');
  });

  it('leaves out what was lost, and is absent where no first token was timed', () => {
    const [first, ...rest] = longAnswers() as [PartRow, ...PartRow[]];
    const records = partRecords([{ ...first, fate: 'lost' }, ...rest]);
    expect(latencySplit(records)?.tokens?.sampleCount).toBe(999);
    expect(latencySplit(partRecords([{ compute: MS }]))).not.toHaveProperty('tokens');
  });
});

describe('answers under way', () => {
  // Three answers: from 0 to 100, from 50 to 150, from 200 to 220.
  const answers = new AnswersUnderWay(Float64Array.of(50, 0, 200), Float64Array.of(150, 100, 220));

  it('are counted in the mean of a time', () => {
    expect(answers.meanBetween(0, 100)).toBe(1.5);
    expect(answers.meanBetween(50, 100)).toBe(2);
    expect(answers.meanBetween(150, 200)).toBe(0);
    expect(answers.meanBetween(100, 100)).toBeNaN();
  });

  it('say how long each number of them was under way', () => {
    const timesNs: number[] = [];
    answers.addTimes(timesNs);
    expect(timesNs).toEqual([50, 120, 50]);
  });
  it('do not count more of them where one begins in the instant in which another ends', () => {
    const timesNs: number[] = [];
    const chain = new AnswersUnderWay(Float64Array.of(0, 100, 150), Float64Array.of(100, 150, 200));
    chain.addTimes(timesNs);
    expect(timesNs).toEqual([0, 200]);
    const instant: number[] = [];
    new AnswersUnderWay(Float64Array.of(5), Float64Array.of(5)).addTimes(instant);
    expect(instant).toEqual([]);
  });
});
