import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAccuracyLog } from '../../../../../../loadgen-node/loadgen/logs/read/accuracy-log-reader.ts';
import {
  hasMaxContext,
  readSquad,
  tokensOf,
  windowOffset,
} from '../../../../../../loadgen-node/samples/benchmarks/bert/squad-features.ts';
import {
  answerOf,
  readSpans,
  scoreSquad,
} from '../../../../../../loadgen-node/samples/benchmarks/bert/squad-score.ts';
import { readWordPieces } from '../../../../../../loadgen-node/samples/benchmarks/bert/word-piece.ts';

// Goal: samples and score are those of the official scripts. Method: what create_squad_data.py and
// accuracy-squad.py made of two made-up data sets (test/golden/benchmarks).

/** A sample as features.json has it. */
interface GoldenFeature {
  readonly qsl_idx: number;
  readonly length: number;
  readonly input_ids: readonly number[];
  readonly first_segment1: number;
  readonly token_to_orig_map: readonly [number, number][];
  readonly max_context_true: readonly [number, number];
  readonly max_context_count: number;
}

describe.each(['a', 'b'])('SQuAD, golden %s', (name) => {
  const folder = join('test/golden/benchmarks/bert', name);
  const open = async () => {
    const pieces = await readWordPieces(join(folder, 'vocab.txt'));
    return { pieces, squad: await readSquad(join(folder, 'dev-v1.1.json'), pieces) };
  };

  it('makes the same samples', async () => {
    const { pieces, squad } = await open();
    const golden: GoldenFeature[] = JSON.parse(readFileSync(join(folder, 'features.json'), 'utf8'));
    expect(squad.features).toHaveLength(golden.length);
    for (const [i, feature] of squad.features.entries()) {
      const offset = windowOffset(feature);
      const { context } = feature.question;
      const tokens = Array.from({ length: feature.length }, (_, k) => feature.begin + k);
      const contextual = tokens.filter((token) => hasMaxContext(feature, token));
      const place = (token: number): number => token - feature.begin + offset;
      const wordOf = (token: number) => [place(token), context.wordOfToken[token]];
      expect({ ...golden[i], qas_id: '', doc_span_index: 0 }).toEqual({
        qsl_idx: i,
        qas_id: '',
        doc_span_index: 0,
        length: tokensOf(feature, pieces).length,
        input_ids: tokensOf(feature, pieces),
        first_segment1: offset,
        token_to_orig_map: [wordOf(tokens[0] as number), wordOf(tokens.at(-1) as number)],
        max_context_true: [place(contextual[0] as number), place(contextual.at(-1) as number)],
        max_context_count: contextual.length,
      });
    }
  });

  it('prints the same line', async () => {
    const { pieces, squad } = await open();
    const log = readAccuracyLog(join(folder, 'mlperf_log_accuracy.json'));
    const { scriptLine, value, sampleCount } = await scoreSquad(log, squad, pieces);
    const lines = readFileSync(join(folder, 'expected-stdout.txt'), 'utf8').trimEnd().split('\n');
    expect(scriptLine).toBe(lines.at(-1));
    expect(value).toBe(JSON.parse(scriptLine as string).f1 / 100);
    expect(sampleCount).toBe(squad.features.length);
  });

  it('finds the same answers', async () => {
    const { pieces, squad } = await open();
    const log = readAccuracyLog(join(folder, 'mlperf_log_accuracy.json'));
    const spans = await readSpans(log, squad.features);
    const answers = squad.questions.map((question) => answerOf(question, spans, pieces));
    const golden = JSON.parse(readFileSync(join(folder, 'expected-predictions.json'), 'utf8'));
    expect(answers).toEqual(Object.values(golden));
  });
});
