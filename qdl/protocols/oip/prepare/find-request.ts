import { configInvalid, MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { rounded } from '../../../../shared/base/text.ts';
import { RAW_ONLY_DATA_TYPES } from '../../../../shared/domain/tensors.ts';
import type {
  OipContents,
  OipMethod,
  OipModelFacts,
  OipWaysCompared,
} from '../../../../shared/wire/oip/request-plan.ts';
import type { OipAsked } from '../settings/oip-settings.ts';

/** A way to send requests to the servers. */
export interface OipWay {
  readonly method: OipMethod;
  readonly contents: OipContents;
}

/** One server's result of a trial request. */
export interface TriedRequest {
  readonly address: string;
  /** Null if it answered. */
  readonly refusal: { readonly code: number; readonly details: string } | null;
  /** Requests that the server received. */
  readonly requestCount: number;
}

/** gRPC status of a method that a server lacks. */
const UNIMPLEMENTED = 12;

const WORDS_OF_METHOD: Readonly<Record<OipMethod, string>> = {
  unary: 'ModelInfer',
  stream: 'ModelStreamInfer',
  'stream-per-request': 'ModelStreamInfer, a stream per request,',
};

/**
 * Tries one way of sending after another until all servers accept a request. Untimed, before the
 * run.
 * @returns The accepted way, its responses, the most requests that a server received, and the
 * refused ways as texts.
 * @throws MlperfError `ERR_SUT_REFUSED` with the servers' messages if no way is left
 */
export async function findRequest<T extends TriedRequest>(
  ways: readonly OipWay[],
  tryWay: (way: OipWay) => Promise<readonly T[]>,
) {
  const refused: string[] = [];
  const missing = new Set<OipMethod>();
  let trialCount = 0;
  for (const way of ways) {
    if (missing.has(way.method)) continue;
    const trials = await tryWay(way);
    trialCount += Math.max(...trials.map(({ requestCount }) => requestCount));
    const refusals = trials.filter(({ refusal }) => refusal !== null);
    if (refusals.length === 0) return { ...way, trials, trialCount, notes: refused };
    if (refusals.some(({ refusal }) => refusal?.code === UNIMPLEMENTED)) missing.add(way.method);
    refused.push(refusedText(way, refusals));
  }
  throw new MlperfError(
    'ERR_SUT_REFUSED',
    `the servers refused every kind of request: ${refused.join('; ')}`,
  );
}

function refusedText({ method, contents }: OipWay, refusals: readonly TriedRequest[]): string {
  const said = refusals.map(({ address, refusal }) => {
    const details = refusal?.details.trim();
    // For a response with status OK, LoadGen itself states the fault.
    return refusal?.code === 0 ? `${address}: ${details}` : `${address} said "${details}"`;
  });
  return `to ${WORDS_OF_METHOD[method]} with ${contents} contents ${said.join(', ')}`;
}

/** Facts that decide between the ways. */
export interface WayFacts {
  readonly asked: Pick<OipAsked, 'method' | 'contents'>;
  readonly facts: readonly Pick<
    OipModelFacts,
    'address' | 'inputs' | 'isDecoupled' | 'hasStream'
  >[];
  /** True if LoadGen measures first tokens, which only a stream carries. */
  readonly needsTokens: boolean;
  /**
   * True if requests need headers of their own, so `auto` chooses no stream of many requests.
   * Default: false.
   */
  readonly needsCalls?: boolean;
}

/**
 * The ways to try, best first. A stream costs both ends less than a call per request, and only
 * streams carry several responses, so it precedes calls. Raw contents precede typed contents.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the requested way is impossible
 */
export function requestWays({ asked, facts, needsTokens, needsCalls = false }: WayFacts): OipWay[] {
  const needsStream = needsTokens || facts.some(({ isDecoupled }) => isDecoupled === true);
  const possible = methodsOf(asked.method, facts, needsStream, needsTokens);
  const isFree = asked.method === 'auto' && needsCalls;
  const methods = isFree ? possible.filter((method) => method !== 'stream') : possible;
  const contents = contentsOf(asked.contents, facts);
  return methods.flatMap((method) => contents.map((one) => ({ method, contents: one })));
}

function methodsOf(
  asked: OipAsked['method'],
  facts: WayFacts['facts'],
  needsStream: boolean,
  needsTokens: boolean,
): OipMethod[] {
  const why = needsTokens
    ? 'token latencies need the first token, which a unary response does not carry'
    : 'the model is decoupled: one request may have any number of responses';
  if (asked === 'unary' && needsStream) {
    throw configInvalid(`--oip-method unary: ${why}; remove it, or use --oip-method stream`);
  }
  if (asked !== 'auto') return [asked];
  const without = facts.filter(({ hasStream }) => hasStream === false);
  if (needsStream && without.length > 0) {
    const addresses = without.map(({ address }) => address).join(', ');
    throw configInvalid(`${why}, and ${addresses} lacks ModelStreamInfer`);
  }
  if (needsStream) return ['stream', 'stream-per-request'];
  return without.length > 0 ? ['unary'] : ['stream', 'unary'];
}

function contentsOf(asked: OipAsked['contents'], facts: WayFacts['facts']): OipContents[] {
  const rawOnly = facts
    .flatMap(({ inputs }) => inputs)
    .find(({ datatype }) => RAW_ONLY_DATA_TYPES.includes(datatype));
  if (asked === 'typed' && rawOnly !== undefined) {
    throw configInvalid(
      `--oip-contents typed: input "${rawOnly.name}" is ${rawOnly.datatype}, which has no typed contents; use --oip-contents raw`,
    );
  }
  if (asked !== 'auto') return [asked];
  return rawOnly === undefined ? ['raw', 'typed'] : ['raw'];
}

/** The method of a run and the reason, for people. */
interface MethodChoice {
  readonly method: OipMethod;
  readonly notes: readonly string[];
}

/** Facts that decide the method, besides the servers. */
export interface MethodAsked {
  readonly method: OipAsked['method'];
  /** Streams per server. Above 1 they were requested and are kept. */
  readonly streamCount: number;
  readonly facts: readonly Pick<OipModelFacts, 'isDecoupled'>[];
  /** True if LoadGen measures first tokens. */
  readonly needsTokens: boolean;
}

const WORDS: Readonly<Record<OipMethod, string>> = {
  unary: 'ModelInfer calls',
  stream: 'one ModelStreamInfer stream',
  'stream-per-request': 'a ModelStreamInfer stream per request',
};

/**
 * A stream, unless it limits the server: then calls, or a stream per request if calls cannot carry
 * the responses. A requested method or number of streams is kept; a note states its limit.
 * @returns `trialCount`: most requests that a server received.
 * @param compare Sends the servers concurrent requests, on one stream and by `calls`.
 */
export async function chooseMethod(
  asked: MethodAsked,
  compare: (calls: OipMethod) => Promise<readonly OipWaysCompared[]>,
): Promise<MethodChoice & { readonly trialCount: number }> {
  const needsStream =
    asked.needsTokens || asked.facts.some(({ isDecoupled }) => isDecoupled === true);
  const others: readonly OipMethod[] = needsStream
    ? ['stream-per-request']
    : ['unary', 'stream-per-request'];
  const refusals: string[] = [];
  let trialCount = 0;
  for (const calls of others) {
    const compared = await compare(calls);
    trialCount += Math.max(...compared.map((one) => one.trialCount));
    const failed = compared.find(({ callsFailure }) => callsFailure !== undefined);
    if (failed === undefined) return { ...choiceOf(asked, compared, calls), trialCount };
    refusals.push(`${WORDS[calls]}: ${failed.address} said "${failed.callsFailure}"`);
  }
  const note =
    'it is unknown whether requests on one stream wait for each other: the server accepted requests ' +
    `in no other way (${refusals.join('; ')})`;
  return { method: 'stream', notes: [note], trialCount };
}

function choiceOf(
  { method, streamCount }: MethodAsked,
  compared: readonly OipWaysCompared[],
  calls: OipMethod,
): MethodChoice {
  const limited = compared.filter(({ isStreamTheLimit }) => isStreamTheLimit);
  if (limited.length === 0) {
    const told = compared.filter(({ requestCount }) => requestCount > 1);
    const notes = told.map(
      (one) => `one stream does not limit the server: ${timesText(one, calls)}`,
    );
    return { method: 'stream', notes };
  }
  if (method === 'auto' && streamCount === 1) {
    const notes = limited.map(
      (one) => `queries went by ${WORDS[calls]}, not on one stream: ${limitText(one, calls)}`,
    );
    return { method: calls, notes };
  }
  const most = streamCount === 1 ? 'one concurrent request' : `${streamCount} concurrent requests`;
  const notes = limited.map(
    (one) =>
      `the stream limits ${one.address} to ${most}: ${limitText(one, calls)}; ` +
      `--oip-method ${calls} avoids this limit`,
  );
  return { method: 'stream', notes };
}

function limitText(one: OipWaysCompared, calls: OipMethod): string {
  const { address, requestCount, streamFailure, isInTurn } = one;
  if (streamFailure !== undefined) {
    return `${requestCount} concurrent requests on one stream failed at ${address} ("${streamFailure}")`;
  }
  const how = isInTurn ? 'one after the other' : 'more slowly';
  return `the server at ${address} handles the requests of one stream ${how}: ${timesText(one, calls)}`;
}

function timesText(
  { address, requestCount, streamMs, callsMs }: OipWaysCompared,
  calls: OipMethod,
): string {
  return (
    `before the run ${requestCount} concurrent requests took ${msText(streamMs)} on one stream to ${address}, ` +
    `${msText(callsMs)} by ${WORDS[calls]}`
  );
}

function msText(ms: number): string {
  return `${rounded(ms, 3)} ms`;
}
