import { createHash } from 'node:crypto';
import type { NodeState } from '../../../proto/gen/mlperf/network/v1/NodeState.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { sutNodeName } from '../../../shared/benchmarks/standin/standin-sets.ts';
import { NODE_NAME_LENGTH_MAX } from '../../../shared/domain/node-address.ts';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import { PAYLOAD_DIGESTS_FEATURE } from '../../../shared/evidence/payload-digest.ts';
import { settingsAsText } from '../../../shared/evidence/settings-text.ts';
import {
  TOKEN_STREAM_FEATURE,
  USAGE_FEATURE,
  WARM_UP_FEATURE,
} from '../../../shared/wire/sut-contract.ts';
import { samplesAtOnce } from '../../inference/batcher/dynamic-batcher.ts';
import type { ModelContext, SutModel } from '../../inference/batcher/sut-model.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type { SutSettings } from '../../settings/sut-settings.ts';
import { inferLimits, queryBytesMax } from '../limits/node-limits.ts';

/** Benchmark, model and encodings that the node offers to a stream. */
export interface NodeOffer {
  readonly benchmark: string;
  readonly model: string;
  readonly encodings: readonly PayloadEncoding[];
  readonly responseEncoding: PayloadEncoding;
}

/** Constant facts of a running node. */
export interface NodeFacts {
  readonly name: string;
  readonly identity: string;
  readonly settings: SutSettings;
  readonly offer: NodeOffer;
}

/**
 * Name of the node on the wire.
 * @throws MlperfError `ERR_CONFIG_INVALID` if it is too long for LoadGen nodes: a stand-in's name
 * extends it.
 */
export function servedName(settings: SutSettings, model: SutModel): string {
  const name = sutNodeName(settings.node, model.name);
  if (name.length <= NODE_NAME_LENGTH_MAX) return name;
  throw configInvalid(
    `the name of the node with that of its stand-in has ${name.length} characters, LoadGen nodes take ` +
      `${NODE_NAME_LENGTH_MAX} at most; give it a shorter one (longhaul sut --node NAME)`,
  );
}

/** Encodings of the benchmark; the loaded model may read fewer: {@link readBy}. */
export function nodeOffer(settings: SutSettings, model: SutModel): NodeOffer {
  return {
    benchmark: model.rules.key,
    model: model.name,
    // In the order of their numbers. All that the model can decompress: the LoadGen node decides
    // what a run may use.
    encodings: Object.values(model.rules.encodings).flatMap(({ form }): PayloadEncoding[] =>
      model.compressions.map((compression) => ({ form, compression })),
    ),
    // A run that cannot read it is refused: a reported setting is always in effect.
    responseEncoding: { form: 'raw', compression: settings.responseCompression } as PayloadEncoding,
  };
}

/**
 * Encodings and limits of payloads, for a model that loads. @throws MlperfError as
 * {@link inferLimits}
 */
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
 * Returns a filter for the encodings that this model's pre-processor reads. A pre-processor named
 * in a description may support only some of the benchmark's encodings.
 */
export function readBy({ forms }: LoadedModel): (encoding: PayloadEncoding) => boolean {
  return ({ form }) => forms === undefined || forms.includes(form);
}

/** Optional protocol features of this node (Describe.features). */
export const NODE_FEATURES: readonly string[] = [
  PAYLOAD_DIGESTS_FEATURE,
  WARM_UP_FEATURE,
  USAGE_FEATURE,
  TOKEN_STREAM_FEATURE,
];

/** The features of Open.features that the stream uses (Opened.features). */
export function agreedFeatures({
  features,
  tokenLatencies,
}: {
  readonly features: readonly string[];
  readonly tokenLatencies: boolean;
}): string[] {
  const isUsable = (feature: string): boolean => feature !== TOKEN_STREAM_FEATURE || tokenLatencies;
  return NODE_FEATURES.filter((feature) => features.includes(feature) && isUsable(feature));
}

