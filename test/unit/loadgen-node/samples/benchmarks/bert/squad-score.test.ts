import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSquad } from '../../../../../../loadgen-node/samples/benchmarks/bert/squad-features.ts';
import {
  originalText,
  scoreSquad,
} from '../../../../../../loadgen-node/samples/benchmarks/bert/squad-score.ts';
import { wordPieces } from '../../../../../../loadgen-node/samples/benchmarks/bert/word-piece.ts';
import type { AccuracyEntry } from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: odd responses and answers are scored as the official script scores them, and the score
// depends on nothing that should not matter. Method: small contexts of known words; 1,000 random
// logs.

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
const PIECES = wordPieces(
  [
    '[PAD]',
    '[UNK]',
    '[CLS]',
    '[SEP]',
    'the',
    ...LETTERS,
    ',',
    '.',
    ...LETTERS.map((x) => `##${x}`),
  ],
  'vocab.txt',
);

interface Qa {
  readonly question: string;
  readonly answers: readonly string[];
}

/** @param contexts Text → its questions. */
function squadOf(contexts: Readonly<Record<string, readonly Qa[]>>) {
  const path = join(tempFolder(), 'dev-v1.1.json');
  let id = 0;
  const paragraphs = Object.entries(contexts).map(([context, qas]) => ({
    context,
    qas: qas.map(({ question, answers }) => {
      id += 1;
      return { id: `q${id}`, question, answers: answers.map((text) => ({ text })) };
    }),
  }));
  writeFileSync(path, JSON.stringify({ version: '1.1', data: [{ paragraphs }] }));
  return readSquad(path, PIECES);
}

/** A response in which some positions have logits, and all others 0. */
function response(
  starts: Readonly<Record<number, number>>,
  ends: Readonly<Record<number, number>>,
  rows = 384,
) {
  const logits = new Float32Array(2 * rows);
  for (const [position, logit] of Object.entries(starts)) logits[2 * Number(position)] = logit;
  for (const [position, logit] of Object.entries(ends)) logits[2 * Number(position) + 1] = logit;
  return new Uint8Array(logits.buffer);
}

/** `[CLS] q [SEP]` and then the context: token i of it is at position i + 3. */
const QUESTION = 'q';

async function lineOf(context: string, answers: readonly string[], bytes: Uint8Array) {
  const squad = await squadOf({ [context]: [{ question: QUESTION, answers }] });
  return (await scoreSquad([{ sampleIndex: 0, response: bytes }], squad, PIECES)).scriptLine;
}

