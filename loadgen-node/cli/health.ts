import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import {
  addressList,
  duration,
  optional,
  positiveDuration,
  type Setting,
  type SettingValues,
  text,
} from '../../shared/config/setting.ts';
import { checkClientSecurity } from '../../shared/security/client-security.ts';
import { addressesBehind } from '../../shared/wire/name-addresses.ts';
import { askHealth, type HealthAnswer, type HealthQuestion } from '../operate/health/ask-health.ts';
import { SECURITY_OPTIONS, toClientSecurity } from '../run/plan/connection-options.ts';

const HEALTH_SETTINGS: {
  readonly service: Setting<string | undefined>;
  readonly wait: Setting<number>;
  readonly timeout: Setting<number>;
} & typeof SECURITY_OPTIONS = {
  service: optional(text('name', 'service that is asked for (default: the server as a whole)')),
  wait: duration('ask until all serve, for so long at most', { fallback: '0s' }),
  timeout: positiveDuration('longest wait for one answer, connection included', { fallback: '2s' }),
  ...SECURITY_OPTIONS,
};

/** Pause between two questions of --wait. */
const POLL_MS = 250;

const EXAMPLE = `
Examples:
  longhaul health 10.0.0.2:50052
  longhaul health dns:///sut:50051 --wait 10m --tls-ca ca.crt --tls-cert tls.crt --tls-key tls.key

Any server of grpc.health.v1 can be asked. Of several addresses, and of all behind a name (dns:///name:port), every one has to serve.

Exit codes: 0 SERVING, 3 an answer that is another (NOT_SERVING, no such service), 4 no answer.`;

/** What came of one look at all addresses. */
interface Look {
  readonly answers: readonly HealthAnswer[];
  /** Of the first address that gave no answer. */
  readonly failure: MlperfError | undefined;
}

/** `longhaul health`: whether servers serve. */
export function healthCommand(setExitCode: (code: number) => void): Command {
  const about = 'ask servers by grpc.health.v1 whether they serve, or wait until they do';
  const command = createCommand('health', about).argument(
    '<address...>',
    'host:port[,host:port...], or dns:///name:port',
  );
  return addJson(addFlags(command, HEALTH_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async (lists: string[]) => {
      // As in --sut, so that one variable serves both.
      const named = lists.flatMap((list) => list.split(','));
      const { values } = settingsOf(command, undefined, HEALTH_SETTINGS);
      checkAddresses(named);
      const question = questionOf(values);
      checkClientSecurity(question.security, named);
      const begin = performance.now();
      const { answers, failure } = await lookUntilServing(named, question, values.wait / 1e6);
      const other = answers.find(({ state }) => state !== 'SERVING');
      const waited =
        values.wait === 0 ? '' : `; waited ${((performance.now() - begin) / 1e3).toFixed(1)} s`;
      if (failure !== undefined) {
        throw new MlperfError(failure.code, `${failure.message}${waited}`, { cause: failure });
      }
      writeResult(command, {
        text: answers.map(lineOf).join(''),
        json: { service: question.service, isServing: other === undefined, answers },
      });
      if (other === undefined) return;
      process.stderr.write(`longhaul: ${whyNot(other, question.service)}${waited}\n`);
      setExitCode(EXIT.invalid);
    });
}

function questionOf(values: SettingValues<typeof HEALTH_SETTINGS>): HealthQuestion {
  const { service = '', timeout } = values;
  return { service, timeoutMs: timeout / 1e6, security: toClientSecurity(values) };
}

/** @throws MlperfError `ERR_CONFIG_INVALID` naming the one that is none */
function checkAddresses(named: readonly string[]): void {
  const { schema } = addressList('');
  const checked = schema.safeParse(named);
  const [issue] = checked.error?.issues ?? [];
  if (issue === undefined) return;
  const at = issue.path[0];
  const which = typeof at === 'number' ? named[at] : named.join(' ');
  throw new MlperfError('ERR_CONFIG_INVALID', `"${which}" ${issue.message}`);
}

/** Asks once, and again until everybody serves or the time is over. */
async function lookUntilServing(
  named: readonly string[],
  question: HealthQuestion,
  waitMs: number,
): Promise<Look> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const look = await lookOnce(named, question);
    const isServing = look.answers.every(({ state }) => state === 'SERVING');
    if (look.failure === undefined && isServing) return look;
    // What a setting has wrong stays wrong.
    if (look.failure?.code === 'ERR_CONFIG_INVALID') return look;
    if (performance.now() + POLL_MS > deadline) return look;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function lookOnce(named: readonly string[], question: HealthQuestion): Promise<Look> {
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

function lineOf({ address, state, durationNs }: HealthAnswer): string {
  return `${address} ${state} (${(durationNs / 1e6).toFixed(1)} ms)\n`;
}

function whyNot({ address, state }: HealthAnswer, service: string): string {
  if (state === 'SERVICE_UNKNOWN') return `${address} knows no service "${service}"`;
  return `${address} does not serve: it answers ${state}`;
}
