import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { flagOf } from '../../../shared/config/setting.ts';
import type { RunValues } from './run-settings.ts';

/** Settings that can make a run depart from MLPerf's scenarios. */
type DepartingValues = Partial<Pick<RunValues, 'arrivals' | 'concurrency'>>;

/** How a setting makes a run depart; all are for Server performance runs in the open division. */
interface DepartureRow {
  /** Undefined: no departure by this setting. */
  readonly textOf: (values: DepartingValues) => string | undefined;
  /** The part of an MLPerf scenario that it replaces. */
  readonly inPlaceOf: string;
  /** The same fact in scenarios other than Server. */
  readonly elsewhere: string;
  /** Mark for logs and reports, without a full stop. */
  readonly markOf: (text: string) => string;
}

const OTHER_ARRIVALS = {
  inPlaceOf: "LoadGen's Poisson arrivals",
  elsewhere: "only the scenario's own rule decides when queries are issued",
};

/** Text for marks: how a closed loop measures. */
export const CLOSED_LOOP_PACE =
  'the server sets the pace; latencies leave out what waits (coordinated omission)';

/** All departures, by key of the setting: refusals, marks and defaults come from here. */
const DEPARTURES: Readonly<Record<keyof DepartingValues, DepartureRow>> = {
  concurrency: {
    ...OTHER_ARRIVALS,
    textOf: ({ concurrency }) => concurrency?.toString(),
    markOf: (count) =>
      `closed loop, ${count} ${count === '1' ? 'query' : 'queries'} at a time: ${CLOSED_LOOP_PACE}. A load test, not a scenario of MLPerf`,
  },
  arrivals: {
    ...OTHER_ARRIVALS,
    textOf: ({ arrivals }) => (arrivals?.asked.kind === 'poisson' ? undefined : arrivals?.text),
    markOf: (text) =>
      `arrivals ${text} are not LoadGen's Poisson: a load test, not a scenario of MLPerf`,
  },
};

/** Keys of the settings by which a run departs from MLPerf's scenarios. */
// The record has exactly these keys.
export const DEPARTURE_KEYS = Object.keys(DEPARTURES) as readonly (keyof DepartingValues)[];

/** One departure of a run from MLPerf's scenarios. */
export type Departure = ReturnType<typeof departuresOf>[number];

/** @returns Empty for an MLPerf scenario. */
export function departuresOf(values: DepartingValues) {
  return Object.entries(DEPARTURES).flatMap(([key, { textOf, markOf, ...words }]) => {
    const text = textOf(values);
    if (text === undefined) return [];
    return [{ flag: `${flagOf(key)} ${text}`, mark: markOf(text), ...words }];
  });
}

/**
 * @param whose Subject and verb of the message, such as `a compliance test has`.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a departure
 */
export function refuseDepartures(values: DepartingValues, whose: string): void {
  for (const { flag, inPlaceOf } of departuresOf(values))
    throw configInvalid(`${flag} works only with longhaul run: ${whose} ${inPlaceOf}`);
}

/**
 * @throws MlperfError for a departure: `ERR_CONFIG_INVALID` in a run for an MLPerf result,
 *   `ERR_RULE` in the Network division
 */
export function checkDepartures(values: RunValues, isAudited: boolean): readonly Departure[] {
  const departures = departuresOf(values);
  const { division, scenario, mode, extendUntilDecided } = values;
  for (const { flag, inPlaceOf, elsewhere } of departures) {
    const why = [
      scenario !== 'Server' && `${flag} is for the scenario Server: in ${scenario} ${elsewhere}`,
      mode !== 'performance' &&
        `${flag} is for --mode performance, not for ${mode}: such a run is no result of MLPerf`,
      isAudited && `${flag}: a compliance test has ${inPlaceOf}, as the run that it is about`,
      extendUntilDecided && `--extend-until-decided goes on with ${inPlaceOf}: not with ${flag}`,
    ].find(Boolean);
    if (why) throw configInvalid(why);
    const rule = `${flag} is against the rules of the Network division, whose Server scenario has ${inPlaceOf}: it is for --division open`;
    if (division === 'network') throw new MlperfError('ERR_RULE', rule);
  }
  return departures;
}
