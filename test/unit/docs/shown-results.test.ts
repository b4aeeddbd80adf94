import { describe, expect, it } from 'vitest';
import { DEMO_RUN } from '../../../loadgen-node/operate/run-demo.ts';
import { planRun, type RunPlan } from '../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import { PAGES, repositoryText } from '../../scenes/host/repository.ts';

// Goal: a result that a page shows can be that of the command above it: scenario, rate, shortest
// duration, counts. Method: the run of each shown command is planned, and held against the shown
// lines.

const ADDRESS = '10.0.0.2:50051';

/**
 * First line of a result: `VALID  digits, Server, 100 queries/s for 10 s (...)`,
 *   `... SingleStream, 1,743 queries in 10 s (...)`.
 */
const FIRST_LINE =
  /^(VALID|INVALID) +([\w-]+), (\w+), (?:.*, )?(?:([\d.,]+) queries\/s for|([\d,]+) queries in) ([\d.]+) s\b/m;

type Flags = Readonly<Record<string, string>>;

interface Shown {
  readonly verdict: string;
  readonly benchmark: string;
  readonly scenario: string;
  /** Null: the load is no rate. */
  readonly targetQps: number | null;
  readonly count: number | null;
  readonly seconds: number;
  readonly text: string;
  /** Flags of the runs in the blocks before. */
  readonly runs: readonly Flags[];
}

function resultsOf(page: string): Shown[] {
  const runs: Flags[] = [];
  const shown: Shown[] = [];
  for (const [, language, text = ''] of repositoryText(page).matchAll(
    /^ *```(\w*)\n([\s\S]*?)^ *```/gm,
  )) {
    if (language === 'sh') runs.push(...runsIn(text));
    const match = FIRST_LINE.exec(text);
    if (match === null) continue;
    const [, verdict = '', benchmark = '', scenario = '', rate, count, seconds] = match;
    shown.push({
      ...{ verdict, benchmark, scenario, text, runs: [...runs] },
      targetQps: rate === undefined ? null : numberOf(rate),
      count: count === undefined ? null : numberOf(count),
      seconds: Number(seconds),
    });
  }
  return shown;
}

const numberOf = (text: string): number => Number(text.replaceAll(',', ''));

/** Flags of the runs that a block of shell starts. */
function runsIn(block: string): Flags[] {
  const lines = block.replace(/\\\n\s*/g, ' ').split('\n');
  return lines.flatMap((line) => {
    const command = line.replace(/(?:^|\s)#.*$/, '');
    if (/longhaul demo\b|npm start\b/.test(command)) return [{ ...DEMO_RUN }];
    const [, flags] = /\blonghaul run\b(.*)/.exec(command) ?? [];
    return flags === undefined ? [] : [flagsIn(flags)];
  });
}

function flagsIn(text: string): Flags {
  const pairs = [...text.matchAll(/--([\w-]+)(?:[ =]+(?!--)(\S+))?/g)];
  return Object.fromEntries(
    pairs
      .map(([, name = '', value = 'true']) => [
        name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
        value,
      ])
      .filter(([key = '']) => Object.hasOwn(RUN_SETTINGS, key)),
  );
}

/** Undefined where the page leaves something to the reader: a file, a model. */
function planOf({ sut = ADDRESS, ...flags }: Flags): RunPlan | undefined {
  const address = sut.startsWith('oip://') ? `oip://${ADDRESS}` : ADDRESS;
  const sources = { section: 'run', file: undefined, flags: { ...flags, sut: address } };
  try {
    const { values, settings } = resolveSettings(RUN_SETTINGS, sources);
    return planRun(values, { asked: settings });
  } catch (error) {
    if (error instanceof MlperfError) return undefined;
    throw error;
  }
}

/** Whether a run with these flags can have this result. */
function fits(flags: Flags, shown: Omit<Shown, 'runs'>): boolean {
  const plan = planOf(flags);
  if (plan === undefined) return false;
  const { settings, rules } = plan;
  if (rules.key !== shown.benchmark || settings.scenario !== shown.scenario) return false;
  if (shown.targetQps !== null && shown.targetQps !== settings.serverTargetQps) return false;
  const isLong = shown.seconds * 1e3 >= settings.minDurationMs * 0.9;
  return isLong && (shown.count === null || shown.count >= settings.minQueryCount);
}

const RESULTS = PAGES.flatMap((page) => resultsOf(page).map((shown) => [page, shown] as const));

describe('a result on a page', () => {
  it.each(RESULTS.filter(([, { verdict }]) => verdict === 'VALID'))(
    'of %s is one that a command before it can have',
    (_page, shown) => {
      const { text, runs, ...claimed } = shown;
      expect({ ...claimed, isPossible: runs.some((flags) => fits(flags, shown)) }).toEqual({
        ...claimed,
        isPossible: true,
      });
      const [, answered] = /^Answered +([\d,]+) of/m.exec(text) ?? [];
      const [, throughput] = /^Throughput +([\d.,]+) queries\/s/m.exec(text) ?? [];
      if (answered === undefined || throughput === undefined) return;
      const rate = numberOf(answered) / shown.seconds;
      expect(Math.abs(rate / numberOf(throughput) - 1)).toBeLessThan(0.05);
    },
  );

  it('is found, and refused where it is too short for its command', () => {
    expect(RESULTS.length).toBeGreaterThan(3);
    const [run = {}] = runsIn('longhaul run --data random --scenario SingleStream --output a\n');
    const shown = { verdict: 'VALID', benchmark: 'custom', scenario: 'SingleStream' };
    const more = { targetQps: null, count: 1743, text: '' };
    expect(fits(run, { ...shown, ...more, seconds: 2 })).toBe(false);
    expect(fits(run, { ...shown, ...more, seconds: 10 })).toBe(true);
  });
});
