import { status } from '@grpc/grpc-js';
import { MlperfError, sutRefused } from '../../../../shared/base/errors/mlperf-error.ts';
import { asOneLine } from '../../../../shared/base/text.ts';
import type { OipModelFacts, OipModelRef } from '../../../../shared/wire/oip/request-plan.ts';
import { grpcStatusOf } from '../../../connect/unary-calls.ts';
import { awaitServer, type WaitProgress } from '../../../dispatch/ready-wait.ts';
import type { DispatchSettings } from '../../../settings/dispatch-settings.ts';
import { requireAgreement, tensorOf } from '../../tensors/model-tensors.ts';
import { statusText } from '../channel/response-gatherer.ts';
import { oipOf } from '../settings/oip-settings.ts';
import { OipControlClient } from './oip-control-client.ts';

/** The property `sha256` that longhaul's SUT nodes report for a model. */
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Everything that a server reports about a model.
 * @throws MlperfError `ERR_SUT_REFUSED` for an unknown model, or tensors outside the protocol.
 */
export async function askModelFacts(
  client: OipControlClient,
  model: OipModelRef,
): Promise<OipModelFacts> {
  const [server, metadata, config, statistics, hasStream] = await Promise.all([
    client.serverFacts(),
    client.modelMetadata(model),
    client.modelConfig(model),
    client.modelStatistics(model),
    client.hasStream(),
  ]);
  const { address } = client;
  const { sha256 = '' } = metadata.properties;
  return {
    address,
    server,
    // MLServer leaves out the requested name.
    name: metadata.name || model.name,
    versions: [...metadata.versions],
    platform: metadata.platform,
    ...(SHA256.test(sha256) && { sha256 }),
    inputs: metadata.inputs.map((tensor) =>
      tensorOf(tensor, `input of model "${model.name}"`, address),
    ),
    outputs: metadata.outputs.map((tensor) =>
      tensorOf(tensor, `output of model "${model.name}"`, address),
    ),
    batchSizeMax: config?.maxBatchSize,
    // A missing policy does not mean one response: Dynamo leaves it out for decoupled models too.
    isDecoupled: config?.modelTransactionPolicy?.decoupled,
    hasStream,
    hasStatistics: statistics !== undefined,
  };
}

/**
 * How long NOT_FOUND is tolerated from a server without an index: some send it while they load a
 * model, others for a model that they will never have.
 */
const UNKNOWN_GRACE_MS = 10_000;

/**
 * Statuses that also mean an unknown model: MLServer's, and Python's own status of an exception.
 */
