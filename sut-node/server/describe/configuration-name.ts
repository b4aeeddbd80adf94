import { createHash } from 'node:crypto';
import { settingsAsText } from '../../../shared/evidence/settings-text.ts';
import { batchPolicy } from '../../inference/batcher/batch-policy.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type { SutSettings } from '../../settings/sut-settings.ts';
import type { NodeFacts } from './node-offer.ts';

/** What tells where a node is and who watches it, not how it works: equal nodes of a SUT differ in these. */
const PLACES: readonly string[] = [
  'node',
  'listen',
  'healthListen',
  'metricsListen',
  'tellsSystemFacts',
  'cacheFolder',
];

/** What was said, where what is in force is a setting of its own. */
const SAID: readonly string[] = ['batchSizeAsked'];

/** Files: that they are there is a setting, their path is a place. The model's content has its own digest. */
const FILES: readonly string[] = ['model', 'tlsCert', 'tlsKey', 'tlsClientCa', 'tokenFile'];

/** Hexadecimal digits of the digest: 32 bits tell the configurations of a submission apart. */
const DIGEST_DIGITS = 8;

/**
 * Name of the configuration in which a node runs its model, for example
 * `digits/longhaul-digits-example/cpu-w1t1b16/3f2a9c1b`: benchmark, model, provider with the numbers of
 * workers, of threads in each and of samples in the largest batch, and a digest over all settings, the
 * description of the model, and its SHA-256. Equal settings and model give equal names, wherever the node is; any other gives another.
 * Rule: inference_rules v4.1, Network division, "SUT parameters and configuration must be uniquely and
 * specifically named".
 */
export function configurationName(
  { settings, offer }: Pick<NodeFacts, 'settings' | 'offer'>,
  model: LoadedModel,
): string {
  const { workerCount, threadsPerWorker } = settings;
  const { batchSizeMax } = batchPolicy(settings, model);
  const shape = `${providerOf(settings)}-w${workerCount}t${threadsPerWorker}b${batchSizeMax}`;
  return `${offer.benchmark}/${offer.model}/${shape}/${digestOf(settings, model)}`;
}

/** Where the model runs, in ONNX Runtime's words, the best first. */
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
