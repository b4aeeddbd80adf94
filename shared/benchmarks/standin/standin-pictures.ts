import { at } from '../../base/at.ts';
import type { GeneratedSet } from '../../rules/rows/benchmark-card.ts';
import { SeededRandom } from '../digits/seeded-random.ts';

/** Red, green and blue, each from -1 to 1. */
export type Colour = readonly [number, number, number];

/** A word of a prompt, and the colour of what it names. */
interface ColouredWord {
  readonly word: string;
  readonly colour: Colour;
}

/** Things that a picture can show as a disc in its middle. */
const THINGS: readonly ColouredWord[] = [
  { word: 'lemon', colour: [0.9, 0.8, -0.7] },
  { word: 'tomato', colour: [0.8, -0.7, -0.8] },
  { word: 'plum', colour: [0.1, -0.7, 0.3] },
  { word: 'olive', colour: [-0.1, 0.1, -0.7] },
  { word: 'pearl', colour: [0.8, 0.7, 0.6] },
  { word: 'coal', colour: [-0.8, -0.8, -0.8] },
  { word: 'orange', colour: [0.9, 0.1, -0.8] },
  { word: 'marble', colour: [0.2, 0.3, 0.5] },
];

/** Grounds that the thing can lie on. */
const PLACES: readonly ColouredWord[] = [
  { word: 'grass', colour: [-0.5, 0.4, -0.6] },
  { word: 'snow', colour: [0.8, 0.8, 0.9] },
  { word: 'sand', colour: [0.6, 0.4, 0] },
  { word: 'water', colour: [-0.6, -0.1, 0.6] },
  { word: 'asphalt', colour: [-0.5, -0.5, -0.4] },
  { word: 'brick', colour: [0.4, -0.4, -0.5] },
];

/** Ids of the stand-in's tokens: the first ones have no word. */
export const STANDIN_TOKENS = { begin: 1, other: 2, end: 3, firstWord: 4, count: 32 } as const;

/** Id and colour of each word that a prompt may have. */
export const STANDIN_WORDS: readonly (ColouredWord & {
  readonly id: number;
  readonly isThing: boolean;
})[] = [...THINGS, ...PLACES].map((word, i) => ({
  ...word,
  id: STANDIN_TOKENS.firstWord + i,
  isThing: i < THINGS.length,
}));

/** A prompt: its words, and what a picture of it shows. */
export interface StandinPrompt {
  readonly caption: string;
  /** Ids of its words. */
  readonly wordIds: readonly number[];
  readonly thing: Colour;
  readonly place: Colour;
}

/** Prompt of a sample. */
export function standinPrompt({ seed }: GeneratedSet, index: number): StandinPrompt {
  const random = new SeededRandom(seed, index);
  const choose = (isThing: boolean) => {
    const words = STANDIN_WORDS.filter((word) => word.isThing === isThing);
    return at(words, random.integerBelow(words.length));
  };
  const [thing, place] = [choose(true), choose(false)];
  return {
    caption: `a ${thing.word} on ${place.word}`,
    wordIds: [thing.id, place.id],
    thing: thing.colour,
    place: place.colour,
  };
}

/** Cells of a stand-in's picture along each side: one is a pixel of the latents. */
export const CELLS = 128;

/** Radius of the disc, in cells. */
export const DISC_RADIUS = 40;

/** True for each cell that belongs to a disc. */
export function discCells(centreX: number, centreY: number, radius: number): Uint8Array {
  return Uint8Array.from({ length: CELLS * CELLS }, (_, i) => {
    const [x, y] = [(i % CELLS) + 0.5 - centreX, Math.floor(i / CELLS) + 0.5 - centreY];
    return x * x + y * y <= radius * radius ? 1 : 0;
  });
}
