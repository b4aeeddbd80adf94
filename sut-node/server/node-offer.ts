import type { SutModel } from '../model/sut-model.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import type { NodeOffer } from './open-negotiation.ts';

/** What a node with this model takes. */
export function nodeOffer(settings: SutSettings, model: SutModel): NodeOffer {
  return {
    benchmark: model.rules.key,
    model: model.name,
    // Whatever the model decompresses is taken: what a run may use, the LoadGen node decides.
    encodings: Object.values(model.rules.encodings).flatMap(({ form }) =>
      model.compressions.map((compression) => ({ form, compression })),
    ),
    responseEncoding: { form: 'raw', compression: settings.responseCompression },
  };
}
