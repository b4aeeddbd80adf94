import { rounded } from '../../../shared/base/figures/figure-text.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/model-facts.ts';
import type { OipMethod, OipWaysCompared } from '../../../shared/wire/oip/request-plan.ts';
import type { OipAsked } from './oip-asked.ts';

/** The method of a run, and why. */
export interface MethodChoice {
  readonly method: OipMethod;
  /** For people. */
  readonly notes: readonly string[];
  /** Requests that each server got, at most. */
  readonly trialCount: number;
}

/** What decides, beside the servers. */
export interface MethodAsked {
  readonly method: OipAsked['method'];
  /** Streams to each server. Above 1 they were asked for, and stay. */
  readonly streamCount: number;
  readonly facts: readonly Pick<OipModelFacts, 'isDecoupled'>[];
  /** True: LoadGen measures first tokens. */
  readonly needsTokens: boolean;
}

const WORDS: Readonly<Record<OipMethod, string>> = {
  unary: 'ModelInfer calls',
  stream: 'one ModelStreamInfer stream',
  'stream-per-request': 'a ModelStreamInfer stream per request',
};

/**
 * A stream, unless it is what limits the server: then calls, or a stream per request where calls do not carry the responses.
 * A method or a number of streams that was asked for stays; a note says what it limits.
 * @param compare Asks the servers for several requests at once, on one stream and by `calls`.
 */
export async function chooseMethod(
  asked: MethodAsked,
  compare: (calls: OipMethod) => Promise<readonly OipWaysCompared[]>,
): Promise<MethodChoice> {
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
    'whether requests on one stream wait for each other is not known: the server took requests ' +
    `in no other way to compare with (${refusals.join('; ')})`;
  return { method: 'stream', notes: [note], trialCount };
}

function choiceOf(
  { method, streamCount }: MethodAsked,
  compared: readonly OipWaysCompared[],
  calls: OipMethod,
): Pick<MethodChoice, 'method' | 'notes'> {
  const limited = compared.filter(({ isStreamTheLimit }) => isStreamTheLimit);
  if (limited.length === 0) {
    const told = compared.filter(({ requestCount }) => requestCount > 1);
    const notes = told.map((one) => `one stream is no limit: ${timesText(one, calls)}`);
    return { method: 'stream', notes };
  }
  if (method === 'auto' && streamCount === 1) {
    const notes = limited.map(
      (one) => `queries went by ${WORDS[calls]}, not on one stream: ${limitText(one, calls)}`,
    );
    return { method: calls, notes };
  }
  const most = streamCount === 1 ? 'one request is' : `${streamCount} requests are`;
  const notes = limited.map(
    (one) =>
      `at most ${most} in work at once at ${one.address}, whatever it could do: ${limitText(one, calls)}; ` +
      `--oip-method ${calls} has no such limit`,
  );
  return { method: 'stream', notes };
}

function limitText(one: OipWaysCompared, calls: OipMethod): string {
  const { address, requestCount, streamFailure, isInTurn } = one;
  if (streamFailure !== undefined) {
    return `${requestCount} requests at once on one stream failed at ${address} ("${streamFailure}")`;
  }
  const how = isInTurn ? 'one after the other' : 'more slowly';
  return `the server at ${address} handles the requests of one stream ${how}: ${timesText(one, calls)}`;
}

function timesText(
  { address, requestCount, streamMs, callsMs }: OipWaysCompared,
  calls: OipMethod,
): string {
  return (
    `before the run ${requestCount} requests at once took ${msText(streamMs)} on one stream to ${address}, ` +
    `${msText(callsMs)} by ${WORDS[calls]}`
  );
}

function msText(ms: number): string {
  return `${rounded(ms, 3)} ms`;
}
