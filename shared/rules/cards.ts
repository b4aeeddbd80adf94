import { UNET_3D } from './cards/3d-unet.ts';
import { BERT } from './cards/bert.ts';
import { DIGITS } from './cards/digits.ts';
import { DLRM_V2 } from './cards/dlrm-v2.ts';
import { GNMT } from './cards/gnmt.ts';
import { GPTJ } from './cards/gptj.ts';
import { LLAMA2_70B } from './cards/llama2-70b.ts';
import { MIXTRAL_8X7B } from './cards/mixtral-8x7b.ts';
import { MOBILENET } from './cards/mobilenet.ts';
import { RESNET50 } from './cards/resnet50.ts';
import { RETINANET } from './cards/retinanet.ts';
import { SSD_MOBILENET } from './cards/ssd-mobilenet.ts';
import { SSD_RESNET34 } from './cards/ssd-resnet34.ts';
import { STABLE_DIFFUSION_XL } from './cards/stable-diffusion-xl.ts';
import { CUSTOM, DELAY, ECHO, NULL } from './cards/synthetic.ts';
import type { BenchmarkCard } from './rows/benchmark-card.ts';

/** Every benchmark, in the order of lists for people. */
export const CARDS: readonly BenchmarkCard[] = [
  ...[DIGITS, RESNET50, MOBILENET, BERT, RETINANET, SSD_MOBILENET, SSD_RESNET34, UNET_3D],
  ...[DLRM_V2, STABLE_DIFFUSION_XL, GNMT, GPTJ, LLAMA2_70B, MIXTRAL_8X7B],
  ...[CUSTOM, NULL, ECHO, DELAY],
];

/** The card of a benchmark; undefined if no card has this key. */
export function cardOf(key: string): BenchmarkCard | undefined {
  return CARDS.find((card) => card.key === key);
}
