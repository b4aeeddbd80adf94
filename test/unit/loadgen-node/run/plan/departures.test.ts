import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planTest } from '../../../../../loadgen-node/api/options.ts';
import { NullSut } from '../../../../../loadgen-node/operate/doctor/generator-ceiling.ts';
import { marksOf } from '../../../../../loadgen-node/run/judge/judge-run.ts';
import {
  DEPARTURE_KEYS,
  departuresOf,
  refuseDepartures,
} from '../../../../../loadgen-node/run/plan/departures.ts';
import { planRun, type RunPlan } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { prepareData } from '../../../../../loadgen-node/run/prepare/prepare-run.ts';
import { programSut } from '../../../../../loadgen-node/run/run-sut.ts';
import { measureSut } from '../../../../../loadgen-node/run/session.ts';
import {
  CURVE_SETTINGS,
  NOT_OF_CURVE,
  planCurve,
} from '../../../../../loadgen-node/search/curve/curve-plan.ts';
import {
  FIND_PEAK_SETTINGS,
  NOT_OF_SEARCH,
  planFindPeak,
} from '../../../../../loadgen-node/search/peak/find-peak-plan.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';
import type { SettingTable } from '../../../../../shared/config/setting.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { errorTexts } from '../../../../scenes/simulated-run/run-logs.ts';
import { SILENT_HOST } from '../../../../scenes/simulated-run/simulated-run.ts';

type Key = (typeof DEPARTURE_KEYS)[number];
type Flags = Readonly<Record<string, string>>;

/** A value of each setting by which a run departs, its mark, and what MLPerf has in its place. */
const EXAMPLES: Readonly<Record<Key, { value: string; mark: string; inPlaceOf: string }>> = {
  concurrency: {
    value: '4',
    mark: 'closed loop, 4 queries at a time: the server sets the pace; latencies leave out what waits (coordinated omission). A load test, not a scenario of MLPerf',
    inPlaceOf: "LoadGen's Poisson arrivals",
  },
  arrivals: {
    value: 'burst:4@2ms',
    mark: "arrivals burst:4@2ms are not LoadGen's Poisson: a load test, not a scenario of MLPerf",
    inPlaceOf: "LoadGen's Poisson arrivals",
  },
};

const cases = DEPARTURE_KEYS.map((key) => ({ key, ...EXAMPLES[key] }));
const OPEN = { division: 'open' };

function resolve<T extends SettingTable>(table: T, flags: Flags) {
  const all = { sut: 'a:1', benchmark: 'digits', ...flags };
  return resolveSettings(table, { section: 'run', file: undefined, flags: all });
}

function plan(flags: Flags, audit?: string): RunPlan {
  const { values, settings } = resolve(RUN_SETTINGS, flags);
  const file = audit === undefined ? undefined : { name: 'audit.config', text: audit };
  return planRun(values, { asked: settings, audit: file });
}

function search(flags: Flags): unknown {
  const { values, settings } = resolve(FIND_PEAK_SETTINGS, flags);
  return planFindPeak(values, settings);
}

function curve(flags: Flags): unknown {
  const { values, settings } = resolve(CURVE_SETTINGS, flags);
  return planCurve(values, settings);
}

