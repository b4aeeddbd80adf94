import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { OipModelRef } from '../../../shared/wire/oip/request-plan.ts';
import { measureTcpConnect } from '../../connect/call-path.ts';
import type { ProbedFacts, ServerProbe } from '../../dispatch/server-probe.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';
import { hasBatchAxis } from '../tensors/model-inputs.ts';
import { askModelFacts } from './node/model-facts.ts';
import { OipControlClient } from './node/oip-control-client.ts';
import { oipOf } from './settings/oip-settings.ts';

const ROUND_TRIPS = 11;
/** Most models whose tensors are requested if no model is named. */
const MODELS_MAX = 64;

/**
 * Probes one server without load or inference.
 * @param settings An empty model name means all models. The nodes are ignored.
 * @throws MlperfError if the server does not answer, or lacks this service
 */
export async function probeOipServer(
  address: string,
  settings: DispatchSettings,
): Promise<ServerProbe> {
  const { service, model } = oipOf(settings);
  const client = new OipControlClient(address, settings);
  try {
    // The first call connects, so it is no round trip.
    const { path } = await client.name();
    const roundTripNs: number[] = [];
    for (let i = 0; i < ROUND_TRIPS; i += 1) roundTripNs.push((await client.name()).roundTripNs);
    const repository = (await client.repositoryIndex())?.map(
      ({ name, version, state, reason }) => ({ name, version, state, reason }),
    );
    const wanted = model.name === '' ? modelsOf(repository ?? []) : [model];
    return {
      address,
      service,
      server: await client.serverFacts(),
      isLive: await client.serverLive(),
      isReady: await client.serverReady(),
      roundTripNs,
      tcpConnectNs: (await measureTcpConnect(address)).connectNs,
      path,
      repository,
      ...(await factsOf(client, wanted)),
    };
  } finally {
    client.close();
  }
}

/** Distinct names: versions are in the metadata. */
function modelsOf(
  repository: readonly { readonly name: string; readonly state: string }[],
): OipModelRef[] {
  const ready = repository.filter(({ state }) => state === 'READY' || state === '');
  const names = [...new Set(ready.map(({ name }) => name))].slice(0, MODELS_MAX);
  return names.map((name) => ({ name, version: '' }));
}

/** The requested models, and those without reported tensors, with the server's message. */
async function factsOf(client: OipControlClient, wanted: readonly OipModelRef[]) {
  const models: ProbedFacts[] = [];
  const failures: { name: string; why: string }[] = [];
  for (const model of wanted) {
    try {
      const facts = await askModelFacts(client, model);
      models.push({ ...facts, hasBatchAxis: hasBatchAxis(facts) });
    } catch (error) {
      if (!(error instanceof MlperfError) || error.code !== 'ERR_SUT_REFUSED') throw error;
      failures.push({ name: model.name, why: error.message });
    }
  }
  return { models, failures };
}