const OTHER_UNKNOWN_CODES: readonly number[] = [status.INVALID_ARGUMENT, status.UNKNOWN];
const UNKNOWN_WORDS =
  /\bno (?:such )?model\b|\bunknown model\b|\bnot found\b|\bdoes(?: not|n't) exist\b/i;
/** OVMS also sends NOT_FOUND for a model that it is loading: "is not loaded yet". */
const LOADING_WORDS =
  /\bload(?:ing|ed)?\b|\bnot (?:yet )?(?:ready|available)\b|\bno available version/i;

/** Models and versions listed in a message. */
const LISTED_MAX = 20;

/**
 * Waits until the server and the model are ready. Does not wait for a model or version that the
 * server reports as missing; waits 10 s if only the status of ModelReady says so.
 * @param timeoutMs Longest wait.
 * @throws MlperfError `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED` for an unknown model or version,
 * `ERR_SUT_UNREACHABLE`
 */
export async function awaitModel(
  client: OipControlClient,
  model: OipModelRef,
  timeoutMs: number,
  onWait: WaitProgress,
): Promise<void> {
  const graceEnd = performance.now() + Math.min(timeoutMs, UNKNOWN_GRACE_MS);
  const ask = () => obstacleOf(client, model, graceEnd);
  await awaitServer(client.address, timeoutMs, ask, onWait);
}

/** A gRPC status instead of an answer. */
interface Refusal {
  /** gRPC status code. */
  readonly code: number;
  /** The server's message, on one line. */
  readonly words: string;
}

/** Reason to wait, as text; undefined if all is ready. */
async function obstacleOf(
  client: OipControlClient,
  model: OipModelRef,
  graceEnd: number,
): Promise<string | undefined> {
  if ((await client.serverReady()) === false) return 'the server reports that it is not ready';
  try {
    if ((await client.modelReady(model)) !== false) return undefined;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return whyNotReady(client, model, { refusal, graceEnd });
  }
  return whyNotReady(client, model, { refusal: undefined, graceEnd });
}

/**
 * Why the model is not ready.
 * @throws MlperfError `ERR_SUT_REFUSED` if it never will be.
 */
async function whyNotReady(
  client: OipControlClient,
  model: OipModelRef,
  { refusal, graceEnd }: { readonly refusal: Refusal | undefined; readonly graceEnd: number },
): Promise<string> {
  // Asked first: an index does not list other names that a server also accepts for a model.
  const versions = await versionsBeside(client, model);
  if (versions !== undefined) throw unknownVersion(client.address, model, versions);
  const index = await client.repositoryIndex();
  const entries = index?.filter(({ name }) => name === model.name);
  if (index !== undefined && entries?.length === 0) {
    throw unknownModel(client.address, model, distinct(index.map(({ name }) => name)));
  }
  if (entries === undefined && (await isUnknown(client, model, { refusal, graceEnd }))) {
    throw unknownModel(client.address, model, undefined);
  }
  const entry = entries?.find(({ version }) => model.version === '' || version === model.version);
  const state = [entry?.state, entry?.reason].filter((text) => text !== undefined && text !== '');
  const told = [state.join(': '), refusal?.words ?? ''].filter((text) => text !== '');
  const what = `model ${nameOf(model)} is not ready yet`;
  return told.length === 0 ? what : `${what} (${told.join('; ')})`;
}

/**
 * True if a server without an index lacks the model. After a negative ModelReady, ModelMetadata
 * decides; an error status of ModelReady counts after the grace time.
 */
async function isUnknown(
  client: OipControlClient,
  model: OipModelRef,
  { refusal, graceEnd }: { readonly refusal: Refusal | undefined; readonly graceEnd: number },
): Promise<boolean> {
  if (refusal !== undefined) return performance.now() > graceEnd && saysUnknown(refusal);
  const ofMetadata = await metadataRefusal(client, model);
  return (
    ofMetadata !== undefined && saysUnknown(ofMetadata) && !LOADING_WORDS.test(ofMetadata.words)
  );
}

function saysUnknown({ code, words }: Refusal): boolean {
  if (code === status.NOT_FOUND) return true;
  return OTHER_UNKNOWN_CODES.includes(code) && UNKNOWN_WORDS.test(words);
}

async function metadataRefusal(
  client: OipControlClient,
  model: OipModelRef,
): Promise<Refusal | undefined> {
  try {
    await client.modelMetadata(model);
    return undefined;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return refusal;
  }
}

/** The server's versions of a model, if it lacks the requested one. */
async function versionsBeside(
  client: OipControlClient,
  model: OipModelRef,
): Promise<readonly string[] | undefined> {
  if (model.version === '') return undefined;
  try {
    const { versions } = await client.modelMetadata({ name: model.name, version: '' });
    return versions.length === 0 || versions.includes(model.version) ? undefined : versions;
  } catch (error) {
    // The model is loading, or missing.
    if (refusalOf(error) !== undefined) return undefined;
    throw error;
  }
}

/**
 * An error status about the model. UNAVAILABLE counts too: a server may send it for a model not
 * loaded, and a lost server does not answer the next ServerReady.
 */
function refusalOf(error: unknown): Refusal | undefined {
  const code = grpcStatusOf(error);
  if (code === undefined) return undefined;
  const cause = error instanceof MlperfError ? error.cause : undefined;
  const details =
    typeof cause === 'object' && cause !== null && 'details' in cause ? String(cause.details) : '';
  return { code, words: asOneLine(statusText(code, details)) };
}

function unknownModel(
  address: string,
  model: OipModelRef,
  known: readonly string[] | undefined,
): MlperfError {
  let has = '; it does not list its models';
  if (known !== undefined) has = known.length === 0 ? '; it has none' : `; it has ${listed(known)}`;
  return sutRefused(`the server at ${address} does not know model ${nameOf(model)}${has}`);
}

function unknownVersion(
  address: string,
  { name, version }: OipModelRef,
  versions: readonly string[],
): MlperfError {
  return sutRefused(
    `the server at ${address} does not have version ${version} of model "${name}"; it has ${listed(versions)}`,
  );
}

function nameOf({ name, version }: OipModelRef): string {
  return version === '' ? `"${name}"` : `"${name}" version ${version}`;
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function listed(names: readonly string[]): string {
  const more = names.length - LISTED_MAX;
  const shown = names.slice(0, LISTED_MAX).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/**
 * The servers' facts of the model, one per node, in the order of the settings. Waits for readiness,
 * at most `readyTimeoutMs`.
 * @throws MlperfError `ERR_SUT_REFUSED` for an unknown model or version (with those available, if
 * reported), and if the servers differ; `ERR_SUT_NOT_READY`, `ERR_SUT_UNREACHABLE`
 */
export async function describeOipModels(
  settings: DispatchSettings,
  onWait: WaitProgress = () => {},
): Promise<readonly OipModelFacts[]> {
  const { nodes, readyTimeoutMs } = settings;
  const { model } = oipOf(settings);
  const clients = nodes.map((address) => new OipControlClient(address, settings));
  try {
    const facts = await Promise.all(
      clients.map(async (client) => {
        await awaitModel(client, model, readyTimeoutMs, onWait);
        return askModelFacts(client, model);
      }),
    );
    requireAgreement(facts);
    return facts;
  } finally {
    for (const client of clients) client.close();
  }
}
