import { readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { utf8Text } from '../../../shared/base/bytes/utf8.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { GNMT } from '../../../shared/rules/cards/gnmt.ts';
import type {
  OpenedModel,
  RunModel,
  SamplePayload,
  StepwisePipeline,
} from '../../model/model-facts.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
import { standinModels } from '../standin/standin-models.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { PARTS, translationGraphs } from './graph-interface.ts';
import { GNMT_STANDIN } from './standin.ts';
import { translate } from './translate.ts';
import { readVocabularies } from './vocabulary.ts';

/**
 * Most tokens of sentences translated together, padding included: the decoder has ten rows per
 * sentence.
 */
const TOKENS_AT_ONCE = 2048;

/** A sentence, and its index in the batch. */
interface Sentence {
  readonly place: number;
  readonly ids: readonly number[];
}

/**
 * GNMT on the SUT node: words to ids, encoder, beam search over the decoder, ids to words, all
 * timed. A response is the translation as UTF-8, parts of words joined. Source:
 * mlcommons/inference, branch r0.5, v0.5/translation/gnmt/tensorflow.
 */
export const benchmark: SutBenchmark<StepwisePipeline> = {
  ...standinModels(GNMT_STANDIN),
  rules: benchmarkRules('gnmt'),
  parts: Object.values(PARTS),
  reference: {
    howToGet:
      'the reference is a TensorFlow checkpoint (Zenodo record 2530924); the README of the benchmark has the interface of its export',
    files: [],
  },
  // Depends on the sentence.
  sampleElements: undefined,
  takesHalf: true,
  openPipeline: (model, usage) => {
    refuseUsage(usage, 'the benchmark gnmt');
    return translationPipeline(model);
  },
};

function translationPipeline(model: OpenedModel): StepwisePipeline {
  const { idsOf, textOf, targetSize, someText } = readVocabularies(model.file);
  const graphs = translationGraphs(model, targetSize);
  const { form } = GNMT.encodings.text;
  const encoder = new TextEncoder();
  const answer = async (samples: readonly SamplePayload[], run: RunModel) => {
    const answers = samples.map((): Uint8Array | Error => new Uint8Array(0));
    const sentences: Sentence[] = [];
    for (const [place, { payload }] of samples.entries()) {
      try {
        const text = utf8Text(readInPlace(payload), 'a sample is a sentence; this payload');
        sentences.push({ place, ids: idsOf(text) });
      } catch (error) {
        answers[place] = error as Error; // The translation throws only errors.
      }
    }
    for (const group of groupsOf(sentences)) {
      const all = group.map(({ ids }) => ids);
      const translations = await translate(all, graphs, targetSize, run);
      for (const [i, { place }] of group.entries()) {
        // In range: one per sentence.
        answers[place] = encoder.encode(textOf(translations[i] as number[]));
      }
    }
    return answers;
  };
  return {
    forms: [form],
    answer,
    warmUpPayload: () => ({ form, payload: encoder.encode(someText) }),
  };
}

/**
 * Groups of sentences of similar length; a sentence without words has an empty translation and no
 * group.
 */
function groupsOf(sentences: readonly Sentence[]): Sentence[][] {
  const groups: Sentence[][] = [];
  let group: Sentence[] = [];
  const byLength = sentences
    .filter(({ ids }) => ids.length > 0)
    .sort((a, b) => a.ids.length - b.ids.length);
  for (const sentence of byLength) {
    if (group.length === 0 || (group.length + 1) * sentence.ids.length > TOKENS_AT_ONCE) {
      group = [];
      groups.push(group);
    }
    group.push(sentence);
  }
  return groups;
}
