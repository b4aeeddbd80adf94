import type { DescribeResponse } from '../../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { ModelDescription } from '../../../proto/gen/mlperf/network/v1/ModelDescription.ts';
import type { NodeLimits } from '../../../proto/gen/mlperf/network/v1/NodeLimits.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { settingsAsText } from '../../../shared/evidence/settings-text.ts';
import { componentVersions } from '../../../shared/host/component-versions.ts';
import { thisHost } from '../../../shared/host/host-facts.ts';
import { OWN_VERSIONS } from '../../../shared/wire/protocol-versions.ts';
import { batchingInWords } from '../../inference/batcher/batching-in-words.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type { SutSettings } from '../../settings/sut-settings.ts';
import { configurationName } from './configuration-name.ts';
import { NODE_FEATURES, type NodeFacts, readBy } from './node-offer.ts';

/** Answers Describe. Before the model is loaded there is none to describe. */
export function describeResponse(
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
