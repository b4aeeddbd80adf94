import assert from 'node:assert';
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import {
  STANDIN_TOKENS,
  standinPrompt,
} from '../../../../shared/benchmarks/standin/standin-pictures.ts';
import { benchmarkRules, dataSetSamplesOf } from '../../../../shared/rules/benchmark-rules.ts';
import { PROMPT_TOKENS, PROMPTS_FORM } from '../../../../shared/rules/cards/stable-diffusion-xl.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import type { DataSet } from '../../data-set/data-set.ts';
import { standinSource } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { standinBenchmark } from '../standin-benchmark.ts';
import { CAPTIONS_FILE, readCaptions } from './captions.ts';
import { readClipTokenizer, TOKENIZER_FILES } from './clip-tokenizer.ts';
import { JUDGE_FILES, openOnnxJudge } from './onnx-judge.ts';
import { type PictureJudge, scorePictures } from './picture-score.ts';
import { standinJudge } from './standin-judge.ts';

const rules = benchmarkRules('stable-diffusion-xl');

/** Captions of the data set. */
const CAPTION_COUNT = dataSetSamplesOf(rules.key);

/** The negative prompt. Source: text_to_image/backend_pytorch.py. */
const NEGATIVE_PROMPT = 'normal quality, low quality, worst quality, low res, blurry, nsfw, nude';

/** Folders of SDXL's two tokenizers, named as in its checkpoint. */
const TOKENIZERS = ['tokenizer', 'tokenizer_2'] as const;

/** Scores of the stand-in model on the standard prompts: a test measures them. */
export const STANDIN_CLIP = 0.9791;
export const STANDIN_FID = 0.5492;

/** Factor by which the stand-in's FID may exceed its target: it varies with the prompts. */
const STANDIN_FID_SHARE = 1.5;

/**
 * Text to image on the LoadGen node: captions of COCO 2014 and SDXL's tokenizers, or made-up
 * prompts. A sample is the token ids of a caption and of the negative prompt; the response is a
 * picture.
 */
export const benchmark: LoadgenBenchmark = standinBenchmark(rules.key, {
  holds: `${CAPTIONS_FILE}, ${TOKENIZERS.join(' and ')}`,
  makes: 'made-up prompts',
  openOwn: openFolder,
  openStandin: async (set) => madeUpPrompts(set),
});

async function openFolder(folder: string): Promise<DataSet> {
  const captions = await readCaptions(folder);
  const tokenizers = await Promise.all(
    TOKENIZERS.map((name) => readClipTokenizer(join(folder, name))),
  );
  const [first] = tokenizers;
  assert(first !== undefined);
  const missing = Object.values(JUDGE_FILES).filter((file) => !existsSync(join(folder, file)));
  const isWhole = captions.length === CAPTION_COUNT;
  return pictureDataSet({
    name: isWhole ? 'coco-2014-captions' : 'own-captions',
    folder,
    files: [
      CAPTIONS_FILE,
      ...TOKENIZERS.flatMap((name) => TOKENIZER_FILES.map((file) => posix.join(name, file))),
    ],
    marks: [
      ...(isWhole
        ? []
        : [
            `the data set is not that of the benchmark: ${captions.length} captions; an official run needs its ${CAPTION_COUNT}`,
          ]),
      ...(missing.length === 0
        ? []
        : [`no accuracy can be scored: ${folder} has no ${missing.join(', ')}`]),
    ],
    captions,
    idsOf: (text) => tokenizers.map((tokenizer) => tokenizer.idsOf(text)),
    openJudge: () => openOnnxJudge(folder, first),
  });
}

function madeUpPrompts(set: GeneratedSet): DataSet {
  const prompts = Array.from({ length: set.sampleCount }, (_, i) => standinPrompt(set, i));
  const byCaption = new Map(prompts.map((prompt) => [prompt.caption, prompt]));
  const { begin, other, end } = STANDIN_TOKENS;
  const source = standinSource(rules.key, {
    name: 'coco-captions-standin',
    set,
    value: STANDIN_CLIP,
    samples: `${set.sampleCount} prompts made up by longhaul, not COCO's captions; scored neither with Inception nor with CLIP`,
  });
  // With fewer pictures FID is larger, at any quality.
  const isEnough = set.sampleCount >= (rules.generated?.standard.sampleCount ?? 0);
  const bound = { metric: 'FID_SCORE', max: STANDIN_FID * STANDIN_FID_SHARE };
  return pictureDataSet({
    ...source,
    quality: { ...source.quality, more: isEnough ? [bound] : [] },
    folder: '',
    captions: prompts.map(({ caption }) => caption),
    idsOf: (text) => {
      const words = byCaption.get(text)?.wordIds ?? [other];
      const ids = [begin, ...words, end];
      const padded = Int32Array.from({ length: PROMPT_TOKENS }, (_, i) => ids[i] ?? 0);
      return [padded, padded];
    },
    openJudge: () => standinJudge(byCaption),
  });
}

/** Captions and their tokenization. */
interface PictureSource
  extends Omit<DataSet, 'totalSampleCount' | 'readPayload' | 'scoreAccuracy'> {
  /** By sample index. */
  readonly captions: readonly string[];
  /** Token ids from the first and the second tokenizer. */
  readonly idsOf: (text: string) => readonly Int32Array[];
  readonly openJudge: () => Promise<PictureJudge>;
}

function pictureDataSet({ captions, idsOf, openJudge, ...parts }: PictureSource): DataSet {
  const negative = idsOf(NEGATIVE_PROMPT);
  const count = 4 * PROMPT_TOKENS;
  return {
    ...parts,
    totalSampleCount: captions.length,
    payloadBytes: () => count * 4,
    readPayload: async (index, form) => {
      assert.equal(form, PROMPTS_FORM);
      const ids = new Int32Array(count);
      for (const [i, row] of [...idsOf(captions[index] as string), ...negative].entries()) {
        ids.set(row, i * PROMPT_TOKENS);
      }
      return new Uint8Array(ids.buffer);
    },
    scoreAccuracy: (entries, turns) =>
      scorePictures(entries, captions, rules.quality.metric, openJudge, turns),
  };
}
