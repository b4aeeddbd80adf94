import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import { compressionRow, NOT_ALLOWED, networkRounds } from '../rows/compression-row.ts';
import { SERVER_OFFLINE, SINGLE_OFFLINE, shown } from '../rows/model-row.ts';

/** Width and height of a generated picture, in pixels. */
export const PICTURE_SIDE = 1024;

/** Bytes of a response: height x width x RGB. */
export const PICTURE_BYTES: number = PICTURE_SIDE * PICTURE_SIDE * 3;

/** Token ids of a prompt, with beginning, end and padding. */
export const PROMPT_TOKENS = 77;

/** Form of a sample on the wire. */
export const PROMPTS_FORM = 'ids';

/**
 * A sample is, as the rules have it, a pair of a positive and a negative prompt: for each the ids
 * of the first and of the second tokenizer, int32, little-endian: 1,232 bytes.
 *
 * Rules: inference_rules v4.1, table of datacenter benchmarks (QSL size 5000, ranges of FID and
 * CLIP, Server 20 s). Rounds after v5.1 do not have it in the datacenter suite.
 */
export const STABLE_DIFFUSION_XL: BenchmarkCard = {
  key: 'stable-diffusion-xl',
  title: 'pictures from text: Stable Diffusion XL base 1.0, 1024x1024, on captions of COCO 2014',
  encodings: { [PROMPTS_FORM]: { form: PROMPTS_FORM, compression: 'identity' } },
  sampleTensors: { [PROMPTS_FORM]: { datatype: 'INT32', shape: [2, 2, PROMPT_TOKENS] } },
  responseTensor: { datatype: 'UINT8', shape: [PICTURE_SIDE, PICTURE_SIDE, 3] },
  models: [
    {
      name: 'stable-diffusion-xl',
      rounds: ['v4.0', 'v6.1'],
      scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE },
      samples: 5000,
      serverLatencyNs: 20_000_000_000,
      // Without bounds in shares: the rules give a range. CLIP_SCORE is 100 times a cosine.
      bounds: [
        { metric: 'CLIP_SCORE', lower: 31.68631873, upper: 31.81331801 },
        { metric: 'FID_SCORE', lower: 23.01085758, upper: 23.95007626 },
      ],
      baselinePercents: { CLIP_SCORE: 1, FID_SCORE: 2 },
      tests: [],
      // Ten pictures that a reviewer looks at; most rounds have different ones.
      ...shown('images', '4459 4015 2705 1682 4048 4683 3757 1578 3319 95'),
      since: {
        'v4.1': {
          tests: ['TEST01', 'TEST04'],
          ...shown('images', '4655 2569 1303 109 4509 3009 2179 1826 2094 3340'),
        },
        'v5.0': shown('images', '4459 4015 2705 1682 4048 4683 3757 1578 3319 95'),
        'v5.1': shown('images', '2747 2235 2165 1515 1538 1367 2419 4629 3657 4532'),
        // Edge only, though a system of both suites shows Server as well.
        'v6.0': {
          scenarios: { edge: SINGLE_OFFLINE },
          bothSuites: { required: ['SingleStream', 'Offline', 'Server'], oneOf: [] },
          ...shown('images', '1311 2476 3644 2188 4114 52 388 1195 3427 2289'),
        },
        'v6.1': { accuracyFiles: undefined },
      },
    },
  ],
  compression: [compressionRow(networkRounds('v4.1', 'v5.1'), NOT_ALLOWED)],
  bandwidth: {
    input: `${PROMPT_TOKENS}*dtype_size`,
    inputElements: PROMPT_TOKENS,
    outputElements: PICTURE_BYTES,
  },
  generated: { standard: { seed: 61, sampleCount: 48 } },
  // A response has 3 MB; on a processor it may take half an hour.
  defaults: { stallTimeout: '3600s' },
};
