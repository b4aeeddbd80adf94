import { describe, expect, it } from 'vitest';
import {
  batchingInWords,
  batchPolicy,
  batchSizes,
} from '../../../../../sut-node/inference/batcher/dynamic-batcher.ts';
import {
  BATCH_OPTIONS,
  type BatchPreset,
  type BatchSettings,
  toBatchSettings,
} from '../../../../../sut-node/settings/batch-settings.ts';

const NOTHING_SAID = {
  batchPreset: 'none',
  batchSizeMax: undefined,
  batchDelayUsMax: undefined,
  batchPreferredSizes: undefined,
} as const;

function settings(fields: Partial<BatchSettings> = {}): BatchSettings {
  return { ...toBatchSettings(NOTHING_SAID), ...fields };
}

// Goal: what is said wins, then the preset, then what always was.
describe('toBatchSettings', () => {
  it.each<[BatchPreset, number, number]>([
    ['none', 16, 0],
    ['single-stream', 1, 0],
    ['multi-stream', 8, 2_000],
    ['server', 16, 1_000],
    ['offline', 32, 100_000],
  ])('takes size and delay of the preset %s where nothing is said', (batchPreset, size, delay) => {
    expect(toBatchSettings({ ...NOTHING_SAID, batchPreset })).toEqual({
      batchPreset,
      batchSizeMax: size,
      batchDelayUsMax: delay,
      batchPreferredSizes: [],
    });
  });

  it('lets said values win, also a 0', () => {
    const said = { ...NOTHING_SAID, batchPreset: 'offline', batchDelayUsMax: 0 } as const;
    expect(toBatchSettings(said)).toMatchObject({ batchSizeMax: 32, batchDelayUsMax: 0 });
    expect(toBatchSettings({ ...said, batchSizeMax: 5 }).batchSizeMax).toBe(5);
  });

  it.each([
    ['4,8', [4, 8]],
    ['8', [8]],
  ])('reads the preferred sizes %s', (text, sizes) => {
    const { schema, fromFlag } = BATCH_OPTIONS.batchPreferredSizes;
    expect(schema.parse(fromFlag(text))).toEqual(sizes);
  });

  it.each([
    ['0', 'must be 1 or more'],
    ['4,', 'must be a whole number'],
    ['4,4', 'must not name a number twice'],
    ['5000', 'must be 4096 or less'],
  ])('refuses the preferred sizes "%s"', (text, message) => {
    const { schema, fromFlag } = BATCH_OPTIONS.batchPreferredSizes;
    const { error } = schema.safeParse(fromFlag(text));
    expect(error?.issues[0]?.message).toContain(message);
  });
});

// Goal: the sizes that a batch may have, from settings and model.
describe('batchPolicy', () => {
  it('orders the preferred sizes, and the largest batch is always one', () => {
    const policy = batchPolicy(settings({ batchPreferredSizes: [8, 4, 16] }));
    expect(policy.preferredSizes).toEqual([4, 8, 16]);
    expect(batchPolicy(settings()).preferredSizes).toEqual([16]);
  });

  it('refuses a preferred size above the largest batch', () => {
    expect(() => batchPolicy(settings({ batchPreferredSizes: [4, 20] }))).toThrow(
      '--batch-preferred-sizes 20: larger than the largest batch, 16 (--batch-size-max)',
    );
  });

  it('keeps to the batch that the model has written into it', () => {
    const asked = settings({ batchPreferredSizes: [2, 4, 8] });
    expect(batchPolicy(asked, { batchSizeFixed: 4 })).toMatchObject({
      batchSizeMax: 4,
      preferredSizes: [2, 4],
    });
  });

  it.each<[string, Partial<Parameters<typeof toBatchSettings>[0]>, number]>([
    ['fills it where nothing is said', {}, 64],
    ['fills it where only the throughput counts', { batchPreset: 'offline' }, 64],
    ['keeps to a preset for queries of few samples', { batchPreset: 'multi-stream' }, 8],
    ['keeps to the size that is said', { batchSizeMax: 20 }, 20],
  ])('with a larger batch in the model than is usual, %s', (_case, said, size) => {
    const asked = toBatchSettings({ ...NOTHING_SAID, ...said });
    expect(batchPolicy(asked, { batchSizeFixed: 64 }).batchSizeMax).toBe(size);
    expect(batchingInWords(asked, { batchSizeFixed: 64 })).toContain(`at most ${size} samples`);
    expect(batchPolicy(asked, { batchSizeFixed: 100_000 }).batchSizeMax).toBeLessThanOrEqual(4096);
  });

  it('takes the largest preferred size that is filled, or all', () => {
    const policy = batchPolicy(settings({ batchSizeMax: 8, batchPreferredSizes: [2, 4] }));
    expect([...batchSizes(policy)]).toEqual([0, 1, 2, 2, 4, 4, 4, 4, 8]);
  });
});

// Goal: the text says what the batcher does, with the numbers that are in force.
describe('batchingInWords', () => {
  it('tells sizes, wait and preferred sizes', () => {
    const text = batchingInWords(
      settings({ batchDelayUsMax: 1_500, batchPreferredSizes: [8, 4, 2] }),
    );
    expect(text).toContain('one inference of at most 16 samples');
    expect(text).toContain('a batch of 2, 4 or 8 samples as soon as so many wait');
    expect(text).toContain('when the oldest sample has waited 1.5 ms');
    expect(text).toContain('Equal samples are never merged');
  });

  it('tells that nothing waits where there is no delay', () => {
    expect(batchingInWords(settings())).toContain('no sample waits for a fuller batch');
  });

  it('tells that nothing is batched', () => {
    const text = batchingInWords(settings({ batchSizeMax: 1 }));
    expect(text).toContain('No batching');
    expect(text).not.toContain('at most');
  });

  it('tells the batch of the model, and that fill-up is not counted', () => {
    const text = batchingInWords(settings(), { batchSizeFixed: 4 });
    expect(text).toContain('at most 4 samples');
    expect(text).toContain('a fixed batch of 4');
    expect(text).toContain('not counted as samples');
  });
});