/** Settings that describe a node's place and observers: equal nodes of a SUT differ in these. */
const PLACES: readonly string[] = [
  'node',
  'listen',
  'healthListen',
  'metricsListen',
  'tellsSystemFacts',
  'cacheFolder',
];

/** Requested settings whose effective value is a separate setting. */
const SAID: readonly string[] = ['batchSizeAsked'];

/**
 * Files: their presence is a setting, their path a place. The model's content has its own digest.
 */
const FILES: readonly string[] = ['model', 'tlsCert', 'tlsKey', 'tlsClientCa', 'tokenFile'];

/** Hexadecimal digits of the digest: 32 bits distinguish the configurations of a submission. */
const DIGEST_DIGITS = 8;

/**
 * Name of the configuration in which a node runs its model, for example
 * `digits/longhaul-digits-example/cpu-w1t1b16/3f2a9c1b`: benchmark, model, provider with the
 * numbers of workers, of threads in each and of samples at once in each (the largest batch, or
 * sequences side by side), and a digest over all settings, the description of the model, and its
 * SHA-256. Equal settings and model give equal names on any node; others give different names.
 * Rule: inference_rules v4.1, Network division, "SUT parameters and configuration must be uniquely
 * and specifically named".
 */
export function configurationName(
  { settings, offer }: Pick<NodeFacts, 'settings' | 'offer'>,
  model: LoadedModel,
): string {
  const { workerCount, threadsPerWorker } = settings;
  const atOnce = samplesAtOnce(settings, model);
  const shape = `${providerOf(settings)}-w${workerCount}t${threadsPerWorker}b${atOnce}`;
  return `${offer.benchmark}/${offer.model}/${shape}/${digestOf(settings, model)}`;
}

/** Preferred execution provider, in ONNX Runtime's name. */
export function providerOf({ providers }: SutSettings): string {
  return providers.join('+');
}

function digestOf(settings: SutSettings, { sha256, usage }: LoadedModel): string {
  const entries = Object.entries(settings)
    .filter(([name]) => !PLACES.includes(name) && !SAID.includes(name))
    .map(([name, value]): [string, unknown] =>
      FILES.includes(name) ? [name, value === undefined ? undefined : 'set'] : [name, value],
    );
  const lines = Object.entries(settingsAsText({ ...Object.fromEntries(entries), usage }))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .sort();
  const hash = createHash('sha256').update([...lines, `sha256=${sha256}`].join('\n'));
  return hash.digest('hex').slice(0, DIGEST_DIGITS);
}

/** State of a node as on the wire. */
export type NodeStateName = Exclude<NodeState, number | 'NODE_STATE_UNSPECIFIED'>;

/**
 * State of the node.
 *
 *   LOADING ──► WARMING_UP ──► READY ──stop──► DRAINING
 *      └────────────┴────────────┴──────────────┴──► FAILED (workers cannot be replaced); for good
 *
 * Followers (health, the log) register with {@link onChange}.
 */
export class NodeStatus {
  readonly #listeners: ((state: NodeStateName, detail: string) => void)[] = [];
  #state: NodeStateName = 'NODE_STATE_LOADING';
  #detail = 'the node starts';

  get state(): NodeStateName {
    return this.#state;
  }

  /** Why the node is not ready. */
  get detail(): string {
    return this.#detail;
  }

  /** Calls the listener after every change of the state, but not of the detail alone. */
  onChange(listener: (state: NodeStateName, detail: string) => void): void {
    this.#listeners.push(listener);
  }

  /** No effect once the node has failed: a start or drain in progress must not hide that. */
  set(state: NodeStateName, detail: string): void {
    if (this.#state === 'NODE_STATE_FAILED') return;
    const isOther = state !== this.#state;
    this.#state = state;
    this.#detail = detail;
    if (!isOther) return;
    for (const listener of this.#listeners) listener(state, detail);
  }
}
