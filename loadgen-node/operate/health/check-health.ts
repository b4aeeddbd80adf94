import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { inOurWords } from '../../../shared/base/files/json-form.ts';
import {
  addressList,
  duration,
  positiveDuration,
  type SettingValues,
  text,
} from '../../../shared/config/setting.ts';
import { addressesBehind } from '../../../shared/domain/node-address.ts';
import { checkClientSecurity } from '../../../shared/security/client-security.ts';
import { SECURITY_OPTIONS, toClientSecurity } from '../../run/plan/connection-options.ts';
import { askHealth, type HealthAnswer, type HealthQuestion } from './ask-health.ts';

/** Settings of `longhaul probe health`. */
export const HEALTH_SETTINGS = {
  service: text('name', 'service that is requested (default: the server as a whole)'),
  wait: duration('ask until all serve, for so long at most', { fallback: '0s' }),
  timeout: positiveDuration('longest wait for one answer, connection included', { fallback: '2s' }),
  ...SECURITY_OPTIONS,
};

/** Pause between two checks with --wait. */
const POLL_MS = 250;

/**
 * Checks whether servers serve, or waits until they do.
 * @param named Addresses; a name (`dns:///name:port`) stands for all its addresses.
 * @throws MlperfError `ERR_CONFIG_INVALID`; the error of the first that does not answer
 */
export async function checkHealth(
  named: readonly string[],
  values: SettingValues<typeof HEALTH_SETTINGS>,
) {
  await checkAddresses(named);
  const { service = '', timeout } = values;
  const question = { service, timeoutMs: timeout / 1e6, security: toClientSecurity(values) };
  checkClientSecurity(question.security, named);
  const begin = performance.now();
  const { answers, failure } = await lookUntilServing(named, question, values.wait / 1e6);
  const other = answers.find(({ state }) => state !== 'SERVING');
  const waited =
    values.wait === 0 ? '' : `; waited ${((performance.now() - begin) / 1e3).toFixed(1)} s`;
  if (failure !== undefined) {
    throw new MlperfError(failure.code, `${failure.message}${waited}`, { cause: failure });
  }
  return {
    text: answers
      .map((one) => `${one.address} ${one.state} (${(one.durationNs / 1e6).toFixed(1)} ms)\n`)
      .join(''),
    json: { service, isServing: other === undefined, answers },
    /** Why the first server that does not serve fails; null if all serve. */
    whyNot: other === undefined ? null : `${whyNot(other, service)}${waited}`,
  };
}

/** @throws MlperfError `ERR_CONFIG_INVALID` naming the malformed address */
async function checkAddresses(named: readonly string[]): Promise<void> {
  if (addressList('').schema.safeParse(named).success) return;
  // Loaded only for its messages: a probe beside a measurement must cost little.
  const { NO_SCHEME: schemes } = await import('../../../qdl/protocols/index.ts');
  const checked = addressList('', { schemes }).schema.safeParse(named, { error: inOurWords });
  const [issue] = checked.error?.issues ?? [];
  if (issue === undefined) return;
  const at = issue.path[0];
  const which = typeof at === 'number' ? named[at] : named.join(' ');
  throw configInvalid(`"${which}" ${issue.message}`);
}

/** Checks once, and again until all serve or the time is over. */
async function lookUntilServing(
  named: readonly string[],
  question: HealthQuestion,
  waitMs: number,
) {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const look = await lookOnce(named, question);
    const isServing = look.answers.every(({ state }) => state === 'SERVING');
    if (look.failure === undefined && isServing) return look;
    // A wrong setting does not change: no retry.
    if (look.failure?.code === 'ERR_CONFIG_INVALID') return look;
    if (performance.now() + POLL_MS > deadline) return look;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Checks all addresses once. `failure`: error of the first that did not answer. */
async function lookOnce(named: readonly string[], question: HealthQuestion) {
  const answers: HealthAnswer[] = [];
  try {
    const addresses = (await Promise.all(named.map(addressesBehind))).flat();
    const asked = await Promise.allSettled(
      addresses.map((address) => askHealth(address, question)),
    );
    for (const one of asked) if (one.status === 'fulfilled') answers.push(one.value);
    const failed = asked.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    return { answers, failure: error };
  }
  return { answers, failure: undefined };
}

function whyNot({ address, state }: HealthAnswer, service: string): string {
  if (state === 'SERVICE_UNKNOWN') return `${address} knows no service "${service}"`;
  return `${address} does not serve: it answers ${state}`;
}
