import assert from 'node:assert';
import type { OipModelFacts } from '../../shared/wire/oip/model-facts.ts';
import type { WaitProgress } from '../dispatch/query-dispatch-library.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import { awaitModel } from './node/await-model.ts';
import { askModelFacts, requireAgreement } from './node/model-facts.ts';
import { OipControlClient } from './node/oip-control-client.ts';

/**
 * What the servers say of the model, one per node, in the order of the settings. Waits for them to be ready, at most
 * `readyTimeoutMs`.
 * @param settings With `oip`.
 * @throws MlperfError `ERR_SUT_REFUSED` for an unknown model or version (which ones there are, where the server tells),
 *   and where the servers differ; `ERR_SUT_NOT_READY`, `ERR_SUT_UNREACHABLE`
 */
export async function describeOipModels(
  settings: DispatchSettings,
  onWait: WaitProgress = () => {},
): Promise<readonly OipModelFacts[]> {
  const { oip, nodes, readyTimeoutMs } = settings;
  assert(oip !== undefined, 'settings of the Open Inference Protocol are missing');
  const clients = nodes.map((address) => new OipControlClient(address, settings, oip));
  try {
    const facts = await Promise.all(
      clients.map(async (client) => {
        await awaitModel(client, oip.model, readyTimeoutMs, onWait);
        return askModelFacts(client, oip.model);
      }),
    );
    requireAgreement(facts);
    return facts;
  } finally {
    for (const client of clients) client.close();
  }
}
