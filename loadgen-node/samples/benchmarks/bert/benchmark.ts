import assert from 'node:assert';
import { join } from 'node:path';
import { SQUAD_STANDIN_F1 } from '../../../../shared/benchmarks/standin/standin-squad.ts';
import { dataSetSamplesOf } from '../../../../shared/rules/benchmark-rules.ts';
import { BERT_LENGTH } from '../../../../shared/rules/cards/bert.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import type { DataSet } from '../../data-set/data-set.ts';
import { standinSource } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { requireFiles, standinBenchmark } from '../standin-benchmark.ts';
import { type Feature, readSquad, tokensOf, windowOffset } from './squad-features.ts';
import { scoreSquad } from './squad-score.ts';
import { ensureStandinSquad, SQUAD_FILE, VOCABULARY_FILE } from './standin-questions.ts';
import { readWordPieces } from './word-piece.ts';

/**
 * Questions in SQuAD v1.1's validation set, and the resulting samples with BERT's own vocabulary.
 */
const QUESTION_COUNT = 10_570;
const SAMPLE_COUNT = dataSetSamplesOf('bert');

/** Fields of a data set that depend on its source. */
type Source = Pick<DataSet, 'name' | 'isManifestChecked' | 'quality' | 'marks'>;

/**
 * BERT-large on SQuAD v1.1, on the LoadGen node: a folder with dev-v1.1.json and vocab.txt under
 * their official names, or generated questions in the same form. Tokens are made when the data set
 * is opened, untimed. Rule: inference_rules v4.1, untimed pre-processing: "Convert text to token
 * ids using the reference tokenizer".
 */
export const benchmark: LoadgenBenchmark = standinBenchmark('bert', {
  holds: `${SQUAD_FILE} of SQuAD v1.1 and BERT's ${VOCABULARY_FILE}`,
  makes: 'generated questions',
  openOwn: (folder) => openSquad(folder, ownSource),
  openStandin: async (set, options) => {
    const folder = await ensureStandinSquad(set, options);
    return openSquad(folder, (_questions, samples) => generatedSource(set, samples));
  },
});

/** Name and marks; only the whole validation set gets the official name. */
function ownSource(questions: number, samples: number): Source {
  if (questions === QUESTION_COUNT && samples === SAMPLE_COUNT) return { name: 'squad-v1.1-dev' };
  const mark =
    `the data set is not the validation set of SQuAD v1.1: ${questions} questions, ${samples} samples; an official run ` +
    `needs ${QUESTION_COUNT} questions, which are ${SAMPLE_COUNT} samples with BERT's vocabulary`;
  return { name: 'squad-own-data', marks: [mark] };
}

function generatedSource(set: GeneratedSet, samples: number): Source {
  const source = standinSource('bert', {
    name: 'squad-standin',
    set,
    value: SQUAD_STANDIN_F1,
    samples: `${samples} samples of questions made by longhaul, not SQuAD`,
  });
  return { ...source, isManifestChecked: true };
}

async function openSquad(
  folder: string,
  sourceOf: (questions: number, samples: number) => Source,
): Promise<DataSet> {
  requireFiles(folder, [SQUAD_FILE, VOCABULARY_FILE]);
  const pieces = await readWordPieces(join(folder, VOCABULARY_FILE));
  const squad = await readSquad(join(folder, SQUAD_FILE), pieces);
  const { questions, features } = squad;
  return {
    ...sourceOf(questions.length, features.length),
    folder,
    files: [SQUAD_FILE, VOCABULARY_FILE],
    totalSampleCount: features.length,
    readPayload: async (sampleIndex, form) => {
      const feature = features[sampleIndex];
      assert(feature !== undefined, `sample ${sampleIndex} of ${features.length}`);
      return payloadOf(feature, tokensOf(feature, pieces), form);
    },
    scoreAccuracy: (entries) => scoreSquad(entries, squad, pieces),
  };
}

/** @param form `ids`, `int64` or `int32`: see BERT_ENCODINGS. */
function payloadOf(feature: Feature, tokens: readonly number[], form: string): Uint8Array {
  const inputs = new Int32Array((form === 'ids' ? 1 : 3) * BERT_LENGTH);
  inputs.set(tokens);
  if (form === 'ids') return new Uint8Array(inputs.buffer);
  inputs.fill(1, BERT_LENGTH, BERT_LENGTH + tokens.length);
  inputs.fill(1, 2 * BERT_LENGTH + windowOffset(feature), 2 * BERT_LENGTH + tokens.length);
  if (form === 'int32') return new Uint8Array(inputs.buffer);
  assert.equal(form, 'int64');
  const words = new Int32Array(2 * inputs.length);
  // Lower 32-bit word of each; no value needs the upper one.
  for (const [i, value] of inputs.entries()) words[2 * i] = value;
  return new Uint8Array(words.buffer);
}
