/** Random seeds of a round. 64-bit: never a double. Source: the round's mlperf.conf. */
export interface RoundSeeds {
  readonly qslRngSeed: bigint;
  readonly sampleIndexRngSeed: bigint;
  readonly scheduleRngSeed: bigint;
}

/** The round whose rules bind where nothing else is said. */
export const DEFAULT_ROUND = 'v4.1';

/** Seeds by round. */
export const ROUND_SEEDS: Readonly<Record<string, RoundSeeds>> = {
  'v4.1': {
    qslRngSeed: 3066443479025735752n,
    sampleIndexRngSeed: 10688027786191513374n,
    scheduleRngSeed: 14962580496156340209n,
  },
};