/** Who refuses, with which code and words; FLAG and MLPERF stand for the departure's. */
const REFUSALS: readonly (readonly [string, (departing: Flags) => unknown, string, string])[] = [
  [
    'the Network division',
    plan,
    'ERR_RULE',
    'FLAG is against the rules of the Network division, whose Server scenario has MLPERF: it is for --division open',
  ],
  ...(['Offline', 'SingleStream', 'MultiStream'] as const).map(
    (scenario) =>
      [
        scenario,
        (flags: Flags) => plan({ ...OPEN, ...flags, scenario }),
        'ERR_CONFIG_INVALID',
        `FLAG is for the scenario Server: in ${scenario} only the scenario's own rule`,
      ] as const,
  ),
  ...(['accuracy', 'submission', 'find-peak'] as const).map(
    (mode) =>
      [
        mode,
        (flags: Flags) => plan({ ...OPEN, ...flags, mode }),
        'ERR_CONFIG_INVALID',
        `FLAG is for --mode performance, not for ${mode}: such a run is no result of MLPerf`,
      ] as const,
  ),
  [
    'a compliance test',
    (flags) => plan({ ...OPEN, ...flags }, '*.*.mode = 2'),
    'ERR_CONFIG_INVALID',
    'FLAG: a compliance test has MLPERF, as the run that it is about',
  ],
  [
    'a compliance test over another data set',
    (flags) => refuseDepartures(resolve(RUN_SETTINGS, flags).values, 'a compliance test has'),
    'ERR_CONFIG_INVALID',
    'FLAG works only with longhaul run: a compliance test has MLPERF',
  ],
  [
    'an extension',
    (flags) => plan({ ...OPEN, ...flags, extendUntilDecided: 'true' }),
    'ERR_CONFIG_INVALID',
    '--extend-until-decided goes on with MLPERF: not with FLAG',
  ],
  [
    'the C++ LoadGen',
    (flags) => plan({ ...OPEN, ...flags, engine: 'cpp' }),
    'ERR_CONFIG_INVALID',
    '--engine cpp cannot do FLAG: its Server has MLPERF',
  ],
  [
    'find-peak',
    (flags) => search({ ...OPEN, ...flags }),
    'ERR_CONFIG_INVALID',
    'FLAG works only with longhaul run: a search is of MLPERF',
  ],
  [
    'curve',
    (flags) => curve({ ...OPEN, ...flags }),
    'ERR_CONFIG_INVALID',
    'FLAG works only with longhaul run: the rates of a curve have MLPERF',
  ],
];

// Goal: whoever refuses or marks a run that is no scenario of MLPerf knows every setting that makes
// it one. Method: each such setting, as a flag, at each place that asks.
describe.each(cases)('--$key $value', ({ key, value, mark, inPlaceOf }) => {
  const flags = { [key]: value };

  // A curve steps concurrencies of its own.
  it.each(REFUSALS.filter(([who]) => who !== 'curve' || key !== 'concurrency'))(
    'is refused by %s',
    (_who, ask, code, words) => {
      const message = words.replace('FLAG', `--${key} ${value}`).replace('MLPERF', inPlaceOf);
      expect(() => ask(flags)).toThrow(
        expect.objectContaining({ code, message: expect.stringContaining(message) }),
      );
    },
  );

  it('marks a run, which lasts as long as it says', () => {
    const departing = plan({ ...OPEN, ...flags });
    expect(marksOf(departing)).toContain(mark);
    expect(departing.extendsUntilDecided).toBe(false);
  });

  it("is an error in LoadGen's detail log", async () => {
    const output = tempFolder();
    const short = { minDuration: '5ms', minQueryCount: '8', sampleBytes: '16', cacheDir: output };
    const departing = plan({ ...OPEN, ...flags, ...short, benchmark: 'null', output });
    const prepared = await prepareData(departing, SILENT_HOST);
    const sut = programSut(new NullSut(), prepared);
    await measureSut(departing, prepared, sut, SILENT_HOST);
    expect(errorTexts(join(output, 'mlperf_log_detail.txt'))).toContain(
      `${mark}. This is not valid for official submission.`,
    );
  });

  it('needs no division where a program has a SUT of its own', () => {
    const asked = key === 'concurrency' ? Number(value) : value;
    expect(planTest({ benchmark: 'digits', [key]: asked }).division).toBe('open');
  });

  it('is in no help of a search', () => {
    expect(NOT_OF_SEARCH).toContain(key);
    expect(NOT_OF_CURVE.includes(key)).toBe(key !== 'concurrency');
  });
});

it("is nothing where the arrivals are LoadGen's", () => {
  const flags = { targetQps: '10', arrivals: 'poisson' };
  expect(departuresOf(resolve(RUN_SETTINGS, flags).values)).toEqual([]);
  const plain = plan(flags);
  expect(marksOf(plain).join()).not.toContain('a scenario of MLPerf');
  expect(plain.extendsUntilDecided).toBe(true);
});
