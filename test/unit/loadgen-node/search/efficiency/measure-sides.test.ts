import { expect, it } from 'vitest';
import { Turns } from '../../../../../loadgen-node/search/efficiency/plan-efficiency.ts';

// Goal: two sides that are measured on one machine share its time step by step, and never overlap.
async function go(turns: Turns, who: number, steps: number, seen: string[]): Promise<void> {
  for (let i = 0; i < steps; i += 1) {
    await turns.step(who, async () => {
      seen.push(`${who} begins`);
      await Promise.resolve();
      seen.push(`${who} ends`);
    });
  }
  turns.leave(who);
}

it('lets each side make a step in turn, and the longer one go on alone', async () => {
  const turns = new Turns(2);
  const seen: string[] = [];
  await Promise.all([go(turns, 0, 1, seen), go(turns, 1, 3, seen)]);
  const steps = [0, 1, 1, 1].flatMap((who) => [`${who} begins`, `${who} ends`]);
  expect(seen).toEqual(steps);
});

it('goes on after a step that failed', async () => {
  const turns = new Turns(2);
  const failed = turns.step(0, () => Promise.reject(new Error('lost')));
  await expect(failed).rejects.toThrow('lost');
  turns.leave(0);
  expect(await turns.step(1, () => Promise.resolve('done'))).toBe('done');
});
