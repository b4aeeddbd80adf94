import { isLoopback } from '../../../shared/domain/node-address.ts';
import { LiveView } from '../../present/live/live-view.ts';
import type { RunValues } from '../plan/run-settings.ts';
import type { RunHost } from './host.ts';

/**
 * Runs `work` with the requested live view: reports its address, and closes it afterwards.
 * @throws MlperfError `ERR_LIVE_LISTEN` before `work` begins; errors of `work`.
 */
export async function withLiveView<T>(
  { dashboard, metricsListen: metrics }: Partial<Pick<RunValues, 'dashboard' | 'metricsListen'>>,
  host: Pick<RunHost, 'report'>,
  work: (live: LiveView | undefined) => Promise<T>,
): Promise<T> {
  const onGone = (why: string): void => host.report(`longhaul: the live page ended: ${why}`);
  const live = await LiveView.open({ dashboard, metrics }, onGone);
  for (const [at, what] of [
    [dashboard, 'live page'],
    [metrics, 'metrics'],
  ] as const) {
    if (at !== undefined && !isLoopback(at.host)) {
      host.report(
        `longhaul: the ${what} on ${at.host} has neither a password nor encryption: anyone who reaches the port can see it`,
      );
    }
  }
  if (live?.dashboardUrl !== undefined) host.report(`longhaul: live page at ${live.dashboardUrl}`);
  if (live?.metricsUrl !== undefined) host.report(`longhaul: metrics at ${live.metricsUrl}`);
  try {
    return await work(live);
  } finally {
    await live?.close();
  }
}
