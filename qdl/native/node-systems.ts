import { type ServiceError, status } from '@grpc/grpc-js';
import { ZodError } from 'zod';
import type { DescribeSystemResponse__Output } from '../../proto/gen/mlperf/network/v1/DescribeSystemResponse.ts';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { errorCodeOf } from '../../shared/base/errors/to-mlperf-error.ts';
import { factsFromWire, tuningFromWire } from '../../shared/host/facts-on-wire.ts';
import type { SystemFacts } from '../../shared/host/system-facts.ts';
import type { TuningFacts } from '../../shared/host/tuning-facts.ts';
import { type ConnectionEnds, findConnectionEnds } from '../connect/connection-ends.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import { ControlClient } from './node/control-client.ts';

/** A node reads its machine with all tools that it has before it answers. */
const DESCRIBE_TIMEOUT_MS = 30_000;

/** What a SUT node told of its machine. */
export interface NodeSystem extends ConnectionEnds {
  readonly address: string;
  readonly name: string;
  /** Null where the node tells none. */
  readonly system: {
    readonly gatheredAt: string;
    readonly facts: SystemFacts;
    /** Null where the node does not look at it. */
    readonly tuning: TuningFacts | null;
  } | null;
  /** Why it tells none, in words. */
  readonly whyMissing: string | null;
}

/**
 * Asks the nodes what machines they run on, all at once. A node that is older than the question, or whose operator
 * does not want it told, is no error.
 * @param names As the nodes answered Name, in the order of the settings.
 * @throws MlperfError of the first node that does not answer, is in the middle of a run (`ERR_SUT_REFUSED`), or
 *   answers with what cannot be (`ERR_WIRE_PROTOCOL`)
 */
export async function askSystems(
  settings: DispatchSettings,
  names: readonly (string | null)[],
): Promise<NodeSystem[]> {
  const clients = settings.nodes.map((address) => new ControlClient(address, settings));
  try {
    const asked = clients.map((client, i) => askSystem(client, names[i] ?? '', settings));
    // All of them, so that no call outlives its connection.
    await Promise.allSettled(asked);
    return await Promise.all(asked);
  } finally {
    for (const client of clients) client.close();
  }
}

async function askSystem(
  client: ControlClient,
  name: string,
  { callTimeoutMs }: DispatchSettings,
): Promise<NodeSystem> {
  const { address } = client;
  const ends = await findConnectionEnds(address, callTimeoutMs);
  const answer = await answerOf(client);
  if (typeof answer === 'string') {
    return { ...ends, address, name, system: null, whyMissing: answer };
  }
  return { ...ends, address, name, system: systemIn(address, answer), whyMissing: null };
}

/** The node's answer, or why there is none. */
async function answerOf(client: ControlClient): Promise<DescribeSystemResponse__Output | string> {
  try {
    const answer = await client.describeSystem(DESCRIBE_TIMEOUT_MS);
    return (
      answer ?? 'the node does not know the call DescribeSystem: it is older, or of other make'
    );
  } catch (error) {
    const cause = error instanceof MlperfError ? error.cause : undefined;
    if (errorCodeOf(cause) !== status.PERMISSION_DENIED) throw error;
    // The node's own words.
    return (cause as ServiceError).details;
  }
}

function systemIn(
  address: string,
  { gatheredAt, facts, tuning }: DescribeSystemResponse__Output,
): NonNullable<NodeSystem['system']> {
  const wrong = (what: string, cause?: unknown): MlperfError =>
    new MlperfError(
      'ERR_WIRE_PROTOCOL',
      `SUT node ${address} answers DescribeSystem with ${what}`,
      { cause },
    );
  const time = new Date(gatheredAt);
  if (Number.isNaN(time.getTime())) throw wrong('no time at which it read its machine');
  try {
    return {
      gatheredAt: time.toISOString(),
      facts: factsFromWire(facts),
      tuning: tuning === null ? null : tuningFromWire(tuning),
    };
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    const issue = error.issues[0];
    throw wrong(`a wrong value at ${issue?.path.join('.')}: ${issue?.message}`, error);
  }
}
