import { listenAddress, optional, type Setting, viewAddress } from '../../shared/config/setting.ts';
import type { Terminal } from '../../shared/process/terminal.ts';
import { isLoopback } from '../../shared/security/loopback.ts';
import { LiveView } from '../dashboard/live-view.ts';

type Address = { host: string; port: number };

/** Where a person or a Prometheus may look while something runs, by key of the configuration file. */
export const LIVE_OPTIONS: {
  readonly dashboard: Setting<Address | undefined>;
  readonly metricsListen: Setting<Address | undefined>;
} = {
  dashboard: optional(
    viewAddress('serve a live page at http://HOST:PORT/; HOST is 127.0.0.1 where none is said'),
  ),
  metricsListen: optional(
    listenAddress('serve metrics for Prometheus at http://HOST:PORT/metrics (default: off)'),
  ),
};

/** Values of {@link LIVE_OPTIONS}. */
export interface LiveValues {
  readonly dashboard: Address | undefined;
  readonly metricsListen?: Address | undefined;
}

/**
 * Does something with the live view that is asked for, tells where it is, and closes it.
 * @throws MlperfError `ERR_LIVE_LISTEN` before `work` begins; what `work` throws.
 */
export async function withLiveView<T>(
  { dashboard, metricsListen: metrics }: LiveValues,
  terminal: Terminal,
  work: (live: LiveView | undefined) => Promise<T>,
): Promise<T> {
  const onGone = (why: string): void => terminal.line(`longhaul: the live page ended: ${why}`);
  const live = await LiveView.open({ dashboard, metrics }, onGone);
  for (const [at, what] of [
    [dashboard, 'live page'],
    [metrics, 'metrics'],
  ] as const) {
    if (at !== undefined && !isLoopback(at.host)) {
      terminal.line(
        `longhaul: the ${what} on ${at.host} has neither a password nor encryption: whoever reaches the port may look`,
      );
    }
  }
  if (live?.dashboardUrl !== undefined)
    terminal.line(`longhaul: live page at ${live.dashboardUrl}`);
  if (live?.metricsUrl !== undefined) terminal.line(`longhaul: metrics at ${live.metricsUrl}`);
  try {
    return await work(live);
  } finally {
    await live?.close();
  }
}
