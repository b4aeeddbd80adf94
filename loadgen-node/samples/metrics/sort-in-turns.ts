import type { TurnTaker } from '../../../shared/base/async.ts';

/** Keys processed without yielding to the event loop: about 100 ms. */
export const KEYS_AT_ONCE: number = 2 ** 20;

/**
 * Sorts in place, yielding in between: long arrays are partitioned at a pivot until the parts are
 * short.
 */
export async function sortInTurns(
  keys: Uint32Array,
  turns: TurnTaker,
  atOnce: number = KEYS_AT_ONCE,
): Promise<void> {
  const parts = [keys];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (turns.isDue) await turns.take();
    if (part.length <= atOnce) {
      part.sort();
      continue;
    }
    const [equal, above] = await partAt(part, middleOf(part), turns);
    parts.push(part.subarray(0, equal), part.subarray(above));
  }
}

/** Median of three keys, so that sorted input is also halved. */
function middleOf(keys: Uint32Array): number {
  const places = [0, keys.length >> 1, keys.length - 1];
  return Uint32Array.from(places, (place) => keys[place] as number).sort()[1] as number;
}

/** Three-way partition: smaller keys first, larger keys last. @returns Range of the equal keys. */
async function partAt(
  keys: Uint32Array,
  pivot: number,
  turns: TurnTaker,
): Promise<[equal: number, above: number]> {
  let [equal, above] = [0, keys.length];
  for (let i = 0, steps = 0; i < above; steps += 1) {
    if (steps % KEYS_AT_ONCE === 0 && turns.isDue) await turns.take();
    const key = keys[i] as number;
    if (key < pivot) {
      keys[i] = keys[equal] as number;
      keys[equal] = key;
      equal += 1;
      i += 1;
    } else if (key > pivot) {
      above -= 1;
      keys[i] = keys[above] as number;
      keys[above] = key;
    } else i += 1;
  }
  return [equal, above];
}
