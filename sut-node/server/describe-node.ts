import type { DescribeResponse } from '../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { ModelDescription } from '../../proto/gen/mlperf/network/v1/ModelDescription.ts';
import type { NodeLimits } from '../../proto/gen/mlperf/network/v1/NodeLimits.ts';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import { settingsAsText } from '../../shared/evidence/settings-text.ts';
import { componentVersions } from '../../shared/host/component-versions.ts';
import { thisHost } from '../../shared/host/host-facts.ts';
import { OWN_VERSIONS } from '../../shared/wire/protocol-versions.ts';
import { batchingInWords } from '../inference/batcher/batching-in-words.ts';
import type { ModelTensors } from '../inference/workers/worker-messages.ts';
import type { ModelUsage } from '../model/model-usage.ts';
import type { ModelPipeline } from '../pipeline/model-pipeline.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import { configurationName } from './configuration-name.ts';
import { NODE_FEATURES } from './node-features.ts';
import { readBy } from './node-offer.ts';
import type { NodeOffer } from './open-negotiation.ts';

/** The model that a node has loaded. */
export interface LoadedModel {
  /** Path of its file; absent where it is none. */
  readonly file?: string;
  readonly tensors: ModelTensors;
  /** SHA-256 of the model file, lower-case hexadecimal. */
  readonly sha256: string;
  /** True for weights that are not known to be the benchmark's own. */
  readonly isStandIn: boolean;
  /** What the model's description says; undefined where there is none. */
  readonly usage?: ModelUsage | undefined;
  /** Samples per inference where the model has a fixed batch axis; undefined: any number. */
  readonly batchSizeFixed?: number | undefined;
  /** Forms of payload that its pre-processor reads; undefined: any. */
  readonly forms?: readonly string[] | undefined;
  /** How payloads and responses lie on its tensors; undefined where it has none. */
  readonly layout?: ModelLayout | undefined;
}

/** What a payload and a response of a model are made of. */
export interface ModelLayout
  extends Pick<ModelPipeline, 'inputs' | 'outputNames' | 'responseNumber'> {
  /** False where inputs and outputs have no batch axis. */
  readonly hasBatchAxis: boolean;
}

/** What does not change while the node lives, gathered once. */
export interface NodeFacts {
  readonly name: string;
  readonly identity: string;
  readonly settings: SutSettings;
  readonly offer: NodeOffer;
}

/** Answers Describe. Before the model is loaded there is none to describe. */
export function describeNode(
  facts: NodeFacts,
  model: LoadedModel | undefined,
  limits: NodeLimits,
): DescribeResponse {
  const host = thisHost();
  return {
    name: facts.name,
    nodeIdentity: facts.identity,
    software: 'longhaul',
    softwareVersion: packageVersion(),
    components: componentVersions(),
    protocolVersionMin: OWN_VERSIONS.min,
    protocolVersionMax: OWN_VERSIONS.max,
    features: [...NODE_FEATURES],
    models: model === undefined ? [] : [describeModel(facts, model)],
    settings: {
      ...settingsByName(facts.settings),
      batching: batchingInWords(facts.settings, model),
      ...settingsAsText({ usage: model?.usage }),
      ...(model !== undefined && { configuration: configurationName(facts, model) }),
    },
    host: { ...host, addresses: [...host.addresses] },
    limits,
  };
}

function describeModel({ offer }: NodeFacts, model: LoadedModel): ModelDescription {
  return {
    benchmark: offer.benchmark,
    model: offer.model,
    sha256: model.sha256,
    inputs: model.tensors.inputs.map((tensor) => ({ ...tensor, shape: [...tensor.shape] })),
    outputs: model.tensors.outputs.map((tensor) => ({ ...tensor, shape: [...tensor.shape] })),
    encodings: offer.encodings.filter(readBy(model)),
    responseEncodings: [offer.responseEncoding],
    isStandIn: model.isStandIn,
  };
}

/** Every setting by its name, as text. */
function settingsByName(settings: SutSettings): Record<string, string> {
  const { listen, ...others } = settings;
  return { listen: `${listen.host}:${listen.port}`, ...settingsAsText(others) };
}
