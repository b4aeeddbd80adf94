import { z } from 'zod';
import { parseDuration } from '../../../../shared/base/text.ts';
import type { Setting } from '../../../../shared/config/setting.ts';
import { ARRIVAL_FORMS, type ArrivalsAsked, expectedQueries, type RateStep } from './arrivals.ts';

/** Most queries that LoadGen plans in memory for one run. */
export const ARRIVALS_MAX: number = 2 ** 28;

/** Longest plan, in ns: times are doubles, exact below 2^53 (104 days). */
export const ARRIVALS_NS_MAX: number = 2 ** 53;

/** Most steps: a run prints a table row for each. */
const STEPS_MAX = 1000;

/** Largest rate in queries per second: due times are whole ns. */
const RATE_MAX = 1e9;

const NUMBER = /^(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Parses `--arrivals`. @returns The arrivals, or an error text with the correct form. */
export function parseArrivals(text: string): ArrivalsAsked | string {
  const colon = text.indexOf(':');
  const kind = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? undefined : text.slice(colon + 1);
  switch (kind) {
    case 'poisson':
    case 'constant':
      return rest === undefined ? { kind } : `${kind} takes no value, and has "${rest}"`;
    case 'burst':
      return parseBurst(rest ?? '');
    case 'step':
      return parseSteps(rest ?? '');
    case 'trace':
      return parseTrace(rest ?? '');
    default:
      return `must be one of: ${ARRIVAL_FORMS}`;
  }
}

function parseBurst(text: string): ArrivalsAsked | string {
  const [sizeText = '', periodText, ...more] = text.split('@');
  const size = numberOf(sizeText);
  if (size === undefined || !Number.isInteger(size) || size < 1 || size > ARRIVALS_MAX) {
    return `burst:SIZE needs a whole number of queries from 1 to ${ARRIVALS_MAX}, not "${sizeText}"`;
  }
  if (periodText === undefined) return { kind: 'burst', size, periodNs: null };
  const periodNs = parseDuration(periodText);
  if (periodNs === undefined || periodNs < 1 || more.length > 0) {
    const said = text.slice(sizeText.length + 1);
    return `burst:SIZE@PERIOD needs a time above 0 with its unit, for example 500ms, not "${said}"`;
  }
  return { kind: 'burst', size, periodNs };
}

function parseSteps(text: string): ArrivalsAsked | string {
  const colon = text.indexOf(':');
  const suffix = colon < 0 ? undefined : text.slice(colon + 1);
  if (suffix !== undefined && suffix !== 'constant') {
    return `only :constant may follow the steps, not ":${suffix}"`;
  }
  const entries = (colon < 0 ? text : text.slice(0, colon)).split(',').map((one) => one.trim());
  if (entries.length > STEPS_MAX) return `at most ${STEPS_MAX} steps, not ${entries.length}`;
  const steps: RateStep[] = [];
  for (const [i, entry] of entries.entries()) {
    const step = parseStep(entry);
    if (typeof step === 'string') return `step ${i + 1}, "${entry}": ${step}`;
    steps.push(step);
  }
  const problem = problemOfSteps(steps);
  return problem ?? { kind: 'step', steps, isConstant: suffix !== undefined };
}

function parseStep(entry: string): RateStep | string {
  const at = entry.indexOf('@');
  if (at < 0) return 'needs RATE@DURATION, for example 100@30s';
  const [fromText = '', toText, ...more] = entry.slice(0, at).split('-');
  const fromQps = numberOf(fromText);
  const toQps = toText === undefined ? fromQps : numberOf(toText);
  if (fromQps === undefined || toQps === undefined || more.length > 0) {
    return 'the rate must be queries per second, for example 100, or 10-100 for a rate that grows evenly';
  }
  if (fromQps > RATE_MAX || toQps > RATE_MAX) return `the rate must be ${RATE_MAX} or less`;
  const durationNs = parseDuration(entry.slice(at + 1));
  if (durationNs === undefined || durationNs < 1) {
    return 'the duration must be a time above 0 with its unit, for example 30s';
  }
  return { fromQps, toQps, durationNs };
}

/** Refuses a pause at the beginning or the end: a run begins and ends with a query. */
function problemOfSteps(steps: readonly RateStep[]): string | undefined {
  const ends = [steps[0], steps.at(-1)];
  if (ends.some((step) => step !== undefined && step.fromQps === 0 && step.toQps === 0)) {
    return 'the first and the last step need a rate above 0; a pause (rate 0) must be between other steps';
  }
  const queries = steps.reduce((sum, step) => sum + expectedQueries(step), 0);
  if (queries > ARRIVALS_MAX) {
    return `the steps ask for ${Math.round(queries)} queries; a run plans ${ARRIVALS_MAX} at most`;
  }
  const totalNs = steps.reduce((sum, step) => sum + step.durationNs, 0);
  return totalNs > ARRIVALS_NS_MAX ? 'the steps take longer than 104 days' : undefined;
}

function parseTrace(text: string): ArrivalsAsked | string {
  const at = text.lastIndexOf('@');
  const speedText = at < 0 ? undefined : text.slice(at + 1);
  // A folder name may contain @, a speed contains no slash.
  const isSpeed = speedText !== undefined && !speedText.includes('/');
  const file = (isSpeed ? text.slice(0, at) : text).trim();
  if (file === '') return 'trace:FILE needs the path of a file';
  if (!isSpeed) return { kind: 'trace', file, speed: 1 };
  const speed = numberOf(speedText);
  if (speed === undefined || speed <= 0) {
    return `trace:FILE@SPEED needs a number above 0, for example 2 for twice as fast, not "${speedText}" (a file with an @ in its name: add @1)`;
  }
  return { kind: 'trace', file, speed };
}

/** A finite number >= 0, or undefined. */
function numberOf(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Arrivals setting of a Server run, with its original text. */
export interface ArrivalsSetting {
  readonly text: string;
  readonly asked: ArrivalsAsked;
}

/** The setting `arrivals`: a text in a file and on the command line. */
export function arrivalsSetting(help: string): Setting<ArrivalsSetting> {
  const schema = z.string('must be a text, for example constant').transform((given, context) => {
    const text = given.trim();
    const asked = parseArrivals(text);
    if (typeof asked !== 'string') return { text, asked };
    context.addIssue({ code: 'custom', message: asked });
    return z.NEVER;
  });
  return {
    help,
    placeholder: 'arrivals',
    schema,
    fromFlag: (text) => text,
    fallback: 'poisson',
    isRequired: false,
  };
}
