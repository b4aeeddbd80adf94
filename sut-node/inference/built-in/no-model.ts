import type { LoadedModel } from '../../model/model-facts.ts';

/** What is told of a model that is none: no tensors and no file, so no weights that could be the wrong ones. */
export const NO_MODEL: LoadedModel = {
  tensors: { inputs: [], outputs: [] },
  sha256: '',
  isStandIn: false,
};
