import type { ModelContext } from '../../../sut-node/inference/batcher/sut-model.ts';

/** What a model gets from a node where a test has no use for it. */
export const NO_CONTEXT: ModelContext = {
  encodings: [],
  sampleBytesMax: 0,
  queryBytesMax: 0,
  onProgress: () => {},
  onRoom: () => {},
  onFatal: () => {},
};
