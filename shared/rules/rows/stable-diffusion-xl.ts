import type { BenchmarkRules } from './benchmark-row.ts';

/** Width and height of a generated picture, in pixels. */
export const PICTURE_SIDE = 1024;

/** Bytes of a response: height x width x RGB. */
export const PICTURE_BYTES: number = PICTURE_SIDE * PICTURE_SIDE * 3;

/** Token ids of a prompt, with beginning, end and padding. */
export const PROMPT_TOKENS = 77;

/** Form of a sample on the wire. */
export const PROMPTS_FORM = 'ids';

/**
 * Encodings and tensors of stable-diffusion-xl. A sample is, as the rules have it, a pair of a positive and a negative prompt: for
 * each the ids of the first and of the second tokenizer, int32, little-endian: 1,232 bytes.
 */
export const PICTURE_ROW: Pick<
  BenchmarkRules,
  'encodings' | 'sampleTensors' | 'responseTensor' | 'defaults'
> = {
  encodings: { [PROMPTS_FORM]: { form: PROMPTS_FORM, compression: 'identity' } },
  sampleTensors: { [PROMPTS_FORM]: { datatype: 'INT32', shape: [2, 2, PROMPT_TOKENS] } },
  responseTensor: { datatype: 'UINT8', shape: [PICTURE_SIDE, PICTURE_SIDE, 3] },
  // A response has 3 MB; on a processor it may take half an hour.
  defaults: { stallTimeout: '3600s' },
};
