import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { sutNodeName } from '../../../shared/benchmarks/standin/standin-name.ts';
import { NODE_NAME_LENGTH_MAX } from '../../../shared/domain/node-address.ts';
import type { PayloadEncoding } from '../../../shared/domain/query-sample-library.ts';
import { PAYLOAD_DIGESTS_FEATURE } from '../../../shared/evidence/payload-digest.ts';
import type { ModelContext, SutModel } from '../../inference/batcher/sut-model.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type { SutSettings } from '../../settings/sut-settings.ts';
import { inferLimits, queryBytesMax } from '../limits/node-limits.ts';

/** What the node offers to a stream. */
export interface NodeOffer {
  readonly benchmark: string;
  readonly model: string;
  /** Encodings that the node takes, form and compression, in the order of their numbers. */
  readonly encodings: readonly PayloadEncoding[];
  /**
   * How every response travels: as the benchmark's post-processing makes it, compressed as the node's
   * settings say. A run that does not read it is refused: a setting that the node tells is in force.
   */
  readonly responseEncoding: PayloadEncoding;
}

/** What does not change while the node lives, gathered once. */
export interface NodeFacts {
  readonly name: string;
  readonly identity: string;
  readonly settings: SutSettings;
  readonly offer: NodeOffer;
}

/**
 * What the node answers to Name.
 * @throws MlperfError `ERR_CONFIG_INVALID` when no LoadGen node would take it: the name of a stand-in makes it longer.
 */
export function servedName(settings: SutSettings, model: SutModel): string {
  const name = sutNodeName(settings.node, model.name);
  if (name.length <= NODE_NAME_LENGTH_MAX) return name;
  throw configInvalid(
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

/** What a model must know of its payloads before it is loaded. @throws MlperfError as {@link inferLimits} */
export function payloadContext(
  settings: SutSettings,
  model: SutModel,
): Pick<ModelContext, 'encodings' | 'sampleBytesMax' | 'queryBytesMax'> {
  const limits = inferLimits(settings, model);
  return {
    encodings: nodeOffer(settings, model).encodings,
    sampleBytesMax: limits.sampleBytesMax,
    queryBytesMax: queryBytesMax(limits),
  };
}

/**
 * Tells the encodings that a loaded model's pre-processor reads from the others of the benchmark: another than the
 * benchmark's own, which a description can name, need not read all.
 */
export function readBy({ forms }: LoadedModel): (encoding: PayloadEncoding) => boolean {
  return ({ form }) => forms === undefined || forms.includes(form);
}

/** Optional parts of the protocol that this node supports (Describe.features). */
export const NODE_FEATURES: readonly string[] = [PAYLOAD_DIGESTS_FEATURE];

/** Those of Open.features that are in use from then on (Opened.features). */
export function agreedFeatures(wanted: readonly string[]): string[] {
  return NODE_FEATURES.filter((feature) => wanted.includes(feature));
}
