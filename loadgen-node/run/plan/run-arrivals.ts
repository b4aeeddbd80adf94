import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { flagOf } from '../../../shared/config/setting.ts';
import {
  closedLoop,
  type OtherArrivals,
  ownEndOf,
  ownRateOf,
} from '../../loadgen/schedule/arrivals/arrivals.ts';
import { readTrace } from '../../loadgen/schedule/arrivals/read-trace.ts';
import type { RunValues } from './run-settings.ts';

/** Settings that restrict arrivals. */
type Surroundings = Pick<
  RunValues,
  'division' | 'scenario' | 'mode' | 'extendUntilDecided' | 'arrivals' | 'concurrency'
>;

/**
 * Arrivals of a run other than LoadGen's Poisson; undefined for those. Reads the file of a trace.
 * @param said Keys of the values that were given; defaults are not among them.
 * @throws MlperfError `ERR_RULE` in the Network division; `ERR_CONFIG_INVALID` where they contradict other settings or the
 *   trace is wrong; `ERR_CONFIG_FILE` where it cannot be read.
 */
export function openArrivals(
  values: Surroundings,
  said: ReadonlySet<string>,
  isAudited: boolean,
): OtherArrivals | undefined {
  const { text, asked } = values.arrivals;
  const flag = flagOfArrivals(values);
  if (flag === undefined) return undefined;
  for (const why of obstacles(values, flag, isAudited)) refuse(why);
  if (values.division === 'network') {
    const message = `${flag} is against the rules of the Network division, whose Server scenario has LoadGen's Poisson arrivals: it is for --division open`;
    throw new MlperfError('ERR_RULE', message);
  }
  if (values.concurrency !== undefined) {
    if (asked.kind !== 'poisson') {
      refuse(`${flag} and --arrivals ${text}: a closed loop has no arrivals, give one of the two`);
    }
    if (said.has('targetQps')) {
      refuse(
        `--target-qps and ${flag}: in a closed loop the rate is a result, leave --target-qps out`,
      );
    }
    return closedLoop(values.concurrency);
  }
  if (asked.kind === 'poisson') return undefined;
  const arrivals: OtherArrivals =
    asked.kind === 'trace'
      ? { text, kind: 'trace', dueNs: readTrace(asked.file, { speed: asked.speed }) }
      : { text, ...asked };
  refuseContradictions(arrivals, said);
  return arrivals;
}

/** The flag that asks for other arrivals than LoadGen's, with its value. */
function flagOfArrivals({
  arrivals: { text, asked },
  concurrency,
}: Pick<RunValues, 'arrivals' | 'concurrency'>): string | undefined {
  if (concurrency !== undefined) return `--concurrency ${concurrency}`;
  return asked.kind === 'poisson' ? undefined : `--arrivals ${text}`;
}

function* obstacles(
  { scenario, mode, extendUntilDecided }: Surroundings,
  flag: string,
  isAudited: boolean,
): Generator<string> {
  if (scenario !== 'Server')
    yield `${flag} is for the scenario Server: in ${scenario} only the scenario's own rule decides when queries are issued`;
  if (mode !== 'performance')
    yield `${flag} is for --mode performance, not for ${mode}: such a run is no result of MLPerf`;
  if (isAudited)
    yield `${flag}: a compliance test has LoadGen's Poisson arrivals, as the run that it is about`;
  if (extendUntilDecided)
    yield `--extend-until-decided goes on with LoadGen's Poisson arrivals: not with ${flag}`;
}

/** Settings that the arrivals decide themselves. */
function refuseContradictions(arrivals: OtherArrivals, said: ReadonlySet<string>): void {
  const keys = [
    ...(ownRateOf(arrivals) === undefined ? [] : ['targetQps']),
    ...(ownEndOf(arrivals) === undefined ? [] : ['minDuration', 'minQueryCount']),
  ];
  const key = keys.find((one) => said.has(one));
  if (key === undefined) return;
  const what = key === 'targetQps' ? 'the rate' : 'the end of the run';
  refuse(
    `${flagOf(key)} and --arrivals ${arrivals.text}: ${what} is decided by the arrivals alone`,
  );
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for arrivals other than LoadGen's, where only those make sense. */
export function refuseOtherArrivals(
  values: Pick<RunValues, 'arrivals' | 'concurrency'>,
  why: string,
): void {
  const flag = flagOfArrivals(values);
  if (flag !== undefined) refuse(`${flag} is for run: ${why}`);
}

function refuse(message: string): never {
  throw configInvalid(message);
}
