import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  configInvalid,
  MlperfError,
  notInstalled,
} from '../../../shared/base/errors/mlperf-error.ts';
import { rounded } from '../../../shared/base/text.ts';
import type { RunHost } from '../../run/host/host.ts';
import type { LinkConditions } from './link-conditions.ts';

/**
 * Shell that waits until the pipe from this process closes, however it ends, and then runs the
 * hook. It has its own process group: Ctrl-C goes to this process, which ends it.
 */
const GUARD = 'trap "" PIPE; cat > /dev/null; exec sh -c "$0"';
/** Longest time for the hook to set a link. */
const SET_TIMEOUT_MS = 60_000;
/** Exit codes of a shell for a missing or non-executable command. */
const NO_COMMAND: readonly (number | null)[] = [126, 127];

/**
 * Sets a link with the user's command while the work runs.
 * @returns Result of the work, and the hook's last output line when it cleared the link; null
 *   without output
 * @throws MlperfError `ERR_CONFIG_INVALID` if the command does not exist, `ERR_NOT_INSTALLED` if
 *   it failed
 */
export async function throughLink<T>(
  hook: string,
  link: LinkConditions,
  host: Pick<RunHost, 'report'>,
  work: () => Promise<T>,
): Promise<{ readonly found: T; readonly said: string | null }> {
  // Start the guard first, so that the link is cleared whatever happens.
  const guard = spawn('sh', ['-c', GUARD, hook], {
    ...{ detached: true, env: environmentOf('clear', link) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const cleared = ended(guard, `${hook}: the link may still be as it was set`);
  let found: T;
  try {
    const env = environmentOf('set', link);
    const setting = spawn('sh', ['-c', hook], {
      ...{ env, timeout: SET_TIMEOUT_MS },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await ended(setting, hook);
    found = await work();
  } catch (error) {
    guard.stdin?.end();
    await cleared.catch(({ message }: Error) => host.report(`warning: ${message}`));
    throw error;
  }
  guard.stdin?.end();
  return { found, said: await cleared };
}

/** Environment variables for the hook. */
function environmentOf(
  step: 'set' | 'clear',
  { delayNs, bitsPerSecond, lossShare }: LinkConditions,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    LONGHAUL_LINK: step,
    LONGHAUL_LINK_DELAY_US: rounded(delayNs / 1e3, 9),
    LONGHAUL_LINK_RATE_BITS: bitsPerSecond === null ? '' : String(Math.round(bitsPerSecond)),
    LONGHAUL_LINK_LOSS_PERCENT: rounded(lossShare * 100, 6),
  };
}

/** Waits for the hook to end. @returns Its last line on stdout; null if none */
async function ended(hook: ChildProcess, what: string): Promise<string | null> {
  let stdout = '';
  let stderr = '';
  hook.stdout?.on('data', (text) => {
    stdout += text;
  });
  hook.stderr?.on('data', (text) => {
    stderr += text;
  });
  const closed = once(hook, 'close');
  const [code, signal] = (await once(hook, 'exit')) as [number | null, NodeJS.Signals | null];
  // A program that the hook leaves running may keep its output open.
  await Promise.race([closed, wait(200)]);
  if (code === 0) return stdout.trim().split('\n').at(-1) || null;
  const how = signal === null ? `exit code ${code}` : signal;
  const text = `--link-hook ${what}: ${stderr.trim().split('\n').join('; ') || 'it failed'} (${how})`;
  throw NO_COMMAND.includes(code) ? configInvalid(text) : notInstalled(text);
}

/** Relative tolerance by which a measured link may be better than requested. */
const DELAY_LESS_MAX = 0.05;
const RATE_MORE_MAX = 0.5;

/** Round trips over a link before a search, and the rate of a stream; null if not measured. */
export interface SeenLink {
  readonly roundTripP50Ns: number;
  readonly bitsPerSecond: number | null;
}

/**
 * Refuses a link that is faster than requested: the hook did not set it.
 * @throws MlperfError `ERR_NOT_INSTALLED`
 */
export function refuseFasterLink(
  { delayNs, bitsPerSecond }: LinkConditions,
  seen: SeenLink,
  texts: { readonly asked: string; readonly seen: string },
): void {
  const isEarly = seen.roundTripP50Ns < 2 * delayNs * (1 - DELAY_LESS_MAX);
  const isWide = (seen.bitsPerSecond ?? 0) > (bitsPerSecond ?? Infinity) * (1 + RATE_MORE_MAX);
  if (!isEarly && !isWide) return;
  throw new MlperfError(
    'ERR_NOT_INSTALLED',
    `--link-hook did not set the link: ${texts.asked} was requested, and what was seen is ${texts.seen}`,
  );
}
