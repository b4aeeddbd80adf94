import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { sutNodeName } from '../../shared/benchmarks/standin/standin-name.ts';
import { NODE_NAME_LENGTH_MAX } from '../../shared/domain/node-address.ts';
import type { PayloadEncoding } from '../../shared/domain/query-sample-library.ts';
import type { SutModel } from '../inference/sut-model.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import type { LoadedModel } from './describe-node.ts';
import type { NodeOffer } from './open-negotiation.ts';

/**
 * What the node answers to Name.
 * @throws MlperfError `ERR_CONFIG_INVALID` when no LoadGen node would take it: the name of a stand-in makes it longer.
 */
export function servedName(settings: SutSettings, model: SutModel): string {
  const name = sutNodeName(settings.node, model.name);
  if (name.length <= NODE_NAME_LENGTH_MAX) return name;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the name of the node with that of its stand-in has ${name.length} characters, LoadGen nodes take ` +
      `${NODE_NAME_LENGTH_MAX} at most; give it a shorter one (longhaul sut --node NAME)`,
  );
}

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
