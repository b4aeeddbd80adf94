import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sentencesOfText } from '../../../../../loadgen-node/samples/metrics/punkt-sentences.ts';
import { bySentence, RougeScorer } from '../../../../../loadgen-node/samples/metrics/rouge.ts';

// Goal: ROUGE as rouge_score has it. Method: values that follow from the definitions by hand; texts
// of the goldens in random order for what must hold of any two texts. The printed figures of the
// goldens are compared in language-benchmarks.test.ts.

const SENTENCES = 'test/golden/benchmarks/text/punkt-sentences.json';
const FILE = 'test/golden/benchmarks/text/llama2-70b/decoded.json';
const TEXTS = (JSON.parse(readFileSync(FILE, 'utf8')) as { text: string }[]).map(
  ({ text }) => text,
);

/** Numbers from 0 to 1, the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('ROUGE', () => {
  const scorer = new RougeScorer();

  it.each([
    ['the cat sat', 'the cat sat', [1, 1, 1, 1]],
    ['', 'the cat sat', [0, 0, 0, 0]],
    ['the cat', '', [0, 0, 0, 0]],
    ['?!', '...', [0, 0, 0, 0]],
    // One word each: no pair of words.
    ['cat', 'cat', [1, 0, 1, 1]],
    // 3 of 3 and 4 words, of the pairs 1 of 2 and 3, common subsequence "a c" or "a b".
    ['a c b', 'a b c b', [6 / 7, 0.4, 6 / 7, 6 / 7]],
    // Stems and capitals: running, runs -> run.
    ['Running; CATS', 'runs cat', [1, 1, 1, 1]],
  ] as const)('of "%s" against "%s" is %s', (prediction, target, expected) => {
    const { rouge1, rouge2, rougeL, rougeLsum } = scorer.score(prediction, target);
    for (const [i, value] of [rouge1, rouge2, rougeL, rougeLsum].entries()) {
      expect(value).toBeCloseTo(expected[i] as number, 12);
    }
  });

  it('counts sentences in any order for Lsum, and only in order for L', () => {
    const { rougeL, rougeLsum } = scorer.score('c d\na b', 'a b\nc d');
    expect([rougeL, rougeLsum]).toEqual([0.5, 1]);
  });

  it('holds what must hold of 1,000 pairs of texts', () => {
    const random = randomFrom(7);
    const pick = (): string => TEXTS[Math.floor(random() * TEXTS.length)] as string;
    for (let i = 0; i < 1000; i += 1) {
      const [a, b] = [bySentence(pick()), bySentence(pick())];
      const [there, back] = [scorer.score(a, b), scorer.score(b, a)];
      expect(there.rouge1).toBe(back.rouge1);
      expect(there.rouge2).toBe(back.rouge2);
      expect(there.rougeL).toBe(back.rougeL);
      expect(there.rougeL).toBeLessThanOrEqual(there.rouge1 + 1e-12);
      expect(there.rougeLsum).toBeLessThanOrEqual(there.rouge1 + 1e-12);
      expect(there.rouge1).toBe(new RougeScorer().score(a, b).rouge1);
      expect(scorer.score(a, a).rougeL).toBe(1);
    }
  });
});

describe('sentences', () => {
  it.each([
    ['One. Two! Three? four', ['One.', 'Two!', 'Three?', 'four']],
    ['He paid 4. and left. Then 5. More', ['He paid 4. and left.', 'Then 5.', 'More']],
    ['J. Smith came. p. 5', ['J. Smith came.', 'p.', '5']],
    ['It cost 3.5 dollars... Really', ['It cost 3.5 dollars... Really']],
    ['"Stop." He went.', ['"Stop."', 'He went.']],
    ['(See here.) Then', ['(See here.)', 'Then']],
    ['What?! Yes. \n\n  End', ['What?!', 'Yes.', 'End']],
    ['a . b', ['a .', 'b']],
    ['', []],
  ])('of %j are %j', (text, sentences) => {
    expect(sentencesOfText(text)).toEqual(sentences);
  });

  it("are NLTK's, of texts of marks at random", () => {
    const rows = JSON.parse(readFileSync(SENTENCES, 'utf8')) as [
      text: string,
      sentences: string[],
    ][];
    expect(rows.length).toBeGreaterThan(100);
    for (const [text, sentences] of rows) expect(sentencesOfText(text)).toEqual(sentences);
  });

  it('of a text that repeats a mark are three', () => {
    // A rule that looks back to the begin of the word at each mark takes a minute here.
    expect(sentencesOfText('!'.repeat(100_000))).toEqual(['!', '!'.repeat(99_998), '!']);
  });
});
