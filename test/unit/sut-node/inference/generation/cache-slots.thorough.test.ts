import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CachedRow,
  CacheSlots,
  type PlacedRow,
} from '../../../../../sut-node/inference/generation/cache-slots.ts';
import type { DecoderLayout } from '../../../../../sut-node/model/model-facts.ts';
import { runsOf } from '../../../../scenes/host/thorough.ts';

// Goal: what a row has in its slot is what it was given, whoever comes, goes, is doubled or moved
// beside it. Method: random steps beside a list of tokens per row; the keys of a token are its
// number, its head, and its place in a head.

const LAYOUT: DecoderLayout = {
  ...{ layers: 1, heads: 2, headWidth: 3, vocabulary: 9, hasPositions: true },
  ...{ cacheType: 'float', logitsType: 'float' },
};
const TENSORS = 2;

function elementsOf(tensor: number, token: number, head: number): number[] {
  return [0, 1, 2].map((place) => 1000 * token + 100 * tensor + 10 * head + place);
}

/** Outputs of the model: for each row so many tokens, of which the last ones are these. */
function outputsOf(rows: readonly (readonly number[])[], filling = 0) {
  const tokens = filling + (rows[0] as readonly number[]).length;
  return Array.from({ length: TENSORS }, (_, tensor) => ({
    dims: [rows.length, LAYOUT.heads, tokens, LAYOUT.headWidth],
    data: Float32Array.from(
      rows.flatMap((row) =>
        [0, 1].flatMap((head) => [
          ...new Array<number>(filling * LAYOUT.headWidth).fill(-1),
          ...row.flatMap((token) => elementsOf(tensor, token, head)),
        ]),
      ),
    ),
  }));
}

interface Row {
  readonly cached: CachedRow;
  readonly tokens: readonly number[];
}

function expectContents(slots: CacheSlots, rows: readonly Row[]): void {
  const chunk = slots.capacity * LAYOUT.headWidth;
  // A comparison by `expect` for each head would take most of the time.
  const found: number[] = [];
  const wanted: number[] = [];
  for (const [tensor, data] of slots.tensors.entries()) {
    expect(data).toHaveLength(rows.length * LAYOUT.heads * chunk);
    for (const { cached, tokens } of rows) {
      for (let head = 0; head < LAYOUT.heads; head += 1) {
        const end = ((cached as PlacedRow).at * LAYOUT.heads + head + 1) * chunk;
        for (const token of tokens) wanted.push(...elementsOf(tensor, token, head));
        found.push(...data.subarray(end - tokens.length * LAYOUT.headWidth, end));
      }
    }
  }
  if (found.some((element, i) => element !== wanted[i])) expect(found).toEqual(wanted);
}

/** Slots, and what must be in them. */
class Checked {
  readonly #slots = new CacheSlots(LAYOUT, TENSORS);
  readonly #filling: number;
  #rows: readonly Row[] = [];
  #next = 0;

  constructor(filling: number) {
    this.#filling = filling;
  }

  /** Takes prompts of so many tokens, and goes on with rows of those that there are. */
  change(lengths: readonly number[], kept: readonly number[]): void {
    const entered = lengths.map((length): Row => {
      const tokens = Array.from({ length }, () => this.#next++);
      return { cached: { at: outputsOf([tokens]), length }, tokens };
    });
    const all = [...this.#rows, ...entered];
    this.#rows = kept.map((which) => all[which % all.length] as Row);
  }

  arrange(): void {
    const placed = this.#slots.arrange(this.#rows.map(({ cached }) => cached));
    expect(new Set(placed.map(({ at }) => at)).size).toBe(this.#rows.length);
    this.#rows = this.#rows.map(({ tokens }, i) => ({ cached: placed[i] as PlacedRow, tokens }));
    expectContents(this.#slots, this.#rows);
  }

  /** Each row gets a token. */
  add(): void {
    const bySlot: number[][] = [];
    this.#rows = this.#rows.map(({ cached: { at, length }, tokens }) => {
      const token = this.#next++;
      bySlot[at as number] = [token];
      return { cached: { at, length: length + 1 }, tokens: [...tokens, token] };
    });
    this.#slots.add(outputsOf(bySlot, this.#filling));
  }
}

describe('CacheSlots', () => {
  const change = fc.record({
    entering: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 3 }),
    kept: fc.array(fc.nat(5), { minLength: 1, maxLength: 5 }),
    steps: fc.integer({ min: 1, max: 90 }),
  });

  it.each([
    ['alone', 0],
    ['behind all earlier ones', 5],
  ])('has the tokens of each row where the model gives new ones %s', (_case, filling) => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const checked = new Checked(filling);
        checked.change([1], [0]);
        for (const { entering, kept, steps } of changes) {
          checked.change(entering, kept);
          for (let step = 0; step < steps; step += 1) {
            checked.arrange();
            checked.add();
          }
        }
        checked.arrange();
      }),
      { numRuns: runsOf(20, 5) },
    );
  });

  it('leaves nothing of an earlier row before the tokens of the one that takes its slot', () => {
    const slots = new CacheSlots(LAYOUT, TENSORS);
    const long = [1, 2, 3, 4, 5, 6, 7, 8];
    slots.arrange([{ at: outputsOf([long]), length: 8 }]);
    slots.arrange([{ at: outputsOf([[9]]), length: 1 }]);
    const [data] = slots.tensors;
    const before = (slots.capacity - 1) * LAYOUT.headWidth;
    expect(data?.subarray(0, before).every((element) => element === 0)).toBe(true);
  });
});
