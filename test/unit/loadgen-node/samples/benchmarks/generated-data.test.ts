import { describe, expect, it } from 'vitest';
import {
  type DataRequest,
  generatedSetOf,
  isGeneratedData,
} from '../../../../../loadgen-node/samples/benchmarks/generated-data.ts';

// Goal: seed and count choose among the images that longhaul draws, and are never passed over where
// they say nothing. Method: requests as the settings of a run make them.
const NOTHING: DataRequest = {
  ...{ benchmark: 'digits', dataDir: undefined, dataSeed: undefined, dataCount: undefined },
};

describe('generatedSetOf', () => {
  it('says nothing where nothing was asked', () => {
    expect(generatedSetOf({ ...NOTHING, dataDir: 'mine' })).toBeUndefined();
  });

  it.each([
    ['a seed', { dataSeed: 7 }, { seed: 7, sampleCount: 1200 }],
    ['a count', { dataCount: 50_000 }, { seed: 2, sampleCount: 50_000 }],
    [
      'both of the stand-in',
      { benchmark: 'resnet50', dataDir: 'standin', dataSeed: 0, dataCount: 1 },
      { seed: 0, sampleCount: 1 },
    ],
    [
      'a count of the stand-in for another benchmark',
      { benchmark: 'mobilenet', dataDir: 'standin', dataCount: 9 },
      { seed: 12, sampleCount: 9 },
    ],
  ])('fills in the standard set where %s is said', (_case, asked, set) => {
    expect(generatedSetOf({ ...NOTHING, ...asked })).toEqual(set);
  });

  it.each([
    [
      'a benchmark without such data',
      { benchmark: 'null', dataCount: 5 },
      '; benchmark null has no such data',
    ],
    [
      'a folder of the user',
      { benchmark: 'resnet50', dataDir: 'imagenet', dataSeed: 5 },
      '--data-seed 5 is for data that longhaul makes and imagenet is a folder of yours: say --data-dir standin',
    ],
    [
      'a folder of digits',
      { dataDir: 'mine', dataSeed: 5 },
      '--data-seed 5 is for data that longhaul makes and mine is a folder of yours: leave --data-dir out',
    ],
    [
      'no word for the stand-in',
      { benchmark: 'resnet50', dataSeed: 5 },
      '--data-seed 5 is for data that longhaul makes: say --data-dir standin',
    ],
    ['the seed of the training images', { dataSeed: 1 }, 'is fitted on the images of this seed'],
  ])('refuses %s', (_case, asked, message) => {
    expect(() => generatedSetOf({ ...NOTHING, ...asked })).toThrow(
      expect.objectContaining({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringContaining(message),
      }),
    );
  });
});

describe('isGeneratedData', () => {
  it('tells data that longhaul makes from folders and from benchmarks without files', () => {
    const asked = [
      ['digits', undefined],
      ['digits', 'standin'],
      ['resnet50', 'standin'],
      ['resnet50', undefined],
      ['null', undefined],
    ] as const;
    expect(asked.map(([benchmark, dataDir]) => isGeneratedData({ benchmark, dataDir }))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  });
});