describe('scoreSquad', () => {
  it('compares without case, punctuation, articles and blanks, and takes the best of the right answers', async () => {
    const bytes = response({ 3: 5 }, { 6: 5 });
    expect(await lineOf('The B, c d', ['x', 'b  C'], bytes)).toBe(
      '{"exact_match": 100.0, "f1": 100.0}',
    );
  });

  it('counts common words as often as both have them', async () => {
    // Answer: b b c; precision 2/3, recall 2/4.
    const bytes = response({ 3: 5 }, { 5: 5 });
    const f1 = 100 * ((2 * (2 / 3) * 0.5) / (2 / 3 + 0.5));
    expect(await lineOf('b b c d', ['b c x y'], bytes)).toBe(`{"exact_match": 0.0, "f1": ${f1}}`);
  });

  it('has an exact match and no F1 where both are only articles', async () => {
    expect(await lineOf('the b', ['A'], response({ 3: 5 }, { 3: 5 }))).toBe(
      '{"exact_match": 100.0, "f1": 0.0}',
    );
  });

  it('takes positions that a response does not have for equal ones, of which the first is best', async () => {
    expect(await lineOf('b c', ['b'], new Uint8Array(0))).toBe(
      '{"exact_match": 100.0, "f1": 100.0}',
    );
  });

  it('answers "empty" where the only best span of the window is too long', async () => {
    const long = Array.from({ length: 31 }, () => 'b').join(' ');
    const starts = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [i > 2 ? 350 + i : i, 1]),
    );
    expect(await lineOf(long, ['empty'], response({ ...starts, 3: 9 }, { ...starts, 33: 9 }))).toBe(
      '{"exact_match": 100.0, "f1": 100.0}',
    );
  });

  it('takes the first of equal spans, by start and then by end', async () => {
    const bytes = response({ 3: 1, 4: 1 }, { 3: 1, 4: 1 });
    expect(await lineOf('b c', ['b'], bytes)).toBe('{"exact_match": 100.0, "f1": 100.0}');
  });

  it('scores questions without a response as "empty", and counts samples that have one', async () => {
    const qas = [
      { question: 'q', answers: ['b'] },
      { question: 'r', answers: ['c'] },
    ];
    const squad = await squadOf({ 'b c': qas });
    const entry = { sampleIndex: 1, response: response({ 4: 1 }, { 4: 1 }) };
    expect(await scoreSquad([entry], squad, PIECES)).toEqual({
      metric: 'F1',
      counted: 'last',
      value: 0.5,
      sampleCount: 1,
      scriptLine: '{"exact_match": 50.0, "f1": 50.0}',
    });
  });

  it('takes the last response of a sample', async () => {
    const squad = await squadOf({ 'b c': [{ question: 'q', answers: ['c'] }] });
    const [b, c] = [3, 4].map((at) => ({
      sampleIndex: 0,
      response: response({ [at]: 1 }, { [at]: 1 }),
    }));
    const all = [b, c] as AccuracyEntry[];
    expect((await scoreSquad(all, squad, PIECES)).value).toBe(1);
    expect((await scoreSquad(all.reverse(), squad, PIECES)).value).toBe(0);
  });

  it.each([
    ['half a row', 12, /sample 0: a response is at most 384 rows .* 3072 bytes; this one has 12$/],
    ['too many rows', 3080, /this one has 3080$/],
  ])('refuses a response of %s', async (_case, bytes, message) => {
    await expect(lineOf('b', ['b'], new Uint8Array(bytes))).rejects.toThrow(message);
  });

  it('refuses NaN, and a sample that there is not', async () => {
    await expect(lineOf('b', ['b'], response({ 2: Number.NaN }, {}))).rejects.toThrow(
      'sample 0: a logit of row 2 is NaN',
    );
    const squad = await squadOf({ b: [{ question: 'q', answers: ['b'] }] });
    const entry = { sampleIndex: 1, response: new Uint8Array(0) };
    await expect(scoreSquad([entry], squad, PIECES)).rejects.toThrow(
      'a response for sample 1; the data set has the samples 0 to 0',
    );
  });

  it('depends neither on the order of a log nor on the scale of its logits', async () => {
    const words = fc.array(fc.constantFrom('b', 'C,', 'dé', 'the', 'xyz.', 'k'), {
      minLength: 1,
      maxLength: 300,
    });
    const question = fc.record({
      question: fc.constantFrom('q', 'r s t'),
      answers: fc.array(fc.constantFrom('b', 'c the', 'xyz'), { minLength: 1, maxLength: 3 }),
    });
    const logits = fc.array(fc.integer({ min: -40, max: 40 }), { minLength: 0, maxLength: 768 });
    await fc.assert(
      fc.asyncProperty(
        words,
        fc.array(question, { minLength: 1, maxLength: 3 }),
        logits,
        fc.integer(),
        async (context, qas, values, seed) => {
          const squad = await squadOf({ [context.join(' ')]: qas });
          const entries = squad.features.map((_, sampleIndex) => {
            const rows = Math.floor(values.length / 2);
            const turned = Float32Array.from(
              { length: 2 * rows },
              (__, i) => values[(i * 7 + sampleIndex * 13) % values.length] as number,
            );
            return { sampleIndex, response: new Uint8Array(turned.buffer) };
          });
          const { scriptLine, value, sampleCount } = await scoreSquad(entries, squad, PIECES);
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
          expect(sampleCount).toBe(squad.features.length);
          const shuffled = entries.toSorted(
            (a, b) => (a.sampleIndex ^ seed) - (b.sampleIndex ^ seed),
          );
          expect((await scoreSquad(shuffled, squad, PIECES)).scriptLine).toBe(scriptLine);
          const scaled = entries.map(({ sampleIndex, response: bytes }) => {
            const larger = new Float32Array(bytes.slice().buffer).map((logit) => logit * 4);
            return { sampleIndex, response: new Uint8Array(larger.buffer) };
          });
          expect((await scoreSquad([...entries, ...scaled], squad, PIECES)).scriptLine).toBe(
            scriptLine,
          );
        },
      ),
      { numRuns: 1000, seed: 1 },
    );
  });
});

describe('originalText', () => {
  it.each([
    ['the words as they are', 'steve smith', "Steve Smith's", 'Steve Smith'],
    ['accents of one character', 'creme brulee', 'La Crème Brûlée', 'Crème Brûlée'],
    ['all of it where tokens are not found', '[UNK]', 'a \u4E2D b', 'a \u4E2D b'],
    [
      'all of it where characters do not fit one to one',
      'cafe',
      'the cafe\u0301!',
      'the cafe\u0301!',
    ],
    ['characters of two UTF-16 units', 'b', '\u{1F600} b', 'b'],
  ])('gives %s', (_case, found, original, text) => {
    expect(originalText(found, original)).toBe(text);
  });
});
