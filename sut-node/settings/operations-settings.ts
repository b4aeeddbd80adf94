import { LOG_LEVELS } from '../../shared/base/process/logger.ts';
import {
  choice,
  duration,
  listenAddress,
  type SettingValues,
  toggle,
} from '../../shared/config/setting.ts';

/** How the node is operated. */
export interface OperationsSettings {
  /** Longest time that a drain waits for outstanding samples, in ns. */
  readonly drainTimeoutNs: number;
  /** Whether gRPC server reflection is served. */
  readonly hasReflection: boolean;
  /** Whether the Open Inference Protocol is served. */
  readonly hasOip: boolean;
  /** Whether DescribeSystem tells what machine the node runs on. */
  readonly tellsSystemFacts: boolean;
  /** Whether TestLink is served. */
  readonly allowsLinkTest: boolean;
  /** Where health alone is served, in plain text and without a token; undefined: on the node's own port only. */
  readonly healthListen: { readonly host: string; readonly port: number } | undefined;
  /** Where metrics for Prometheus are served; undefined: nowhere, and nothing is measured for them. */
  readonly metricsListen: { readonly host: string; readonly port: number } | undefined;
}

/** Settings of operation, by key of the configuration file. */
export const OPERATIONS_OPTIONS = {
  drainTimeout: duration('on SIGTERM: longest wait for outstanding samples', { fallback: '30s' }),
  reflection: choice(['on', 'off'], 'gRPC server reflection, for tools such as grpcurl', {
    fallback: 'on',
  }),
  oip: choice(['on', 'off'], 'the Open Inference Protocol on the same port, for any client of it', {
    fallback: 'on',
  }),
  systemFacts: choice(
    ['shared', 'withheld'],
    'whether "longhaul system describe" is told what machine this is: processors, memory, NICs, addresses',
    { fallback: 'shared' },
  ),
  linkTest: choice(
    ['allowed', 'refused'],
    'whether "longhaul doctor" may test the link with load: seconds at most, never during a run',
    { fallback: 'allowed' },
  ),
  healthListen: listenAddress(
    'serve grpc.health.v1, and nothing else, on a port without TLS and token: for probes (default: off)',
  ),
  metricsListen: listenAddress(
    'serve metrics for Prometheus at http://HOST:PORT/metrics (default: off)',
  ),
  check: toggle('load the model, warm up, measure it, report on stdout and end; nothing is served'),
  checkFormat: choice(['text', 'json'], 'form of the report of --check', { fallback: 'text' }),
  logLevel: choice(LOG_LEVELS, 'operating log on stderr, one JSON line per event', {
    fallback: 'warn',
  }),
  progress: choice(
    ['shown', 'hidden'],
    'what the node is doing, on stderr (its address is said in any case)',
    { fallback: 'shown' },
  ),
};

/** Effective options as settings of operation; check, log and progress are the command's own. */
export function toOperationsSettings(
  values: SettingValues<typeof OPERATIONS_OPTIONS>,
): OperationsSettings {
  return {
    drainTimeoutNs: values.drainTimeout,
    hasReflection: values.reflection === 'on',
    hasOip: values.oip === 'on',
    tellsSystemFacts: values.systemFacts === 'shared',
    allowsLinkTest: values.linkTest === 'allowed',
    healthListen: values.healthListen,
    metricsListen: values.metricsListen,
  };
}
