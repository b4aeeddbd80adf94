import assert from 'node:assert';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { OipModelFacts, OipModelRef } from '../../../shared/wire/oip/request-plan.ts';
import { measureTcpConnect } from '../../connect/call-path.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';
import { askModelFacts } from './node/model-facts.ts';
import { OipControlClient } from './node/oip-control-client.ts';

const ROUND_TRIPS = 11;
/** Most models whose tensors are requested when no model is named. */
const MODELS_MAX = 64;

/** Findings about a server of the Open Inference Protocol, without an inference. */
export type OipProbe = Awaited<ReturnType<typeof probeOipServer>>;

/**
 * Looks at one server: no load, no inference.
 * @param settings With `oip`, whose model's name may be empty: all. The nodes are not used.
 * @throws MlperfError when the server does not answer, or not with this service
 */
export async function probeOipServer(address: string, settings: DispatchSettings) {
  const { oip } = settings;
  assert(oip !== undefined, 'settings of the Open Inference Protocol are missing');
  const client = new OipControlClient(address, settings, oip);
  try {
    // The first call connects, and does not count as a round trip.
    const { path } = await client.name();
    const roundTripNs: number[] = [];
    for (let i = 0; i < ROUND_TRIPS; i += 1) roundTripNs.push((await client.name()).roundTripNs);
    const repository = (await client.repositoryIndex())?.map(
      // State: `READY`, `UNAVAILABLE`, ...; empty: the server does not tell.
      ({ name, version, state, reason }) => ({ name, version, state, reason }),
    );
    const wanted = oip.model.name === '' ? modelsOf(repository ?? []) : [oip.model];
    return {
      address,
      service: oip.service,
      server: await client.serverFacts(),
      /** Undefined: the server has no such method. */
      isLive: await client.serverLive(),
      isReady: await client.serverReady(),
      /** Round trips of ServerMetadata on one connection, in ns. */
      roundTripNs,
      tcpConnectNs: (await measureTcpConnect(address)).connectNs,
      path,
      /** Undefined: the server does not tell which models it has. */
      repository,
      ...(await factsOf(client, wanted)),
    };
  } finally {
    client.close();
  }
}

/** Each name once: versions stand in the metadata. */
function modelsOf(
  repository: readonly { readonly name: string; readonly state: string }[],
): OipModelRef[] {
  const ready = repository.filter(({ state }) => state === 'READY' || state === '');
  const names = [...new Set(ready.map(({ name }) => name))].slice(0, MODELS_MAX);
  return names.map((name) => ({ name, version: '' }));
}

/** The models that were requested, and those of which the server did not tell the tensors, with its words. */
async function factsOf(client: OipControlClient, wanted: readonly OipModelRef[]) {
  const models: OipModelFacts[] = [];
  const failures: { name: string; why: string }[] = [];
  for (const model of wanted) {
    try {
      models.push(await askModelFacts(client, model));
    } catch (error) {
      if (!(error instanceof MlperfError) || error.code !== 'ERR_SUT_REFUSED') throw error;
      failures.push({ name: model.name, why: error.message });
    }
  }
  return { models, failures };
}
