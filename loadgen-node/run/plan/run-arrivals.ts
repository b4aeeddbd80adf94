import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { flagOf } from '../../../shared/config/setting.ts';
import {
  closedLoop,
  type OtherArrivals,
  ownEndOf,
  ownRateOf,
} from '../../loadgen/schedule/arrivals/arrivals.ts';
import { readTrace } from '../../loadgen/schedule/arrivals/read-trace.ts';
import type { RunValues } from './run-settings.ts';

/**
 * Arrivals of a run; undefined for LoadGen's Poisson. Reads the file of a trace.
 * @param said Keys of the explicitly set values, without defaults.
 * @throws MlperfError `ERR_CONFIG_INVALID` if they contradict other settings or the trace is
 *   wrong; `ERR_CONFIG_FILE` if it cannot be read.
 */
export function openArrivals(
  { arrivals: { text, asked }, concurrency }: Pick<RunValues, 'arrivals' | 'concurrency'>,
  said: ReadonlySet<string>,
): OtherArrivals | undefined {
  if (concurrency !== undefined) {
    const flag = `--concurrency ${concurrency}`;
    if (asked.kind !== 'poisson') {
      throw configInvalid(
        `${flag} and --arrivals ${text}: a closed loop has no arrivals, give one of the two`,
      );
    }
    if (said.has('targetQps')) {
      throw configInvalid(
        `--target-qps and ${flag}: in a closed loop the rate is a result, leave --target-qps out`,
      );
    }
    return closedLoop(concurrency);
  }
  if (asked.kind === 'poisson') return undefined;
  const arrivals: OtherArrivals =
    asked.kind === 'trace'
      ? { text, kind: 'trace', dueNs: readTrace(asked.file, { speed: asked.speed }) }
      : { text, ...asked };
  refuseContradictions(arrivals, said);
  return arrivals;
}

/** Refuses settings that the arrivals already decide. */
function refuseContradictions(arrivals: OtherArrivals, said: ReadonlySet<string>): void {
  const keys = [
    ...(ownRateOf(arrivals) === undefined ? [] : ['targetQps']),
    ...(ownEndOf(arrivals) === undefined ? [] : ['minDuration', 'minQueryCount']),
  ];
  const key = keys.find((one) => said.has(one));
  if (key === undefined) return;
  const what = key === 'targetQps' ? 'the rate' : 'the end of the run';
  throw configInvalid(
    `${flagOf(key)} and --arrivals ${arrivals.text}: ${what} is decided by the arrivals alone`,
  );
}
