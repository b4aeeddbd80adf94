import assert from 'node:assert';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { CallPath } from '../../shared/evidence/call-path.ts';
import type {
  OipModelFacts,
  OipModelRef,
  OipServerFacts,
} from '../../shared/wire/oip/request-plan.ts';
import { measureTcpConnect } from '../connect/call-path.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import { askModelFacts } from './node/model-facts.ts';
import { OipControlClient } from './node/oip-control-client.ts';

const ROUND_TRIPS = 11;
/** Models that are asked for their tensors, where none is named. */
const MODELS_MAX = 64;

/** A model of a server's repository. */
export interface OipRepositoryModel {
  readonly name: string;
  readonly version: string;
  /** `READY`, `UNAVAILABLE`, ...; empty: the server does not tell. */
  readonly state: string;
  readonly reason: string;
}

/** What was seen of a server of the Open Inference Protocol, without an inference. */
export interface OipProbe {
  readonly address: string;
  readonly service: string;
  readonly server: OipServerFacts;
  /** Undefined: the server has no such method. */
  readonly isLive: boolean | undefined;
  readonly isReady: boolean | undefined;
  /** Round trips of ServerMetadata on one connection, in ns. */
  readonly roundTripNs: readonly number[];
  readonly tcpConnectNs: number | null;
  readonly path: CallPath;
  /** Undefined: the server does not tell which models it has. */
  readonly repository: readonly OipRepositoryModel[] | undefined;
  /** The named model, or all of the repository that are ready, at most 64. */
  readonly models: readonly OipModelFacts[];
  /** Models of which the server did not tell the tensors, and its words. */
  readonly failures: readonly { readonly name: string; readonly why: string }[];
}

/**
 * Looks at one server: no load, no inference.
 * @param settings With `oip`, whose model's name may be empty: all. The nodes are not used.
 * @throws MlperfError when nobody answers, or not with this service
 */
export async function probeOipServer(
  address: string,
  settings: DispatchSettings,
): Promise<OipProbe> {
  const { oip } = settings;
  assert(oip !== undefined, 'settings of the Open Inference Protocol are missing');
  const client = new OipControlClient(address, settings, oip);
  try {
    // The first one connects, and is none of the round trips.
    const { path } = await client.name();
    const roundTripNs: number[] = [];
    for (let i = 0; i < ROUND_TRIPS; i += 1) roundTripNs.push((await client.name()).roundTripNs);
    const repository = (await client.repositoryIndex())?.map(
      ({ name, version, state, reason }): OipRepositoryModel => ({ name, version, state, reason }),
    );
    const wanted = oip.model.name === '' ? modelsOf(repository ?? []) : [oip.model];
    return {
      address,
      service: oip.service,
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

/** Each name once: versions stand in the metadata. */
function modelsOf(repository: readonly OipRepositoryModel[]): OipModelRef[] {
  const ready = repository.filter(({ state }) => state === 'READY' || state === '');
  const names = [...new Set(ready.map(({ name }) => name))].slice(0, MODELS_MAX);
  return names.map((name) => ({ name, version: '' }));
}

async function factsOf(
  client: OipControlClient,
  wanted: readonly OipModelRef[],
): Promise<Pick<OipProbe, 'models' | 'failures'>> {
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
