import { listenAddress, optional, viewAddress } from '../../../shared/config/setting.ts';

type Address = { host: string; port: number };

/** Where a person or a Prometheus may look while something runs, by key of the configuration file. */
export const LIVE_OPTIONS = {
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
