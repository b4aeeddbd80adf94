import type { PayloadEncoding } from '../../shared/domain/query-sample-library.ts';
import type { SutModel } from '../model/sut-model.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import type { LoadedModel } from './describe-node.ts';
import type { NodeOffer } from './open-negotiation.ts';

/** What a node with this model takes, as far as the benchmark tells; the loaded model may read less: {@link readBy}. */
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

/**
 * Tells the encodings that a loaded model's pre-processor reads from the others of the benchmark: another than the
 * benchmark's own, which a description can name, need not read all.
 */
export function readBy({ forms }: LoadedModel): (encoding: PayloadEncoding) => boolean {
  return ({ form }) => forms === undefined || forms.includes(form);
}
